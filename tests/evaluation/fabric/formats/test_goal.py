"""GOAL in text: as it occurs, spoiled, and when its messages begin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lcca.evaluation.fabric.formats.goal import read_goal
from lcca.evaluation.fabric.formats.messages import Messages, Ready
from lcca.evaluation.fabric.formats.written import flow_table, usual_moment
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric import builders
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.traces import read_flows
from tests.fixtures import RunCommand

from .test_htsim import file, same, spoiled, waits

PING = """num_ranks 2

rank 0 {
l1: calc 5000
l2: send 8192b to 1 tag 4
l3: recv 16b from 1 tag 5
l2 requires l1
l3 requires l2
}

rank 1 {
l1: recv 8192b from 0 tag 4
l2: calc 700
l3: send 16b to 0 tag 5
l2 requires l1
l3 requires l2
}
"""


def ring(ranks: int) -> str:
    """Return two steps in which all ranks send to the next."""
    blocks = []
    for rank in range(ranks):
        before, after = (rank - 1) % ranks, (rank + 1) % ranks
        lines = [f"s0: send 1000b to {after} tag 0", f"r0: recv 1000b from {before} tag 0"]
        lines += [f"s1: send 1000b to {after} tag 1", f"r1: recv 1000b from {before} tag 1", "s1 requires r0"]
        blocks.append(f"rank {rank} {{\n" + "\n".join(lines) + "\n}\n")
    return f"num_ranks {ranks}\n" + "".join(blocks)


FAN_IN = """num_ranks 3
rank 0 {
s: send 10b to 2
}
rank 1 {
s: send 10b to 2
}
rank 2 {
a: recv 10b from 0
b: recv 10b from 1
c: calc 50
s: send 99b to 0
c requires a
c requires b
s requires c
}
""".replace("s: send 10b to 2\n}\nrank 1", "s: send 10b to 2\nrecv 99b from 2\n}\nrank 1")

SCHEDULES = {
    "ping": PING,
    "ring": ring(4),
    "fan in": FAN_IN,
    "fan in, uneven": FAN_IN.replace("c requires b\n", "s requires b\n"),
    "in one line": PING.replace("\n}", "\n  }").replace("l1:", "l1 :"),
    "comments": PING.replace("rank 0 {", "/* rank\n 0 */ rank 0 { // begins").replace(
        "l2 requires l1\n", "l2 requires l1 // c\n", 1
    ),
    "cpu and nic": PING.replace("tag 4", "tag 4 cpu 0 nic 1").replace("calc 5000", "calc 5000 cpu 2"),
    "without labels": "num_ranks 2\nrank 0 {\nsend 5b to 1\nsend 6b to 1\n}\n"
    "rank 1 {\nrecv 5b from 0\nrecv 6b from 0\n}\n",
    "begun": PING.replace("l3 requires l2", "l3 irequires l2", 1),
    "ranks that do nothing": PING.replace("num_ranks 2", "num_ranks 8") + "rank 7 { }\n",
    "no bytes": PING.replace("16b", "0b"),
    "calc at the end": PING.replace(
        "l3 requires l2\n}\n\nrank 1", "l3 requires l2\nl4: calc 33\nl4 requires l3\n}\n\nrank 1"
    ),
}

MALFORMED = {
    "": "holds nothing",
    spoiled(PING, "num_ranks 2", "ranks 2"): ":1: ranks: must be num_ranks and their number; binary GOAL is not read",
    spoiled(PING, "num_ranks 2", "num_ranks"): ":1: num_ranks: its value is missing",
    spoiled(PING, "num_ranks 2", "num_ranks 1"): ":1: num_ranks: must be a whole number from 2",
    spoiled(PING, "rank 1", "rank 2"): ":11: rank: must be a whole number from 0 to 1, found '2'",
    spoiled(PING, "rank 1", "rank 0"): ":11: rank: 0 stands in line 3 already",
    spoiled(PING, "rank 1 {", "rank 1"): ":11: rank: must be: rank 1 {",
    PING[:-2]: ":11: rank: 1 has no end; write } after its last statement",
    spoiled(PING, "}\n\nrank 1", "rank 1"): ":9: rank: unknown here",
    PING + "calc 5\n": ":18: calc: unknown here (known: rank)",
    spoiled(PING, "calc 5000", "calculate 5000"): ":4: calculate: unknown here (did you mean 'calc'?)",
    spoiled(PING, "calc 5000", "calc 5us"): ":4: calc: must be a whole number",
    spoiled(PING, "8192b", "8192"): ":5: send: must be bytes such as 8b, found '8192'",
    spoiled(PING, "to 1", "from 1"): ":5: from: unknown here",
    spoiled(PING, "to 1", "to 9"): ":5: to: must be a whole number from 0 to 1, found '9'",
    spoiled(PING, "to 1", "to 0"): ":5: to: is this rank itself; name another one, or write calc",
    spoiled(PING, "from 1", "from -1"): ":6: from: -1 is whoever sends first, which the fabric decides; name the rank",
    spoiled(PING, "tag 4", "tags 4"): ":5: tags: unknown here (did you mean 'tag'?)",
    spoiled(PING, "tag 4", "tag 6"): ":5: send: rank 0 sends 1 messages with tag 6 to rank 1, which receives 0",
    spoiled(PING, "l3: recv 16b from 1 tag 5\n", "").replace(
        "l3 requires l2\n", "", 1
    ): ":12: send: rank 1 sends 1 messages",
    spoiled(
        PING, "l1: recv 8192b", "l1: recv 8192b from 0 tag 4\nl9: recv 1b"
    ): ":13: recv: rank 0 sends 1 messages with",
    spoiled(
        PING, "l2 requires l1", "l2 requires l8"
    ): ":7: l8: is no label above; give a statement of this rank this label",
    spoiled(PING, "l2 requires l1", "l1 requires l2\nl2 requires l1"): ":4: requires: this operation waits for itself",
    spoiled(PING, "l2: send", "l1: send"): ":5: l1: stands in line 4 already; take another label",
    spoiled(PING, "l2 requires l1", "l2 needs l1"): ":7: l2: unknown here",
    "num_ranks 2\nrank 0 {\ncalc 5\n}\n": ":1: num_ranks: no rank sends anything; is it the right file?",
    "num_ranks 2\nrank 0 {\na: send 5b to 1\nb: recv 5b from 1\na requires b\n}\nrank 1 {\na: send 5b to 0\n"
    "b: recv 5b from 0\na requires b\n}\n": "flow 0: after: waits for itself, perhaps by way of others",
    "/* " + PING: ":17: /*: is never closed; write */",
}


def flows_of(path: Path) -> FabricFlows:
    found = read_goal(path).what
    assert isinstance(found, FabricFlows)
    return found


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_convert(tmp_path: Path, name: str) -> None:
    """Into a trace that holds the same."""
    flows = flows_of(file(tmp_path, SCHEDULES[name]))
    trace = file(tmp_path, flow_table(flows), "a.csv")
    same(flows, read_flows(trace, builders.star(8), over=usual_moment(flows)))


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_schedules_have_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_goal(file(tmp_path, text))
    assert MALFORMED[text] in str(caught.value) and len(str(caught.value).splitlines()) == 1


def test_computations_are_delays(tmp_path: Path) -> None:
    """The first at the start; the second after what its rank has received."""
    flows = flows_of(file(tmp_path, PING))
    first, second = (int(np.flatnonzero(flows.id == id)[0]) for id in (0, 1))
    assert (flows.start_ns[first], flows.size_bytes[first]) == (5000, 8192)
    assert (waits(flows, second), flows.off_ns[second]) == ({(0, "received")}, 700)


def test_fan_in_is_one_set_with_one_delay(tmp_path: Path) -> None:
    flows = flows_of(file(tmp_path, FAN_IN))
    last = int(np.flatnonzero(flows.size_bytes == 99)[0])
    assert (waits(flows, last), flows.off_ns[last]) == ({(0, "received"), (1, "received")}, 50)


def test_uneven_delays_are_late_and_said(tmp_path: Path) -> None:
    found = read_goal(file(tmp_path, SCHEDULES["fan in, uneven"]))
    assert isinstance(found.what, FabricFlows)
    assert any("1 of 3 messages wait" in each and "late by at most 50 ns" in each for each in found.assumed)
    assert found.what.off_ns.max() == 50


def test_what_else_is_assumed(tmp_path: Path) -> None:
    said = {name: " ".join(read_goal(file(tmp_path, text)).assumed) for name, text in SCHEDULES.items()}
    assert "rank r is host r" in said["ring"] and "computations" not in said["ring"]
    assert "1 messages without bytes have one" in said["no bytes"]
    assert "computations after the last messages, of up to 33 ns each, are left out" in said["calc at the end"]


def test_an_event_that_another_follows_is_left_out() -> None:
    """The third waits for the second, which waited for the first as long."""
    messages = Messages()
    messages.add(0, 1, 1)
    messages.add(1, 0, 1, Ready(0.0, {(0, "received"): 5.0}))
    assert messages.joined([Ready(0.0, {(0, "received"): 4.0, (1, "received"): 0.0})]).after == {(1, "received"): 0.0}
    late = Ready(0.0, {(0, "received"): 6.0, (1, "received"): 0.0})
    assert messages.joined([late]).after == late.after


def test_a_pong_comes_as_long_after_the_ping_as_computed(tmp_path: Path) -> None:
    flows = flows_of(file(tmp_path, PING))
    found = FabricEngine("window").run(builders.star(2), flows)
    ping, pong = np.argsort(flows.id)
    start, taken = found["flow_start_ns"], found["flow_fct_ns"]
    assert start[pong] - (start[ping] + taken[ping]) == pytest.approx(700, abs=1e-3)


def test_a_schedule_is_imported_and_runs(lcca: RunCommand, tmp_path: Path) -> None:
    assert lcca("import", file(tmp_path, ring(4), "a.goal"), tmp_path / "to").status == 0
    where = ("--on", tmp_path / "to" / "scenario.yaml", "--trials", 1, "--json")
    assert lcca("evaluate", "dcqcn", *where).json()["rows"][0]["flows_finished"] == 8
