"""Flows and their traces: the reference traces fit their fabrics, bad ones name lines."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import leaf_spine, topology_from_file
from lcca.remy_plus.fabric.flows import FabricFlows, in_order
from lcca.remy_plus.fabric.traces import read_flows

FABRIC = leaf_spine(2, 2, 2)  # hosts 0–3, ToRs 4 and 5, spines 6 and 7
HEAD = "id,src,dst,size_bytes,start_ns,path,ack_path\n"


@pytest.mark.parametrize("scenario", ["ws50-leafspine", "fbhdp50-fattree", "incast8-star", "ws50inc-leafspine"])
def test_reference_traces_are_read(reference: Path, without_ports: Callable[[Path], Path], scenario: str) -> None:
    folder = reference / "data" / "fabric"
    name = {"star": "star17"}.get(kind := scenario.split("-")[1], "fattree4" if kind == "fattree" else kind)
    fabric, trace = topology_from_file(folder / f"topology-{name}.csv"), folder / f"flows-{scenario}.csv"
    with pytest.raises(InputError, match=r"\.csv:1: column 8, 'sport', is unknown"):
        read_flows(trace, fabric)
    flows = read_flows(without_ports(trace), fabric)
    rows = trace.read_text().splitlines()[1:]
    assert len(flows) == len(rows) and all(flows.path) and (np.diff(flows.start_ns) >= 0).all()
    columns = (flows.id, flows.src, flows.dst, flows.size_bytes, flows.start_ns.astype(np.int64))
    paths = (["-".join(map(str, path)) for path in each] for each in (flows.path, flows.ack_path))
    again = [",".join(map(str, row)) for row in zip(*columns, *paths, strict=True)]
    assert sorted(again) == sorted(row.rsplit(",", 2)[0] for row in rows)  # less the ports


def test_a_trace_is_sorted(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(HEAD + "7,0,3,1 kB,0.02us,4-6-5,\n9,1,0,5,0.25,,4\n")
    flows = read_flows(file, FABRIC)
    assert (flows.id.tolist(), flows.start_ns.tolist(), flows.size_bytes.tolist()) == ([9, 7], [0.25, 20], [5, 1000])
    assert (flows.path, flows.ack_path) == ([(), (4, 6, 5)], [(4,), ()])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("", r"t\.csv: has no flows; write one a line: id,src,dst,size_bytes,start_ns"),
        (
            "0,0,1,0,0,,\n",
            r"t\.csv:2: size_bytes: must be a whole number from 1 to \d+, found '0'; a flow without end has more than",
        ),
        ("0,0,1,1.5 B,0,,\n", r"t\.csv:2: size_bytes: must be a whole number from 1 to \d+, found '1\.5'"),
        ("0,0,1,1.5,0,,\n", r"t\.csv:2: size_bytes: must be a whole number"),
        ("0,0,1,1,-1,,\n", r"t\.csv:2: start_ns: must be >= 0 ns and finite, found '-1'"),
        ("0,0,1,1,5,,\n1,4,1,1,0,,\n", r"t\.csv:3: src: host 4 is unknown; the fabric has hosts 0 to 3"),
        ("0,0,1,1,5,,\n1,2,2,1,0,,\n", r"t\.csv:3: dst: is the sender"),
        ("0,0,1,1,5,,\n0,2,1,1,0,,\n", r"t\.csv:2: id: 0 stands for another flow already"),
        ("0,0,3,1,0,4-5,\n", r"t\.csv:2: path: there is no link between 4 and 5"),
        ("0,0,3,1,0,5,\n", r"t\.csv:2: path: there is no link between 0 and 5"),
        ("0,0,3,1,0,4-6-4-6-5,\n", r"t\.csv:2: path: crosses a node twice \(0-4-6-4-6-5-3\)"),
        ("0,0,3,1,0,4-1-5,\n", r"t\.csv:2: path: 1 is a host; a path names switches \(4 to 7\)"),
        ("0,0,3,1,0,4-6-5,4-6-5\n", r"t\.csv:2: ack_path: there is no link between 3 and 4"),
        ("0,0,3,1,0,4/6/5,\n", r"t\.csv:2: path: must be switches such as 16-20-17, found '4/6/5'"),
        ("0,0,3,1,0,٤-6-5,\n", r"t\.csv:2: path: must be switches such as 16-20-17, found '٤-6-5'"),
        ("0,0,3,1,0,4-6-99,\n", r"t\.csv:2: path: there is no link between 6 and 99"),
    ],
)
def test_a_flow_that_cannot_be_names_line_and_column(tmp_path: Path, rows: str, message: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text(HEAD + rows)
    with pytest.raises(InputError, match=message):
        read_flows(file, FABRIC)


WAITING = "id,src,dst,size_bytes,start_ns,after,delay_ns,job,step\n"


def test_a_trace_says_what_flows_wait_for(tmp_path: Path) -> None:
    """Equal sets are one, whatever the order of the file; ids need not be positions."""
    file = tmp_path / "t.csv"
    rows = ["9,0,1,1,40,,0,0,0", "3,1,2,1,0,,0,0,0", "4,2,3,1,0,3,0,0,1", "20,3,0,1,0,3..4 9,2.5us,1,1"]
    file.write_text(WAITING + "".join(row + "\n" for row in [*rows, "21,0,2,1,50,3..4 9,0,1,2"]))
    flows = read_flows(file, FABRIC, over="acknowledged")
    assert flows.id.tolist() == [3, 4, 20, 9, 21]
    assert flows.after.tolist() == [-1, 0, 1, -1, 1] and flows.off_ns.tolist() == [0, 0, 2500, 0, 0]
    assert [flows.id[each.flows].tolist() for each in flows.sets] == [[3], [3, 4, 9]]
    assert {each.over for each in flows.sets} == {"acknowledged"}
    assert (flows.job.tolist(), flows.step.tolist()) == ([0, 0, 1, 0, 1], [0, 1, 1, 0, 2])


def test_moments_of_single_flows(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(
        WAITING + "0,0,1,1,0,,0,0,0\n1,0,1,1,0,,0,0,0\n2,1,0,1,0,0..1:begun,0,0,0\n3,1,0,1,0,0:begun 1,0,0,0\n"
    )
    first, second = read_flows(file, FABRIC).sets
    assert (first.over, second.over) == ("begun", ["begun", "received"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("0,0,1,1,0,7,0,0,0\n", r"t\.csv:2: after: flow 7 is not in this file"),
        ("0,0,1,1,0,0..999999999999,0,0,0\n", r"t\.csv:2: after: flow 1 is not in this file"),
        ("0,0,1,1,0,0,0,0,0\n", r"t\.csv:2: after: waits for itself"),
        ("0,0,1,1,0,1,0,0,0\n1,1,0,1,0,0,0,0,0\n", r"t\.csv:2: after: waits for itself, perhaps by way of others"),
        ("0,0,1,1,0,5..3,0,0,0\n", r"must be ids such as 3 17 20\.\.35, perhaps 3:begun, found '5\.\.3'"),
        ("0,0,1,1,0,5:over,0,0,0\n", r"t\.csv:2: after: must be ids such as"),
        ("0,0,1,1,0,,0,0,0\n1,0,1,1,0,0:begun 0,0,0,0\n", r"t\.csv:3: after: flow 0 stands there twice, for two"),
        ("0,0,1,1,0,1..2..3,0,0,0\n", r"t\.csv:2: after: must be ids such as"),
        ("0,0,1,1,0,a,0,0,0\n", r"t\.csv:2: after: must be ids such as"),
        ("0,0,1,1,0,,-1,0,0\n", r"t\.csv:2: delay_ns: must be from 0 to 1e\+15 ns"),
        ("0,0,1,1,0,,0,-1,0\n", r"t\.csv:2: job: must be a whole number"),
    ],
)
def test_waiting_that_cannot_be_names_line_and_column(tmp_path: Path, rows: str, message: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text(WAITING + rows)
    with pytest.raises(InputError, match=message):
        read_flows(file, FABRIC)


def test_a_delay_needs_others_to_wait_for(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("id,src,dst,size_bytes,start_ns,delay_ns\n0,0,1,1,0,5\n")
    with pytest.raises(InputError, match=r"t\.csv:2: delay_ns: is how long flows wait after others: needs a column"):
        read_flows(file, FABRIC)


def test_flows_that_cannot_be() -> None:
    one, two = np.array([1]), np.array([0, 1])
    for message, src, dst, size, start in [
        ("equally long", two, one, one, one),
        ("flow 0: dst: is the sender", one, one, one, one),
        ("flow 1: start_ns: is before", two, two[::-1], two + 1, -two + 1.0),
        ("flow 0: start_ns: must be >= 0", one - 1, one, one, one * np.nan),
    ]:
        with pytest.raises(InputError, match=message):
            FabricFlows(src, dst, size, start)
    with pytest.raises(InputError, match="flow 0: dst: host 7 is unknown"):
        FabricFlows(one - 1, one + 6, one, one).require_on(FABRIC)


def test_workloads_are_merged_by_start() -> None:
    a = FabricFlows(np.array([0, 1]), np.array([1, 2]), np.array([10, 20]), np.array([0.0, 5.0]))
    b = FabricFlows(np.array([2, 3]), np.array([3, 0]), np.array([30, 40]), np.array([0.0, 3.0]), path=[(5,), ()])
    both = in_order([a, b])
    assert both.size_bytes.tolist() == [10, 30, 40, 20] and both.id.tolist() == [0, 1, 2, 3]
    assert list(both.path) == [(), (5,), (), ()] and len(both.ack_path) == 0
    many = FabricFlows(np.zeros(90), np.ones(90), np.arange(1, 91), np.repeat([0.0, 1.0, 2.0], 30))
    sizes = in_order([many, many]).size_bytes.reshape(3, 60)
    assert (sizes == np.hstack([many.size_bytes.reshape(3, 30)] * 2)).all()
