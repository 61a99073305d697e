"""Scenarios from YAML files: those that ship, one as the reference data needs it, and ones that cannot be."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML

from lcca.evaluation.fabric.scenario import read_scenario
from lcca.evaluation.fabric.switches import SwitchModel
from lcca.inputs.errors import ConfigError, InputError
from lcca.remy_plus.fabric.builders import leaf_spine
from lcca.remy_plus.fabric.engine import FabricEngine, engine_of
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.switches.markers import marking
from lcca.remy_plus.switches.transports import Transport

from ...studies import of_studies

CONFIGS = Path(__file__).parents[3] / "configs" / "fabric"
GOOD = {
    "name": "small",
    "topology": {"kind": "leaf-spine", "tors": 2, "hosts_per_tor": 4, "spines": 2},
    "workload": {"kind": "poisson", "sizes": "fb-hadoop", "load": 0.4, "load_of": "host-links"},
    "duration_us": 200,
}


def written(folder: Path, **changes: object) -> Path:
    with (folder / "s.yaml").open("w") as file:
        YAML().dump({key: value for key, value in (GOOD | changes).items() if value is not None}, file)
    return folder / "s.yaml"


@pytest.mark.parametrize(
    ("name", "hosts", "over", "fullest"),
    [
        ("leaf-spine", 16, 1.0, 0.5),
        ("incast", 64, 1.0, 0.32),
        *((f"scenarios/hadoop-incast-{buffer}", 8, 1.0, 0.5) for buffer in ("lossy", "pfc", "deep")),
        *((f"scenarios/websearch-{buffer}", 8, 1.0, 0.8) for buffer in ("lossy", "pfc", "deep")),
    ],
)
def test_scenarios_that_ship(name: str, hosts: int, over: float, fullest: float) -> None:
    found = read_scenario(CONFIGS / f"{name}.yaml")
    assert (found.name, found.fabric.hosts, found.fabric.oversubscription) == (Path(name).name, hosts, over)
    assert found.loads().fullest()[2] == pytest.approx(fullest, rel=0.01)


def test_paraleons_training_workload_ships() -> None:
    found = read_scenario(CONFIGS / "training.yaml")
    flows = found.flows(1)
    assert (found.fabric.oversubscription, len(np.unique(flows.src)), set(flows.size_bytes)) == (4.0, 20, {12 * 10**6})
    assert (
        flows.waits and (flows.off_ns == 20e6).all() and flows.start_ns[380] == pytest.approx(19 * 12e6 * 0.08 + 20e6)
    )


def test_same_seed_same_flows_and_settings(tmp_path: Path) -> None:
    first, again = read_scenario(written(tmp_path)), read_scenario(written(tmp_path, switch={"pfc": False}))
    flows = first.flows(3)
    np.testing.assert_array_equal(flows.start_ns, again.flows(3).start_ns)
    assert not set(flows.start_ns) & set(first.flows(4).start_ns)
    assert (first.settings().lossless, again.settings().lossless) == (True, False)
    assert first.horizon_ns(flows) == 200e3 + 1e9 and first.settings().marker is None


PAPERS: dict[str, tuple[int, float, float | None]] = {  # hosts, oversubscription, fullest link
    "cceval/fat-tree": (320, 2.5, 0.3),
    "cceval/fat-tree-20ms": (320, 2.5, 0.3),
    "cceval/leaf-spine": (40, 2.5, 0.3),
    "cceval/dumbbell": (20, 10, 0.3),
    "rl-cc/many-to-one": (65, 0, 1024 * 8e9 / 1e12 / 100),
    "rl-cc/all-to-all": (16, 0, 60 * 8e9 / 1e12 / 100),
    "rl-cc/long-short": (65, 0, (250e6 / 1e12 + 128 * 204_800 / 1e7) * 8 / 100),
    **of_studies("SCENARIOS"),
}


def scenarios_of_papers() -> list[Path]:
    """Return their files; those of studies lie in the studies."""
    of_studies, own = CONFIGS.parents[1].glob("studies/*/configs/scenarios/*.yaml"), (CONFIGS, CONFIGS.parent / "ai")
    found = (*CONFIGS.parent.glob("*/scenarios/*.yaml"), *of_studies)
    return [each for each in found if not any(folder in each.parents for folder in own)]


def folder_of(scenario: Path) -> str:
    folder = scenario.parents[1]
    return folder.parent.name if folder.name == "configs" else folder.name


@pytest.mark.parametrize("name", PAPERS)
def test_scenarios_of_papers(name: str) -> None:
    stem = name.split("/")[1]
    found = read_scenario(next(file for file in scenarios_of_papers() if f"{folder_of(file)}/{file.stem}" == name))
    hosts, over, fullest = PAPERS[name]
    assert (found.name, found.fabric.hosts) == (stem, hosts)
    assert found.fabric.oversubscription == pytest.approx(over)
    loads = found.loads()
    assert (loads and loads.fullest()[2]) == (fullest and pytest.approx(fullest))


def test_every_scenario_of_papers_is_asked() -> None:
    assert {f"{folder_of(each)}/{each.stem}" for each in scenarios_of_papers()} == set(PAPERS)


def test_a_trace_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("a,b,gbps,delay_ns\n0,2,100,10\n1,2,100,10\n")
    (tmp_path / "flows.csv").write_text("id,src,dst,size_bytes,start_ns,path\n5,1,0,1000,70,2\n")
    keys = {
        "topology": {"kind": "file", "links": "links.csv"},
        "workload": {"kind": "trace", "flows": "flows.csv"},
        "duration_us": None,
        "preset": "hpcc-ns3",
        "drain_us": 1,
        "switch": {"marker": {"kind": "red", "kmin_bytes": 1e5, "kmax_bytes": 4e5}, "mark_at": "enqueue"},
    }
    found = read_scenario(written(tmp_path, **keys))
    flows = found.flows(1)
    assert (flows.id.tolist(), list(flows.path), found.loads()) == ([5], [(2,)], None)
    marker = marking("red", kmin_bytes=1e5, kmax_bytes=4e5, pmax=0.2)
    conventions = {"headroom_delays": 3, "buffer_bytes": 32 * 2**20, "lossless": True, "alpha": 0.125}
    assert found.settings() == settings("hpcc-ns3", marker=marker, mark_at_dequeue=False, **conventions)
    assert (found.settings().fct_at_ack, found.horizon_ns(flows)) == (True, 1070)


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        (
            "w.csv",
            "id,src,dst,size_bytes,start_ns,after\n4,1,0,1,0,9\n9,0,1,1,5000,\n7,0,1,1,6000,\n",
            ":2: after: ",
        ),
        (
            "w.cm",
            "Nodes 2\nConnections 2\nTriggers 1\n1->0 id 4 trigger 1 size 1\n"
            "0->1 id 9 start 5 size 1 send_done_trigger 1\ntrigger id 1 oneshot\n",
            ": flow 4: ",
        ),
    ],
)
def test_flows_of_a_trace_wait_for_those_within_the_duration(tmp_path: Path, name: str, text: str, where: str) -> None:
    (tmp_path / name).write_text(text)
    workload = {"kind": "trace", "flows": name}
    says = (
        rf"s\.yaml:\d+: workload\.flows: \S*{name}{where}waits for flow 9, which starts at 5 µs, not within duration_us"
    )
    for duration in (1, 5):
        with pytest.raises(ConfigError, match=says + rf" \({duration}\); raise that, or leave both flows out"):
            read_scenario(written(tmp_path, workload=workload, duration_us=duration))
    assert len(read_scenario(written(tmp_path, workload=workload, duration_us=5.5)).flows(1)) == 2


def test_parts_that_run_one_after_another_do_not_add_up(tmp_path: Path) -> None:
    parts = [LATE, {**LATE, "start_us": 1000, "stop_us": 2000, "load": 0.7}]
    found = read_scenario(written(tmp_path, workload={"kind": "mix", "parts": parts}, duration_us=None))
    assert found.loads().fullest() == (8, 1, pytest.approx(0.7))
    flows = found.flows(1)
    assert 0 < len(flows) and flows.start_ns.max() < 2e6 and found.horizon_ns(flows) > 2e6


def test_the_scenario_of_the_reference_data(
    reference: Path, without_ports: Callable[[Path], Path], tmp_path: Path
) -> None:
    folder = reference / "data" / "fabric"
    keys = {
        "topology": {"kind": "file", "links": str(folder / "topology-leafspine.csv")},
        "workload": {"kind": "trace", "flows": str(without_ports(folder / "flows-ws50-leafspine.csv"))},
        "switch": {"buffer_bytes": 1048576, "pfc": True},
        "duration_us": None,
    }
    assert len(read_scenario(written(tmp_path, **keys)).flows(1)) == 129


TRACE = {"kind": "trace", "flows": "flows.csv"}
POISSON = GOOD["workload"]
LATE = {**POISSON, "load": 0.6, "load_of": "receiver-link", "receiver": 1, "stop_us": 1000}
SWITCH = {"kind": "star", "hosts": 9, "delay_ns": 1e5}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"workload": {**POISSON, "load": 1.2}}, r"s\.yaml:10: workload\.load: asks for 1\.37 times the rate of"),
        (
            {"topology": {**GOOD["topology"], "spines": 1}, "workload": {**POISSON, "load": 0.5}},
            r"s\.yaml:10: workload\.load: asks for 1\.14 times .* link from 8 to 10; at most 0\.437 fits",
        ),
        ({"workload": {**POISSON, "load_of": "links"}}, r"s\.yaml:11: workload\.load_of: must be .*'tor-uplinks'"),
        ({"workload": {**POISSON, "sizes": "websearsh"}}, r"s\.yaml:9: workload\.sizes: .*did you mean 'websearch'"),
        ({"workload": {**POISSON, "lode": 1}}, r"s\.yaml:12: workload\.lode: unknown key \(did you mean 'load'\?\)"),
        (
            {"workload": {"kind": "poison"}},
            r"s\.yaml:8: workload\.kind: must be one of .* \(did you mean 'poisson'\?\)",
        ),
        (
            {"workload": {**POISSON, "receiver": 1}},
            r"s\.yaml:7: workload: receiver \(a host\) and load_of: receiver-link need each other",
        ),
        (
            {"workload": {**POISSON, "receiver": 8, "load_of": "receiver-link"}},
            r"s\.yaml:\d+: workload\.receiver: host 8 is unknown; the fabric has hosts 0 to 7",
        ),
        (
            {"workload": {**POISSON, "start_us": 5, "stop_us": 5}},
            r"s\.yaml:7: workload: stop_us must be after start_us \(5 µs\), got 5",
        ),
        (
            {"workload": {"kind": "incast", "senders": 2, "bytes": 9, "sizes": "websearch", "period_us": 9}},
            r"s\.yaml:7: workload: needs one of bytes \(of each flow\) and sizes",
        ),
        (
            {"workload": {"kind": "mix", "parts": [LATE, {**LATE, "start_us": 100}]}},
            r"s\.yaml:7: workload: asks for 1\.2 times the rate of the link from 8 to 1; 0\.833 of that fits",
        ),
        (
            {"workload": {"kind": "permutation", "bytes": 9, "start_us": 200}, "drain_us": 900},
            r"s\.yaml:10: workload\.start_us: must be less than duration_us \(200\)",
        ),
        (
            {"workload": {"kind": "mix", "parts": [POISSON, {**POISSON, "start_us": 5000}]}},
            r"s\.yaml:\d+: workload\.parts\.1\.start_us: must be less than duration_us \(200\)",
        ),
        (
            {"topology": {**GOOD["topology"], "uplink_delay_ns": 250_000_000_000}},
            r"s\.yaml:7: topology\.uplink_delay_ns: must be <= 1e\+08, found 250000000000",
        ),
        ({"warmup_us": 200}, r"s\.yaml:\d+: warmup_us: must be less than duration_us"),
        ({"duration_us": None}, r"s\.yaml:1: duration_us: is missing, and workload poisson goes on without end"),
        (
            {"switch": {"buffer_bytes": 1000}},
            r"s\.yaml:14: switch\.buffer_bytes: 1,000 bytes are less than the .* 8,",
        ),
        (
            {"topology": SWITCH, "switch": {"buffer_bytes": 33_780_000}},
            r"switch\.buffer_bytes: 33,780,000 bytes are less than .* switch 9, 33,789,240 \(.* and 4 frames for each",
        ),
        (
            {"switch": {"buffer_bytes_per_port": 41_000}},
            r"switch\.buffer_bytes_per_port: \d+,000 bytes are less than the headroom of switch \d",
        ),
        (
            {"switch": {"buffer_bytes": 1e6, "buffer_bytes_per_port": 1e6}},
            r"s\.yaml:\d+: switch\.buffer_bytes_per_port: excludes buffer_bytes \(of a whole switch\)",
        ),
        (
            {"workload": {"kind": "incast", "senders": 2, "bytes": 9, "size_scale": 2, "period_us": 9}},
            r"s\.yaml:7: workload: size_scale goes with sizes; write the scaled bytes",
        ),
        (
            {"switch": {"marker": {"kind": "red", "kmin_bytes": 2, "kmax_bytes": 1}}},
            r"s\.yaml:\d+: switch\.marker\.kmax_bytes: must be from 2 to inf, got 1",
        ),
        (
            {"switch": {"marker": {"kind": "red", "kmin_byte": 2}}},
            r"s\.yaml:\d+: switch\.marker\.kmin_byte: is not a parameter of red \(did you mean 'kmin_bytes'\?\)",
        ),
        ({"switch": {"marker": {"kind": "stop"}}}, r"s\.yaml:\d+: switch\.marker\.kind: 'stop' .* mean 'step'\?\)"),
        ({"switch": {"marker": {"kind": "step", "k_bytes": "x"}}}, r"s\.yaml:\d+: switch\.marker\.k_bytes: must be"),
        ({"payload_bytes": 9000}, r"s\.yaml:1: mtu_bytes: a packet without telemetry has 9048 bytes, more than 1500"),
        ({"topology": {"kind": "fat-tree", "k": 5}}, r"s\.yaml:4: topology\.k: must be a multiple of 2, found 5"),
        ({"topology": {"kind": "file", "links": "no.csv"}}, r"s\.yaml:\d: topology: .*no\.csv: cannot be read"),
        ({"topology": {"kind": "three-tier", "cores": 7}}, r"s\.yaml:2: topology: cores must be a multiple of aggs"),
        (
            {
                "topology": {"kind": "leaf-spine", "tors": 1, "hosts_per_tor": 4, "spines": 1},
                "workload": {**POISSON, "load_of": "tor-uplinks"},
            },
            r"s\.yaml:\d+: workload\.load_of: no flow crosses links between switches; use host-links",
        ),
        (
            {"topology": {"kind": "star", "hosts": 4}, "workload": {**POISSON, "load_of": "tor-uplinks"}},
            r"s\.yaml:\d+: workload\.load_of: no flow crosses links between switches; use host-links",
        ),
        (
            {
                "duration_us": None,
                "workload": {"kind": "all-to-all", "bytes": 1000, "off_us": 0.1, "rounds": 1_000_000_000},
            },
            r"s\.yaml:7: workload: has 5\.6e\+10 flows, more than 1e\+07; ask for fewer, or a shorter time",
        ),
        (
            {"workload": {"kind": "permutation", "bytes": 10**15}},
            r"s\.yaml:9: workload\.bytes: must be <= 1e\+12, found",
        ),
        ({"duration_us": 1e9}, r"s\.yaml:7: workload: has .* flows, more than 1e\+07"),
        ({"workload": TRACE}, r"s\.yaml:9: workload\.flows: .*flows\.csv:3: dst: host 8 is unknown"),
        (
            {"workload": {"kind": "mix", "parts": [POISSON, TRACE]}},
            r"s\.yaml:\d+: workload\.parts\.1\.flows: .*flows\.csv:3: dst: host 8 is unknown",
        ),
        (
            {"workload": {"kind": "incast", "senders": 2, "bytes": 1, "load": 0.1, "period_us": 1}},
            r"s\.yaml:7: workload: needs one of load .* and period_us",
        ),
        (
            {"workload": {"kind": "incast", "senders": 7, "bytes": 1e6, "receiver": 0, "period_us": 400}},
            r"s\.yaml:12: workload\.period_us: asks for 1\.4 times .* link from 8 to 0; at least 560 fits",
        ),
        (
            {"workload": {**POISSON, "priority": 1}},
            r"s\.yaml:12: workload\.priority: must be below switch\.priorities \(1\), got 1; 0 is the first class",
        ),
        (
            {"workload": {"kind": "mix", "parts": [POISSON, {**POISSON, "priority": 2}]}, "switch": {"priorities": 2}},
            r"s\.yaml:\d+: workload\.parts\.1\.priority: must be below switch\.priorities \(2\), got 2",
        ),
        (
            {"switch": {"priorities": 2, "ack_priority": 2}},
            r"s\.yaml:\d+: switch\.ack_priority: must be below switch\.priorities \(2\), got 2",
        ),
        ({"switch": {"priorities": 9}}, r"s\.yaml:\d+: switch\.priorities: must be <= 8, found 9"),
        ({"switch": {"class_bytes": "50 kB"}}, r"s\.yaml:\d+: switch\.class_bytes: needs switch\.priorities above 1"),
        (
            {"workload": {**POISSON, "priority": 1}, "switch": {"priorities": 2, "class_bytes": 5e4}},
            r"s\.yaml:12: workload\.priority: excludes switch\.class_bytes: leave one of them out",
        ),
        ({"topology": 5}, r"s\.yaml:2: topology: must be keys with values"),
        ({"workload": "trace"}, r"s\.yaml:7: workload: must be keys with values"),
        ({"workload": {"kind": "mix", "parts": [3]}}, r"s\.yaml:\d+: workload\.parts\.0: must be keys with values"),
        ({"preset": "hpcc"}, r"s\.yaml:\d+: preset: 'hpcc' is not known \(did you mean 'hpcc-ns3'\?\)"),
        ({"name": "a b"}, r"s\.yaml:1: name: must match"),
        ({"selective": False, "spraying": "mixed"}, "spraying: needs selective hosts: leave selective out"),
        ({"selective": False, "sleek": True}, "sleek: needs selective hosts: leave selective out"),
        ({"selective": False, "granted": True}, "granted: needs selective hosts: leave selective out"),
        ({"ways": "numbered", "spraying": "flow"}, "ways: numbered, but spraying: flow: nobody names ways; leave one"),
        ({"ways": "shared", "adaptive": True}, "ways: shared, but adaptive switches choose ways themselves; leave one"),
        (
            {"preset": "hpcc-ns3", "hosts": {"scheduling": "shortest"}},
            r"s\.yaml:\d+: hosts\.scheduling: preset hpcc-ns3 has its own simulator's order: leave",
        ),
        ({"hosts": {"retransmit_us": 1}}, r"s\.yaml:\d+: hosts\.retransmit_us: must be at least one base RTT, here \d"),
        (
            {"hosts": {"nack_gap_us": 1}},
            r"hosts\.nack_gap_us: must be at least one base RTT, here 8\.\d+, got 1",
        ),
        ({"hosts": {"nack_gap_rtts": 0.5}}, r"hosts\.nack_gap_rtts: must be >= 1, found 0\.5"),
        (
            {"hosts": {"nack_gap_us": 90, "nack_gap_rtts": 9}},
            r"hosts\.nack_gap_us: and nack_gap_rtts are the same time: leave one out",
        ),
        ({"hosts": {"scheduling": "srpt"}}, r"hosts\.scheduling: .*'shortest'"),
    ],
)
def test_scenarios_that_cannot_be(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    (tmp_path / "flows.csv").write_text("id,src,dst,size_bytes,start_ns\n0,0,1,1,0\n1,0,8,1,0\n")
    with pytest.raises(InputError, match=message):
        read_scenario(written(tmp_path, **changes))


@pytest.mark.parametrize(
    ("key", "asked", "more", "workload"),
    [
        ("load", 1.2, 1.02, POISSON),
        ("load", 1.9, 1.02, {**POISSON, "load_of": "host-links"}),
        ("period_us", 113, 0.98, {"kind": "incast", "senders": 7, "bytes": 1e6, "receiver": 0}),
    ],
)
def test_what_is_said_to_fit_does(
    tmp_path: Path, key: str, asked: float, more: float, workload: dict[str, object]
) -> None:
    def told(value: float) -> str:
        with pytest.raises(ConfigError, match=rf"workload\.{key}: asks for") as refused:
            read_scenario(written(tmp_path, workload={**workload, key: value}))
        return str(refused.value)

    fits = re.search(r"(?:least|most) ([\d.]+) fits", told(asked))
    assert fits
    read_scenario(written(tmp_path, workload={**workload, key: float(fits[1])}))
    told(more * float(fits[1]))


def test_classes_of_a_scenario(tmp_path: Path) -> None:
    parts = [POISSON, {"kind": "incast", "senders": 2, "bytes": 9, "period_us": 5, "priority": 2}]
    keys = {"workload": {"kind": "mix", "parts": parts}, "switch": {"priorities": 3, "ack_priority": 1}}
    found = read_scenario(written(tmp_path, **keys))
    flows = found.flows(1)
    assert set(flows.priority[flows.size_bytes == 9]) == {2} and not flows.priority[flows.size_bytes != 9].any()
    assert (found.settings().priorities, found.settings().ack_priority) == (3, 1)


def test_a_trace_says_who_is_served_first(tmp_path: Path) -> None:
    """Of two flows into one link the one of the lower class is alone there, and the other has what it leaves."""
    keys = {"topology": {"kind": "star", "hosts": 4}, "workload": TRACE, "duration_us": None}
    for first in (0, 1):
        rows = f"0,0,1,1000000,0,{3 * first}\n1,2,1,1000000,0,{3 - 3 * first}\n"
        (tmp_path / "flows.csv").write_text("id,src,dst,size_bytes,start_ns,priority\n" + rows)
        found = read_scenario(written(tmp_path, **keys, switch={"priorities": 4}))
        assert found.classed
        dctcp, homa = (FabricEngine(name, settings=found.settings()) for name in ("dctcp", "homa"))
        with pytest.raises(InputError, match="priority: hosts of homa choose the class of each packet; leave one out"):
            found.require_fits(homa, "homa")
        found.require_fits(dctcp, "dctcp")
        record = dctcp.run(found.fabric, found.flows(1))
        slowdown = record["flow_fct_ns"] / record["flow_ideal_ns"]
        assert slowdown[first] == pytest.approx(1, abs=0.01) and slowdown[1 - first] > 1.9


@pytest.mark.parametrize(
    ("classes", "workload", "switch", "message"),
    [
        (
            "0 9",
            {},
            {"priorities": 4},
            r"flows\.csv:3: priority: must be below switch\.priorities \(4\), got 9; 0 is the",
        ),
        ("1 1", {}, {}, r"flows\.csv:2: priority: must be below switch\.priorities \(1\), got 1; 0 is the first class"),
        ("-1 0", {}, {"priorities": 4}, r"flows\.csv:2: priority: must be a whole number from 0 to"),
        (
            "0 1",
            {"priority": 2},
            {"priorities": 4},
            r"workload\.priority: excludes the column priority of .*flows\.csv",
        ),
        ("0 1", {}, {"priorities": 4, "class_bytes": 1000}, r"workload\.priority: excludes switch\.class_bytes"),
        ("0 0", {}, {}, None),
        ("0 0", {"priority": 2}, {"priorities": 4}, None),
        ("0 0", {}, {"priorities": 4, "class_bytes": 1000}, None),
    ],
)
def test_classes_that_a_trace_can_have(
    tmp_path: Path, classes: str, workload: dict[str, int], switch: dict[str, int], message: str | None
) -> None:
    rows = "".join(f"{i},{2 * i},1,1000000,0,{each}\n" for i, each in enumerate(classes.split()))
    (tmp_path / "flows.csv").write_text("id,src,dst,size_bytes,start_ns,priority\n" + rows)
    file = written(tmp_path, topology={"kind": "star", "hosts": 4}, workload=TRACE | workload, switch=switch)
    if message is None:
        assert set(read_scenario(file).flows(1).priority.tolist()) == {workload.get("priority", 0)} or switch
    else:
        with pytest.raises(ConfigError, match=message):
            read_scenario(file)


def test_classes_by_size(tmp_path: Path) -> None:
    """floor(log2(size / 50 kB)) + 1 from 50 kB on, by whole numbers: how often the limit can be doubled."""
    switch = {"priorities": 8, "class_bytes": "50 kB"}
    sizes = [1, 49_999, 50_000, 99_999, 100_000, 3_199_999, 3_200_000, 10**9]
    trace = "".join(f"{i},0,1,{size},{i}\n" for i, size in enumerate(sizes))
    (tmp_path / "flows.csv").write_text("id,src,dst,size_bytes,start_ns\n" + trace)
    assert read_scenario(written(tmp_path, workload=TRACE, switch=switch)).flows(1).priority.tolist() == [
        0, 0, 1, 1, 2, 6, 7, 7,
    ]  # fmt: skip
    flows = read_scenario(written(tmp_path, switch=switch)).flows(3)
    by_hand = [min(sum(50_000 * 2**k <= size for k in range(30)), 7) for size in flows.size_bytes.tolist()]
    assert flows.priority.tolist() == by_hand and len(set(by_hand)) > 4


def test_classes_need_headroom_each(tmp_path: Path) -> None:
    """As one class needs 33,789,240 bytes, three need thrice as much, and what pauses of the others take."""
    switch = {"buffer_bytes": 33_790_000, "priorities": 3}
    wanted = 3 * (33_789_240 + 9 * 4 * 43)
    with pytest.raises(InputError, match=rf"less than the headroom of switch 9, {wanted:,} "):
        read_scenario(written(tmp_path, topology=SWITCH, switch=switch))


def test_without_pfc_the_buffer_needs_no_headroom(tmp_path: Path) -> None:
    assert (
        read_scenario(written(tmp_path, topology=SWITCH, switch={"pfc": False, "buffer_bytes": 1e4})).fabric.hosts == 9
    )


def test_buffers_by_ports(tmp_path: Path) -> None:
    """Two racks of four hosts and two spines: a ToR has six ports, a spine two. What is not said is not kept."""
    switch = {"buffer_bytes_per_port": "0.25 MB"}
    found = read_scenario(written(tmp_path, topology={**GOOD["topology"], "spines": 2}, switch=switch)).switch
    fabric = leaf_spine(tors=2, hosts_per_tor=4, spines=2)
    assert found.buffers(fabric).tolist() == [1.5e6, 1.5e6, 0.5e6, 0.5e6]
    assert found.settings()["buffer_bytes_per_port"] == 250_000
    kept = found.model_dump()
    assert kept["buffer_bytes_per_port"] == 250_000 and "buffer_bytes" not in kept
    assert "buffer_bytes_per_port" not in SwitchModel().model_dump() and SwitchModel(**kept) == found


@pytest.mark.slow
@pytest.mark.parametrize("workload", [POISSON, {"kind": "incast", "senders": 3, "sizes": "websearch", "load": 0.2}])
def test_sizes_may_be_scaled(tmp_path: Path, workload: dict[str, object]) -> None:
    """As large a share of the links is taken, by more flows of the same shape."""
    usual, small = (
        read_scenario(written(tmp_path, workload=workload | more, duration_us=1e6))
        for more in ({}, {"size_scale": 0.25})
    )
    counts = [each.workload.count(each.fabric, each.end_ns) for each in (usual, small)]
    assert counts[1] / counts[0] == pytest.approx(4, rel=1e-3)
    some = [each.flows(1).size_bytes for each in (usual, small)]
    np.testing.assert_allclose(np.quantile(some[1], [0.3, 0.9]) / np.quantile(some[0], [0.3, 0.9]), 0.25, rtol=0.15)
    assert "size_scale" not in usual.workload.model_dump() and small.workload.model_dump()["size_scale"] == 0.25


def test_telemetry_counts_towards_the_mtu(tmp_path: Path) -> None:
    read_scenario(written(tmp_path, mtu_bytes=1090)).require_fits(FabricEngine("hpcc"), "hpcc")
    found = read_scenario(written(tmp_path, mtu_bytes=1089))
    with pytest.raises(InputError, match="small: mtu_bytes: a packet with the telemetry of hpcc has 1090 bytes"):
        found.require_fits(FabricEngine("hpcc"), "hpcc")


def test_a_transport_has_its_own_classes_unless_the_switches_say_how_many(tmp_path: Path) -> None:
    """As one class needs 33,789,240 bytes, Homa's eight need as many each, and what pauses of the others take."""
    for priorities, classes, homa in ((None, 1, 8), (1, 1, 1), (4, 4, 4)):
        switch = {"priorities": priorities, "pfc": False}
        found = read_scenario(written(tmp_path, switch=switch))
        assert found.switch.classes == classes
        assert ("priorities" in found.switch.model_dump()) == (priorities is not None)
        for name, wanted in (("dctcp", classes), ("homa", homa)):
            assert engine_of(Transport(name), found.settings()).priorities == wanted
    found = read_scenario(written(tmp_path, topology=SWITCH, switch={"buffer_bytes": 33_790_000}))
    found.require_fits(FabricEngine("dctcp", settings=found.settings()), "dctcp")
    wanted = f"{8 * (33_789_240 + 9 * 14 * 43):,}"
    with pytest.raises(InputError, match=rf"small: switch.buffer_bytes: .*{wanted}.*homa has 8 classes"):
        found.require_fits(FabricEngine("homa", settings=found.settings()), "homa")
