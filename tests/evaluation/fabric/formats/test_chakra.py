"""Chakra's traces: as they occur, spoiled, and what their collectives become."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.evaluation.fabric.formats.chakra import read_chakra
from lcca.evaluation.fabric.formats.reading import read_all
from lcca.evaluation.fabric.formats.written import flow_table, usual_moment
from lcca.evaluation.fabric.workload.collectives.job import Job
from lcca.evaluation.fabric.workload.part import Streams
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric import builders
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.traces import read_flows
from tests.fixtures import RunCommand

from .test_htsim import same, waits


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    found = b""
    while value > 127:
        found, value = found + bytes([value & 127 | 128]), value >> 7
    return found + bytes([value])


def of(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(name: str, value: Any) -> bytes:
    """An attribute of the types that generators write: 32 bits below 2^31, else 64."""
    match value:
        case bool():
            own = of(27, int(value))
        case int():
            own = of(7 if value < 2**31 else 13, value)
        case float():
            own = varint(3 << 3 | 1) + struct.pack("<d", value)
        case str():
            own = of(29, value.encode())
        case _:
            own = of(28, of(1, bytes(value)))
    return of(10, of(1, name.encode()) + own)


def node(number: int, type: int, before: Sequence[int] = (), micros: int = 0, **attributes: Any) -> bytes:
    data = (of(1, number) if number else b"") + of(2, b"n") + of(3, type)
    data += of(5, b"".join(map(varint, before))) if before else b""
    data += of(7, micros) if micros else b""
    return data + b"".join(attribute(*each) for each in attributes.items())


def trace(*nodes: bytes) -> bytes:
    """A file: its metadata, then nodes, each behind its length."""
    return b"".join(varint(len(each)) + each for each in (of(1, b"0.0.4"), *nodes))


def collective(number: int, kind: int, size: int, before: Sequence[int] = (), **more: Any) -> bytes:
    return node(number, 7, before, comm_type=kind, comm_size=size, is_cpu_op=False, **more)


STEP = trace(node(0, 4, micros=3), collective(1, 0, 8000, [0]))
PING = [
    trace(node(1, 4, micros=2), node(2, 5, [1], comm_size=100, comm_dst=1, comm_tag=4)),
    trace(node(7, 6, comm_size=100, comm_src=0, comm_tag=4), node(8, 5, [7], comm_size=9, comm_dst=0)),
]
PING[0] += trace(node(3, 6, [2], comm_size=9, comm_src=1))[len(trace()) :]

TRACES: dict[str, Sequence[bytes]] = {
    "all-reduce": [STEP] * 4,
    "all-gather": [trace(collective(1, 2, 1000))] * 4,
    "reduce-scatter": [trace(collective(1, 7, 4000))] * 4,
    "all-to-all": [trace(collective(1, 6, 4000))] * 4,
    "barrier": [trace(node(1, 7, comm_type=9), collective(2, 6, 400, [1]))] * 3,
    "messages": PING,
    "two after each other": [trace(collective(1, 0, 800), node(2, 4, [1], micros=5), collective(3, 0, 800, [2]))] * 4,
    "dimensions": [trace(collective(1, 0, 800, involved_dim=[True, True]))] * 4,
    "sizes as other types": [trace(node(1, 7, comm_type=0, comm_size=4e3))] * 2,
    "large": [trace(collective(1, 0, 5 * 10**9))] * 2,
    "zipped": [gzip.compress(STEP)] * 2,
    "loads, stores and metadata": [trace(node(1, 1), node(2, 2, [1], 1), node(3, 3, [2], 1), collective(4, 0, 8, [3]))]
    * 2,
}
MESSAGES = {
    **{"all-reduce": 4 * 6, "all-gather": 4 * 3, "reduce-scatter": 4 * 3, "all-to-all": 4 * 3, "barrier": 3 * 4},
    **{"messages": 2, "two after each other": 4 * 12, "dimensions": 4 * 6, "sizes as other types": 4, "large": 4},
    **{"zipped": 4, "loads, stores and metadata": 4},
}


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Sequence[bytes]], Path]:
    def write(ranks: Sequence[bytes]) -> Path:
        for rank, data in enumerate(ranks):
            (tmp_path / f"a.{rank}.et").write_bytes(data)
        return tmp_path / "a.0.et"

    return write


Written = Callable[[Sequence[bytes]], Path]


@pytest.mark.parametrize("name", TRACES)
def test_traces_convert(written: Written, tmp_path: Path, name: str) -> None:
    """Into as many messages, and a trace of ours that holds the same."""
    flows = read_chakra(written(TRACES[name])).what
    assert isinstance(flows, FabricFlows) and len(flows) == MESSAGES[name]
    (tmp_path / "a.csv").write_text(flow_table(flows), encoding="utf-8")
    same(flows, read_flows(tmp_path / "a.csv", builders.star(4), over=usual_moment(flows)))


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("all-reduce", {2000}), ("all-gather", {1000}), ("reduce-scatter", {1000}), ("all-to-all", {1000})],
)
def test_sizes_of_messages(written: Written, name: str, sizes: set[int]) -> None:
    """In an all-gather a rank has its part before, in the others the whole buffer."""
    flows = read_chakra(written(TRACES[name])).what
    assert isinstance(flows, FabricFlows) and set(flows.size_bytes.tolist()) == sizes


def test_computations_come_before_collectives(written: Written) -> None:
    flows = read_chakra(written([STEP] * 4)).what
    assert isinstance(flows, FabricFlows) and flows.start_ns.max() == 3000
    flows = read_chakra(written(TRACES["two after each other"])).what
    assert isinstance(flows, FabricFlows)
    first = next(row for row in range(len(flows)) if flows.id[row] >= 24 and flows.off_ns[row] == 5000)
    assert {moment for _, moment in waits(flows, first)} == {"received"} and len(waits(flows, first)) == 6


def test_groups_come_from_a_file(written: Written, tmp_path: Path) -> None:
    ranks = [trace(collective(1, 0, 80, pg_name=str(rank % 2))) for rank in range(4)]
    path, groups = written(ranks), tmp_path / "groups.json"
    groups.write_text(json.dumps({"0": [0, 2], "1": [1, 3]}), encoding="utf-8")
    (found,) = read_all([path, tmp_path / "a.3.et"], {"groups": str(groups)})
    assert isinstance(found.what, FabricFlows)
    assert {frozenset(each) for each in zip(found.what.src.tolist(), found.what.dst.tolist(), strict=True)} == {
        frozenset({0, 2}),
        frozenset({1, 3}),
    }
    for content, message in {
        '{"0": [0, 9]}': "0: must be a list of two or more ranks from 0 to 3, each once",
        '{"0": [0]}': "0: must be a list of two or more ranks",
        '{"0": [1, 2]}': "node 1.pg_name: rank 0 is not in group '0'; mend the file of groups",
        "[]": 'must be {"id": [ranks]}',
        "x": "no JSON",
    }.items():
        groups.write_text(content, encoding="utf-8")
        with pytest.raises(InputError) as caught:
            read_chakra(path, str(groups))
        assert message in str(caught.value) and len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(("algorithm", "count"), [("ring", 24), ("halving-doubling", 16), ("double-tree", 12)])
def test_all_reduces_have_algorithms(written: Written, algorithm: str, count: int) -> None:
    flows = read_chakra(written([STEP] * 4), algorithm=algorithm).what
    assert isinstance(flows, FabricFlows) and len(flows) == count


def test_a_ring_is_that_of_a_job(written: Written) -> None:
    """The same messages wait for the same ones."""
    found = read_chakra(written([trace(collective(1, 0, 8000), collective(2, 2, 500, [1]))] * 4)).what
    keys = {"kind": "job", "operations": [{"kind": "all-reduce", "bytes": 8000}, {"kind": "all-gather", "bytes": 2000}]}
    job = Job.model_validate(keys).draw(builders.star(4), Streams(1), 1e9)
    assert isinstance(found, FabricFlows)
    for name in ("src", "dst", "size_bytes"):
        np.testing.assert_array_equal(getattr(found, name), getattr(job, name))
    for row in range(len(job)):
        assert waits(found, row) == waits(job, row)


def test_computations_between_collectives_take_what_they_take_in_a_job(written: Written) -> None:
    """Each counts once, however many come after it."""
    nodes = [(node(2 * k, 4, [2 * k - 1] * (k > 0), 10), collective(2 * k + 1, 0, 8000, [2 * k])) for k in range(4)]
    found = read_chakra(written([trace(*(each for pair in nodes for each in pair))] * 4))
    keys = {"kind": "job", "iterations": 4, "operations": [{"kind": "all-reduce", "bytes": 8000, "compute_us": 10}]}
    job = Job.model_validate(keys).draw(builders.star(4), Streams(1), 1e9)
    ends = []
    for flows in (found.what, job):
        assert isinstance(flows, FabricFlows)
        record = FabricEngine("window").run(builders.star(4), flows)
        ends.append(np.sort(record["flow_start_ns"] + record["flow_fct_ns"]))
    np.testing.assert_array_equal(*ends)
    assert not any("late" in each for each in found.assumed)


MALFORMED: dict[str, tuple[Sequence[bytes], str]] = {
    "cut": ([STEP[:-3], STEP], "a.0.et: message 2: ends within a message; is it a Chakra trace, and whole?"),
    "text": ([b"num_ranks 2\nrank 0 {\n", STEP], "a.0.et: message 0: ends within a message"),
    "spoiled": ([trace(b"\x0f\xff"), STEP], "a.0.et: message 1: ends within a field"),
    "zip": ([b"\x1f\x8b" + STEP, STEP], "a.0.et: cannot be unpacked"),
    "one rank": ([STEP], "a.0.et: is the only rank; put the files of the others beside it"),
    "nothing": ([b"", b""], "a.0.et: no rank sends anything; is it the right trace?"),
    "type 0": ([trace(node(1, 0)), STEP], "node 1.type: 0 is no type of Chakra's nodes; is it a newer trace?"),
    "type 9": ([trace(node(1, 9)), STEP], "node 1.type: 9 is no type"),
    "twice": ([trace(node(1, 4), node(1, 4)), STEP], "node 1.id: is another node's already; give each its own"),
    "no such node": ([trace(node(1, 4, [8])), STEP], "node 1.data_deps: node 8 is not in this file"),
    "circle": ([trace(node(1, 4, [2]), node(2, 4, [1]))] * 2, "node 1.data_deps: waits for itself, by way of others"),
    "no comm_type": ([trace(node(1, 7, comm_size=8))] * 2, "node 1.comm_type: is missing; write the trace with it"),
    "no comm_size": ([trace(node(1, 7, comm_type=0))] * 2, "node 1.comm_size: is missing"),
    "no bytes": ([trace(collective(1, 0, 0))] * 2, "node 1.comm_size: must be a whole number of at least 1, found 0"),
    "half a byte": ([trace(node(1, 7, comm_type=0, comm_size=0.5))] * 2, "node 1.comm_size: must be a whole number"),
    "text as size": (
        [trace(node(1, 7, comm_type=0, comm_size="8"))] * 2,
        "comm_size: must be a whole number of at least",
    ),
    "broadcast": ([trace(collective(1, 5, 8))] * 2, "node 1.comm_type: 5 is none of 0 (all-reduce), 2 (all-gather)"),
    "group": ([trace(collective(1, 0, 8, pg_name="7"))] * 2, "node 1.pg_name: group '7' is in no file of groups; say"),
    "dimension": (
        [trace(collective(1, 0, 8, involved_dim=[True, False]))] * 2,
        "involved_dim: is of some dimensions only",
    ),
    "alone": ([STEP, trace(node(1, 4))], "node 1: is a collective that rank 1 of its group does not have"),
    "unlike": (
        [STEP, trace(collective(1, 0, 9))],
        "node 1.comm_size: is another collective, or of another size than node 1 of rank 0",
    ),
    "no receiver": ([trace(node(1, 5, comm_size=8)), STEP], "node 1.comm_dst: is missing"),
    "itself": ([trace(node(1, 5, comm_size=8, comm_dst=0)), STEP], "node 1.comm_dst: 0 to 0 cannot be at rank 0 of 2"),
    "no such rank": (
        [trace(node(1, 5, comm_size=8, comm_dst=5)), STEP],
        "node 1.comm_dst: 0 to 5 cannot be at rank 0",
    ),
    "unmatched": ([PING[0], trace()], "rank 0 sends 1 messages with tag 4 to rank 1, which receives 0; write as many"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_traces_have_one_line(written: Written, name: str) -> None:
    ranks, message = MALFORMED[name]
    with pytest.raises(InputError) as caught:
        read_chakra(written(ranks))
    assert message in str(caught.value) and len(str(caught.value).splitlines()) == 1


def test_files_of_ranks_are_named(tmp_path: Path) -> None:
    for name, message in {"a.et": "must be named PREFIX.RANK.et", "b.1.et": "rank 0 has no file beside it"}.items():
        (tmp_path / name).write_bytes(STEP)
        with pytest.raises(InputError, match=message):
            read_chakra(tmp_path / name)
    with pytest.raises(InputError, match="no such file"):
        read_chakra(tmp_path / "c.0.et")


def test_random_bytes_have_one_line(written: Written) -> None:
    """Whatever a byte is changed to: it is a trace still, or refused."""
    for at in range(len(STEP)):
        for value in (255, STEP[at] ^ 8):
            path = written([STEP[:at] + bytes([value]) + STEP[at + 1 :], STEP])
            try:
                read_chakra(path)
            except InputError as error:
                assert len(str(error).splitlines()) == 1


def test_a_trace_is_imported_and_runs(lcca: RunCommand, written: Written, tmp_path: Path) -> None:
    path = written(TRACES["two after each other"])
    answer = lcca("import", path, tmp_path / "to", "algorithm=halving-doubling")
    assert answer.status == 2  # the folder comes last
    answer = lcca("import", path, "algorithm=halving-doubling", tmp_path / "to")
    assert "assumed: all-reduces are of algorithm=halving-doubling" in answer.out
    where = ("--on", tmp_path / "to" / "scenario.yaml", "--trials", 1, "--json")
    assert lcca("evaluate", "dcqcn", *where).json()["rows"][0]["flows_finished"] == 2 * 4 * 4
