"""htsim's connection matrices and topologies, as they occur, spoiled, and there and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.fabric.formats.connection_matrix import connection_matrix, read_connection_matrix
from lcca.evaluation.fabric.formats.tiers import read_tiers
from lcca.evaluation.fabric.formats.written import flow_table, write
from lcca.evaluation.fabric.scenario import read_scenario
from lcca.evaluation.fabric.trials import run_fabric_trials
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric import builders
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.fabric.traces import read_flows
from lcca.remy_plus.switches.transports import Transport

CHAIN = """Nodes 4
Connections 3
Triggers 2
0->1 id 1 start 0 size 1000 send_done_trigger 1
1->2 id 2 trigger 1 size 1000 send_done_trigger 2
2->3 id 3 trigger 2 size 1000
trigger id 1 oneshot
trigger id 2 oneshot
"""

MATRICES = {
    "permutation": "Nodes 4\nConnections 4\n0->2 id 1 start 0 size 2000000\n2->0 id 2 start 0 size 2000000\n"
    "1->3 id 3 start 0 size 2000000\n3->1 id 4 start 0 size 2000000\n",
    "without ids": "Nodes 432\nConnections 2\n368->0 start 0.000000 size 4000\n369->0 start 0.000000 size 4000\n",
    "without end": "Nodes 4\nConnections 1\n0->1 start 0 size 0\n",
    "chain": CHAIN,
    "barrier": "Nodes 4\nConnections 4\nTriggers 1\n0->1 id 1 start 0 size 9 send_done_trigger 7\n"
    "1->2 id 2 start 0 size 9 send_done_trigger 7\n0->2 id 3 trigger 7 size 9\n3->2 id 4 trigger 7 size 9\n"
    "trigger id 7 barrier count 2\n",
    "received": CHAIN.replace("send_done", "recv_done"),
    "both moments": "Nodes 4\nConnections 3\nTriggers 1\n0->1 id 1 start 0 size 9 send_done_trigger 1\n"
    "2->1 id 2 start 0 size 9 recv_done_trigger 1\n1->3 id 3 trigger 1 size 9\ntrigger id 1 barrier count 2\n",
    "comments": "# made by a script\nConnections 1\nNodes 2\nTriggers 0\nFailures 0\n\n"
    "0->1 id 5 start 10 size 1500 prio 3\n",
    "multishot": "Nodes 3\nConnections 2\nTriggers 1\n0->1 id 1 start 0 size 9 send_done_trigger 1\n"
    "1->2 id 2 trigger 1 size 9\ntrigger id 1 multishot\n",
    "keys in any order, tabs": "Nodes 3\nConnections 2\nTriggers 1\ntrigger id 3 oneshot\n"
    "0->1 size 9  start 1.5\tid 8 send_done_trigger 3\n1->2 id 2 size 9 trigger 3\n",
}


def spoiled(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


def of_chain(old: str, new: str) -> str:
    return spoiled(CHAIN, old, new)


MALFORMED = {
    "": "holds nothing; is it the right file?",
    of_chain("Nodes 4", "Nodes 3"): ":6: 2->3: host 3 is not below Nodes 3; raise Nodes",
    of_chain("Nodes 4\n", ""): ": Nodes: is missing; write Nodes and the number of hosts first",
    of_chain("Nodes 4", "Nodes four"): ":1: Nodes: must be a whole number from 0 to 2147483647, found 'four'",
    of_chain("Nodes 4", "Nodes"): ":1: Nodes: its value is missing at the end of the line",
    of_chain("Connections 3", "Connections 4"): ":2: Connections: must be 3, as many as the file has",
    of_chain("Triggers 2", "Triggers 1"): ":3: Triggers: must be 2, as many as the file has",
    of_chain("Triggers 2", "Trigers 2"): ":3: Trigers: unknown here (did you mean 'Triggers'?)",
    CHAIN + "Failures 0\n": ":9: Failures: must stand before the first connection",
    of_chain("size 1000", "sise 1000"): ":4: sise: unknown here (did you mean 'size'?)",
    of_chain("size 1000", "size 4294967296"): ":4: size: must be a whole number from 0 to 2147483647",
    of_chain(" size 1000", ""): ":4: size: is missing; write size and the bytes of the flow",
    of_chain("start 0", "start 0 id 4"): ":4: id: stands there twice; leave one out",
    of_chain("start 0 ", ""): ":4: start: needs one of start and trigger",
    of_chain("trigger 1", "trigger 1 start 0"): ":4: start: stands there twice",
    of_chain("id 2", "id 1"): ":5: id: 1 is another flow's already; give each its own",
    of_chain("id 1", "id 0"): ":4: id: must be a whole number from 1",
    of_chain("0->1", "1->1"): ":4: 1->1: is a flow of a host to itself; name another host",
    of_chain("0->1", "0->x"): ":4: 0->x: must be a whole number",
    of_chain(" send_done_trigger 2", ""): ":8: trigger: never fires: 0 flows fire trigger 2, and 1 must; give a flow",
    of_chain("1000\ntrigger", "1000 send_done_trigger 1\ntrigger"): ":7: trigger: 2 flows fire trigger 1, which the "
    "first 1 of them settle; for all of them write: barrier count 2",
    of_chain("oneshot", "barrier"): ":7: trigger: needs id K and one of oneshot, multishot and barrier count N",
    of_chain("oneshot", "barrier count 3"): ":7: trigger: never fires: 1 flows fire trigger 1, and 3 must",
    of_chain("trigger id 2 oneshot\n", "").replace("Triggers 2", "Triggers 1"): ":6: trigger: trigger 2 is not in the "
    "file; add: trigger id 2 oneshot",
    of_chain("trigger id 2 oneshot", "failure switch_type TOR switch_id 1 link_id 0"): ":8: failure: links that fail",
    of_chain("size 1000\n", "size 1000 msg 3\n"): ":6: msg: messages on connections that live on",
    of_chain("id 1 start 0", "id 1 trigger 2"): "waits for itself, perhaps by way of others",
}


def file(folder: Path, text: str, name: str = "a.cm") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def flows_of(path: Path) -> FabricFlows:
    found = read_connection_matrix(path).what
    assert isinstance(found, FabricFlows)
    return found


def same(one: FabricFlows, other: FabricFlows) -> None:
    first, second = (np.argsort(each.id) for each in (one, other))
    for name in ("id", "src", "dst", "size_bytes", "start_ns", "off_ns", "priority", "step"):
        np.testing.assert_array_equal(getattr(one, name)[first], getattr(other, name)[second], name)
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        assert waits(one, a) == waits(other, b)


def waits(flows: FabricFlows, row: int) -> set[tuple[int, str]]:
    if flows.after[row] < 0:
        return set()
    found = flows.sets[flows.after[row]]
    return set(zip(flows.id[found.flows].tolist(), found.moments(), strict=True))


@pytest.mark.parametrize("name", MATRICES)
def test_matrices_convert_and_come_back(tmp_path: Path, name: str) -> None:
    """By way of our trace, and of a matrix that is written."""
    flows = flows_of(file(tmp_path, MATRICES[name]))
    if name != "without end":  # larger than htsim's sizes
        text, _ = connection_matrix(flows, 432, "a")
        if name != "keys in any order, tabs":  # a start that is no whole µs
            same(flows, flows_of(file(tmp_path, text, "b.cm")))
    trace = file(tmp_path, flow_table(flows), "a.csv")
    over = "received" if name in ("received", "both moments") else "acknowledged"
    same(flows, read_flows(trace, builders.star(432), over=over))


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_matrices_have_one_line(tmp_path: Path, text: str) -> None:
    path = file(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_connection_matrix(path)
    assert MALFORMED[text] in str(caught.value) and len(str(caught.value).splitlines()) == 1


def test_what_is_assumed_is_said(tmp_path: Path) -> None:
    said = {name: " ".join(read_connection_matrix(file(tmp_path, text)).assumed) for name, text in MATRICES.items()}
    assert said["permutation"] == ""
    assert "never fire it" in said["received"] and "at another host" in said["chain"]
    assert "reverse order" in said["barrier"] and "without end" in said["without end"]
    assert "numbered from 1" in said["without ids"] and "prio is left out" in said["comments"]
    assert "start is in us" in said["comments"]
    assert read_connection_matrix(file(tmp_path, MATRICES["comments"]), "ps").what.start_ns == [0.01]  # type: ignore[union-attr]


def test_what_htsim_has_no_words_for_is_refused(tmp_path: Path) -> None:
    ends, rounds = np.array([[0, 1], [1, 2], [9, 9]]), {"after": np.array([-1, 0]), "round": np.array([0, 1])}
    assert "send_done_trigger 1" in connection_matrix(FabricFlows(*ends, np.zeros(2), **rounds), 4, "a")[0]
    with pytest.raises(InputError, match="flow 1: htsim's flows cannot wait for a time"):
        connection_matrix(FabricFlows(*ends, np.zeros(2), **rounds, off_ns=np.array([0.0, 5.0])), 4, "a")
    large = FabricFlows(*np.array([[0], [1], [2**31]]), np.zeros(1))
    with pytest.raises(InputError, match="flow 0: htsim's sizes are at most 2,147,483,647 bytes; split the flow"):
        connection_matrix(large, 4, "a")


def test_reference_files_come_back_to_the_byte(reference: Path, tmp_path: Path) -> None:
    files = sorted((reference / "data" / "collectives").glob("*.cm"))
    assert len(files) == 6
    for path in files:
        found = read_connection_matrix(path)
        assert isinstance(found.what, FabricFlows)
        text, changed = connection_matrix(found.what, found.hosts, path.name)
        assert text.partition("\n")[2] == path.read_text(encoding="utf-8") and not changed


# --- topologies


def tier(number: int, down: int, up: int = 0, more: str = "", speed: int = 100, delay: int = 1000) -> str:
    text = f"Tier {number}\nDownlink_speed_Gbps {speed}\nRadix_Down {down}\nDownlink_Latency_ns {delay}\n{more}"
    return text + (f"Radix_Up {up}\n" if up else "")


TWO = "Nodes 16\nTiers 2\nPodsize 16\n" + tier(0, 4, 4) + tier(1, 4)
THREE = "Nodes 16\nTiers 3\nPodsize 4\n" + tier(0, 2, 2) + tier(1, 2, 2) + tier(2, 4)

TOPOLOGIES = {
    TWO: "16 hosts, 8 switches, 32 links, ToRs not oversubscribed",
    THREE: "16 hosts, 20 switches, 48 links, ToRs not oversubscribed",
    "Nodes 17\nTiers 2\nPodsize 17\n" + tier(0, 17, 17) + tier(1, 1): "17 hosts, 1 switches, 17 links",
    "# tiny\n\nNodes 32\nTiers 2\nPodsize 32\n\n"
    + tier(0, 8, 2, "Switch_Latency_ns 0\nOversubscribed 4\n")
    + tier(1, 4): "32 hosts, 6 switches, 40 links, ToRs oversubscribed 4:1",
    "Nodes 432\nTiers 3\nPodsize 36\n"
    + tier(0, 6, 6)
    + tier(1, 6, 6)
    + tier(2, 36, 0, "Bundle 3\n", delay=600_000): "432 hosts, 156 switches, 1008 links, ToRs not oversubscribed",
    "Nodes 1024\nTiers 3\nPodsize 64\n"
    + tier(0, 8, 8, "Oversubscribed 1\n")
    + tier(1, 8, 8, "Bundle 1\n")
    + tier(2, 16): "1024 hosts, 320 switches, 3072 links, ToRs not oversubscribed",
    TWO.lower(): "16 hosts, 8 switches, 32 links, ToRs not oversubscribed",
    "Nodes 16\nTiers 2\nPodsize 16\n" + tier(0, 4, 1) + tier(1, 4, speed=400): "16 hosts, 5 switches, 20 links, ToRs "
    "not oversubscribed",
    "Nodes 16\nTiers 2\nPodsize 16\n"
    + tier(0, 4, 4, "Queue_Up 9000\nQueue_Down 9000\n")
    + tier(1, 8, 0, "Bundle 2\n"): ("16 hosts, 6 switches, 24 links, ToRs not oversubscribed"),
    "Podsize 8\nTiers 3\nNodes 16\n"
    + tier(2, 2)
    + tier(1, 2, 1, "Oversubscribed 2\n")
    + tier(0, 4, 2, "Oversubscribed 2\n"): "16 hosts, 10 switches, 28 links, ToRs oversubscribed 2:1",
}

SPOILED = {
    spoiled(TWO, "Nodes 16\n", ""): ":1: Nodes: is missing",
    spoiled(TWO, "Podsize 16\n", ""): ":1: Podsize: is missing",
    spoiled(TWO, "Tiers 2", "Tiers 4"): ":1: Tiers: must be 2 or 3, found 4",
    spoiled(TWO, "Tiers 2", "Tiers 3"): ": Tier 2: is missing; write it, with its keys",
    spoiled(TWO, "Podsize 16", "Podsize 8"): ":1: Podsize: must be Nodes 16 with two tiers: one pod",
    spoiled(TWO, "Podsize 16", "Podsize 5"): ":1: Podsize: 5 must divide Nodes 16",
    spoiled(TWO, "Radix_Down 4", "Radix_Down 3"): ":4: Radix_Down: 3 hosts of a ToR must divide Podsize 16",
    spoiled(TWO, "Radix_Up 4", "Radix_Up 3"): ":4: Radix_Up: 3 uplinks have 1/1 of the rate of 4 downlinks only if",
    spoiled(TWO, "Radix_Up 4\n", ""): ":4: Radix_Up: is missing",
    spoiled(TWO, "Downlink_Latency_ns 1000\n", ""): ":4: Downlink_Latency_ns: is missing",
    spoiled(TWO, "Downlink_Latency_ns 1000", "Downlink_Latency_ns 1us"): ":7: Downlink_Latency_ns: must be a whole",
    spoiled(TWO, "Radix_Up", "Radix_Upp"): ":8: Radix_Upp: unknown here (did you mean 'Radix_Up'?)",
    spoiled(TWO, "Tier 1", "Tier 0"): ":9: Tier: 0 stands in line 4 already",
    spoiled(TWO, "Tier 1", "Tier 3"): ":9: Tier: must be a whole number from 0 to 2, found '3'",
    spoiled(TWO, "Tier 1", "Tier"): ":9: Tier: its value is missing",
    spoiled(TWO, "Radix_Up 4", "Radix_Up 4\nRadix_Up 4"): ":9: Radix_Up: stands there twice",
    TWO + "Bundle 3\n": ":9: Bundle: must divide Radix_Up 4 of the tier below",
    TWO + "Bundle 2\n": ":9: Radix_Down: must let each of the 4 ToRs of a pod reach each of its switches",
    spoiled(THREE, "Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 4", "Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 8"): (
        ":14: Radix_Down: must be 4: its Bundle to each of the 4 pods"
    ),
    "Nodes 16": ":1: Tiers: is missing",
    spoiled(TWO, "Downlink_speed_Gbps 100", "Downlink_speed_Gbps 0"): ":5: Downlink_speed_Gbps: must be a whole number",
}


@pytest.mark.parametrize("text", TOPOLOGIES)
def test_topologies_convert(tmp_path: Path, text: str) -> None:
    assert str(read_tiers(file(tmp_path, text)).what) == TOPOLOGIES[text]


@pytest.mark.parametrize("text", SPOILED)
def test_malformed_topologies_have_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_tiers(file(tmp_path, text))
    assert SPOILED[text] in str(caught.value) and len(str(caught.value).splitlines()) == 1


def test_a_fat_tree_is_the_builders(tmp_path: Path) -> None:
    found, built = read_tiers(file(tmp_path, THREE)).what, builders.fat_tree(4)
    assert isinstance(found, FabricTopology)
    assert len(found.a) == len(built.a) and found.tier.tolist() == built.tier.tolist()


def test_switches_take_their_time(tmp_path: Path) -> None:
    """On the way across the spine two ToRs and the spine take theirs, once each."""
    text = TWO.replace("Tier 1\n", "Tier 1\nSwitch_Latency_ns 300\n").replace(
        "Tier 0\n", "Tier 0\nSwitch_Latency_ns 500\n"
    )
    found = read_tiers(file(tmp_path, text))
    assert isinstance(found.what, FabricTopology) and "Switch_Latency_ns" in found.assumed[0]
    assert 2 * (found.what.delay_ns[0] + found.what.delay_ns[-1]) == 4000 + 2 * 500 + 300


def test_reference_topologies_are_what_the_data_says(reference: Path) -> None:
    found = read_tiers(reference / "data" / "collectives" / "leafspine16-400.topo").what
    assert isinstance(found, FabricTopology)
    assert (found.gbps == 400).all() and str(found).startswith("16 hosts, 8 switches, 32 links")


@pytest.mark.parametrize(("depends", "notices"), [("send", 13), ("recv", 0)])
def test_a_converted_ring_takes_what_it_takes_in_htsim(
    reference: Path, tmp_path: Path, depends: str, notices: int
) -> None:
    """But for 1 µs until the next host hears of an end: of 13 steps, where that is not the host that has received."""
    data = reference / "data" / "collectives"
    found = [read_connection_matrix(data / f"ring8-star-{depends}.cm"), read_tiers(data / "star17-100.topo")]
    write(found, tmp_path / "to")
    scenario = read_scenario(tmp_path / "to" / "scenario.yaml")
    trial = run_fabric_trials(scenario, {"nscc": engine_of(Transport("nscc", {}), scenario.settings())}, [1])[0]
    ended = float((trial.record["flow_start_ns"] + trial.record["flow_fct_ns"]).max())
    there = float(pd.read_csv(data / f"flow-ring8-star-100-nscc-{depends}.csv")["end_ns"].max())
    assert ended - 1000 * notices == pytest.approx(there, abs=1e-3)
