"""HPCC's topologies, flows, sizes and completion times, and SimAI's topologies: as they occur, and spoiled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.fabric.formats.hpcc import completion_times, read_hpcc
from lcca.evaluation.fabric.formats.reading import read_all
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.workload import FlowSizes
from tests.fixtures import RunCommand

from .test_htsim import file, spoiled

STAR = "5 1 4\n4\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 4 100Gbps 1us 0\n3 4 100Gbps 1us 0\n"
FLOWS = "3\n0 1 3 100 1000 2\n2 1 3 100 200000 2.000000001\n1 3 3 100 5000000 2.5\n"
TABLE = "0 0\n1000 20\n10000 60.5\n1000000 100\n"

TOPOLOGIES = {
    STAR: "4 hosts, 1 switches, 4 links",
    STAR + "\nFirst line: total node #, switch node #, link #\nsrc0 dst0 rate delay error_rate\n...\n": "4 hosts",
    spoiled(STAR, "5 1 4\n4", "5 1 4\n0").replace("0 4 ", "4 0 ").replace(" 4 100", " 0 100"): "4 hosts, 1 switches",
    STAR.replace("100Gbps 1us 0", "25000000000.0 0.001ms 0.000000"): "4 hosts, 1 switches, 4 links",
    STAR.replace("100Gbps", "40Gb/s").replace("1us", "1000ns"): "4 hosts, 1 switches, 4 links",
    STAR.replace("100Gbps", "12.5GBps").replace("1us", "+1000.0ns"): "4 hosts, 1 switches, 4 links",
    STAR.replace("5 1 4", "5 1 3") + "extra\n": "hosts 3 has no link",
    "6 2 5\n4 5\n0 4 10Gbps 1us 0\n1 4 10Gbps 1us 0\n2 5 10Gbps 1us 0\n3 5 10Gbps 1us 0\n4 5 40Gbps 2us 0\n": (
        "4 hosts, 2 switches, 5 links, ToRs not oversubscribed"
    ),
    "4 2 4\n2 3\n0 2 10Gbps 1us 0\n1 3 10Gbps 1us 0\n2 3 40Gbps 2us 0\n"
    "2 3 40Gbps 2us 0\n": "2 hosts, 2 switches, 3 links",
    "# mine\n" + STAR: "4 hosts, 1 switches, 4 links",
    "7 2 2 1 8 H100\n4 5 6\n0 4 2880Gbps 0.000025ms 0\n1 4 2880Gbps 0.000025ms 0\n2 5 2880Gbps 0.000025ms 0\n"
    "3 5 2880Gbps 0.000025ms 0\n0 6 400Gbps 0.0005ms 0\n1 6 400Gbps 0.0005ms 0\n2 6 400Gbps 0.0005ms 0\n"
    "3 6 400Gbps 0.0005ms 0\n": "4 hosts, 3 switches, 8 links",
}

SPOILED_TOPOLOGIES = {
    "": "holds nothing",
    "5 1\n": ":1: per cent: must begin at 0, not at 1",
    "5 1 4 4\n": ":1: has 4 words: HPCC's flows begin with their number",
    spoiled(STAR, "5 1 4", "5 1 x"): ":1: links: must be a whole number",
    spoiled(STAR, "5 1 4", "5 1 6"): ":1: links: 6 links are counted, and 4 follow; write 4, or add some",
    spoiled(STAR, "5 1 4", "5 2 4"): ":2: switches: line 2 must have the 2 switches' ids",
    "5 1 4\n": ":1: switches: line 2 must have the 1 switches' ids",
    spoiled(STAR, "\n4\n", "\n9\n"): ":2: switches: must be a whole number from 0 to 4, found '9'",
    spoiled(STAR, "5 1 4\n4", "5 2 4\n4 4"): ":2: switches: one stands there twice",
    spoiled(STAR, "0 4 100Gbps", "0 9 100Gbps"): ":3: b: must be a whole number from 0 to 4, found '9'",
    spoiled(STAR, "0 4 100Gbps", "4 4 100Gbps"): ":3: b: is the same node; name the other end",
    spoiled(STAR, "100Gbps", "100Gbs"): ":3: rate: must be one of ns-3, such as 100Gbps or 1e11, found '100Gbs'",
    spoiled(STAR, "100Gbps", "0Gbps"): ":3: rate: must be above 0",
    spoiled(STAR, "100Gbps", "1.2.3Gbps"): ":3: rate: must be a number of at least 0, found '1.2.3'",
    spoiled(STAR, "1us", "1usec"): ":3: delay: must be one of ns-3, such as 1us or 0.001ms, found '1usec'",
    spoiled(STAR, "1us", "0us"): ":3: delay: must be above 0",
    spoiled(STAR, "1us 0", "1us 0.01"): ":3: error_rate: must be 0: links lose nothing here",
    spoiled(STAR, "1us 0", "1us"): ":3: has 4 columns; write a link: a b rate delay error_rate",
    spoiled(STAR, "1 4 100Gbps 1us", "0 4 100Gbps 2us"): ":4: is a second link between these nodes, of another delay",
    spoiled(STAR, "0 4", "0 1"): "joins hosts 0 and 1",
    spoiled(STAR, "3 4 1", "2 4 1"): "host 3 has no link; join it to a switch",
    spoiled(STAR, "0 4", "zero 4"): ":3: a: must be a whole number from 0 to 4, found 'zero'",
}

FLOW_FILES = {
    FLOWS: 3,
    FLOWS.replace(" 100 ", " "): 3,
    spoiled(FLOWS, "3\n", "9\n"): 3,
    spoiled(FLOWS, "3\n", "2\n"): 2,
    FLOWS + "\nFirst line: # of flows\nsrc0 dst0 3 dst_port0 size0 start_time0\n...\n": 3,
    FLOWS.replace(" 2.5", " 2.5 "): 3,
    "1\n0 1 3 100 2147483648 2.0\n": 1,
    "2\n0 1 3 100 10 1\n1 0 3 100 10 0.5\n": 2,
    "2\n0 1 1 100 10 0\n1 0 3 100 10 0.5\n": 2,
    "# made\n" + FLOWS.replace("\n", "\r\n"): 3,
}

SPOILED_FLOWS = {
    "0\n": ":1: number of flows: must be a whole number from 1",
    "3\n": ":1: no flow follows; write: src dst priority port bytes start",
    "three\n0 1 3 100 10 2\n": ":1: number of flows: must be a whole number from 1 to 2147483647, found 'three'",
    "2\n0 1 3 100 10 2\nsrc dst\n": ":3: is no flow; write: src dst priority port bytes start, or mend line 1",
    "1\n0 1 3 100 10 2 7\n": ":2: has 7 columns; write: src dst priority port bytes start, or leave out port",
    "1\n0 1 3\n": ":2: has 3 columns",
    "2\n0 1 3 100 10 2\n0 1 3 10 2\n": ":3: has 5 columns and line 2 6; write as many",
    "1\n0 0 3 100 10 2\n": ":2: dst: 0 is the sender; name another host",
    "1\n-1 0 3 100 10 2\n": ":2: src: must be a whole number from 0",
    "1\n0 1.5 3 100 10 2\n": ":2: dst: must be a whole number from 0",
    "1\n0 1 3 100 0 2\n": ":2: bytes: must be a whole number from 1",
    "1\n0 1 3 100 many 2\n": ":2: bytes: must be a whole number from 1",
    "1\n0 1 9 100 10 2\n": ":2: priority: must be a whole number from 0 to 7, found '9'",
    "1\n0 1 3 100 10 -2\n": ":2: start: must be a number of at least 0, found '-2'",
    "1\n0 1 3 100 10 2s\n": ":2: start: must be a number of at least 0, found '2s'",
    "1\n0 1 3 100 10 nan\n": ":2: start: must be a number of at least 0, found 'nan'",
    "1\n0 1 3 100 1e30 2\n": ":2: bytes: must be a whole number from 1",
    "1,0,1,3,100,10,2\n": ":1: number of flows: must be a whole number from 1",
    "1\n0,1,3,100,10,2\n": ":2: is no flow; write: src dst priority port bytes start",
    "1\n99999999999 1 3 100 10 2\n": ":2: src: must be a whole number from 0",
}

TABLES = {
    TABLE: "four",
    TABLE.replace("20", "0.2").replace("60.5", "0.605").replace("100\n", "1\n"): "shares",
    TABLE + "\n\n": "empty lines",
    TABLE.replace(" ", "\t"): "tabs",
    TABLE.replace("1000 20", "1000 20\n1000 30"): "a step",
    "0 0\n3 6.48826\n15158197 100\n": "rpc",
    "1 0\n1 100": "one size",
    "# web\n" + TABLE: "comment",
    TABLE.replace("1000000 100", "1000000 100.0"): "a point",
    TABLE.replace("\n", "\r\n"): "lines of Windows",
}

SPOILED_TABLES = {
    TABLE.replace("0 0\n", ""): ":1: per cent: must begin at 0, not at 20; put a line with 0 before it",
    TABLE.replace(" 100\n", " 99\n"): ":4: per cent: must end at 100, or at 1, not at 99",
    TABLE.replace("1000 20", "1000 70"): ":3: is below the line before it",
    TABLE.replace("1000 20", "20000 20"): ":3: is below the line before it",
    TABLE.replace("1000 20", "1000 20 3"): ":2: has 3 columns; write bytes and the per cent",
    TABLE.replace("1000 20", "1000"): ":2: has 1 columns",
    TABLE.replace("1000 20", "1kB 20"): ":2: bytes: must be a number of at least 0, found '1kB'",
    TABLE.replace("1000 20", "1000 20%"): ":2: per cent: must be a number of at least 0, found '20%'",
    TABLE.replace("1000 20", "-1000 20"): ":2: bytes: must be a number of at least 0",
    TABLE.replace("1000 20", "nan 20"): ":2: bytes: must be a number",
    "0 0\n": ":1: per cent: must end at 100, or at 1, not at 0",
    "bytes cdf\n" + TABLE: ":1: bytes: must be a number",
    TABLE.replace("1000000 ", "1e12 "): ":4: bytes: must end above 0 and below 1e+12, not at 1e+12",
    "0 0\n0 100\n": ":2: bytes: must end above 0 and below 1e+12, not at 0",
    TABLE.replace("1000000 100", "1000000"): ":4: per cent: its value is missing at the end of the line",
    TABLE.replace("1000 20", "1000 -20"): ":2: per cent: must be a number of at least 0, found '-20'",
    TABLE.replace("1000000 ", "inf "): ":4: bytes: must be a number of at least 0, found 'inf'",
    TABLE.replace("1000 20", "0x3e8 20"): ":2: bytes: must be a number of at least 0, found '0x3e8'",
    TABLE.replace("1000 20", "1_000 20"): ":2: bytes: must be a number of at least 0, found '1_000'",
    TABLE.replace("1000 20", '"1000" 20'): ":2: bytes: must be a number of at least 0",
    TABLE.replace(" 100\n", " 101\n"): ":4: per cent: must end at 100, or at 1, not at 101",
    TABLE + TABLE: ":5: is below the line before it; neither bytes nor per cents may fall",
    TABLE.replace(" ", ","): ":1: number of flows: must be a whole number from 1",
    "4\n" + TABLE: ":2: has 2 columns; write: src dst priority port bytes start",
    TABLE + "bytes and per cent\n": ":5: per cent: must be a number of at least 0, found 'and'",
}


@pytest.mark.parametrize("text", TOPOLOGIES)
def test_topologies_convert(tmp_path: Path, text: str) -> None:
    if "no link" in TOPOLOGIES[text]:
        with pytest.raises(InputError, match="host 3 has no link"):  # as many links as it counts, which are too few
            read_hpcc(file(tmp_path, text))
        return
    found = read_hpcc(file(tmp_path, text)).what
    assert isinstance(found, FabricTopology) and str(found).startswith(TOPOLOGIES[text])
    assert found.gbps[0] in (10, 25, 40, 100, 2880) and found.delay_ns[0] in (25, 1000)


@pytest.mark.parametrize("text", FLOW_FILES)
def test_flows_convert(tmp_path: Path, text: str) -> None:
    found = read_hpcc(file(tmp_path, text)).what
    assert isinstance(found, FabricFlows) and len(found) == FLOW_FILES[text]


@pytest.mark.parametrize("text", TABLES, ids=TABLES.values())
def test_sizes_convert(tmp_path: Path, text: str) -> None:
    found = read_hpcc(file(tmp_path, text)).what
    assert isinstance(found, FlowSizes) and found.cumulative[0] == 0 and found.cumulative[-1] == 1


MALFORMED = SPOILED_TOPOLOGIES | SPOILED_FLOWS | SPOILED_TABLES


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_files_have_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_hpcc(file(tmp_path, text))
    assert MALFORMED[text] in str(caught.value) and len(str(caught.value).splitlines()) == 1


def test_starts_are_exact_and_two_seconds_earlier(tmp_path: Path) -> None:
    found = read_hpcc(file(tmp_path, FLOWS))
    assert isinstance(found.what, FabricFlows) and found.what.start_ns.tolist() == [0, 1, 5e8]
    assert "starts are 2 s earlier, which HPCC's generators add" in found.assumed


def test_counts_that_are_wrong_are_said(tmp_path: Path) -> None:
    """A header that is written over in place keeps digits of the longer one."""
    more, fewer = (" ".join(read_hpcc(file(tmp_path, spoiled(FLOWS, "3\n", n))).assumed) for n in ("9980\n", "2\n"))
    assert "line 1 counts 9980 flows and there are 3: all are taken" in more
    assert "line 1 counts 2 flows, and the 1 after them are left out, as HPCC does; for all write 3 there" in fewer


def test_classes_are_numbered_from_0(tmp_path: Path) -> None:
    found = read_hpcc(file(tmp_path, "2\n0 1 1 100 10 0\n1 0 3 100 10 0.5\n"))
    assert isinstance(found.what, FabricFlows) and found.what.priority.tolist() == [0, 1]


def test_flows_go_by_the_numbers_of_their_topology(tmp_path: Path) -> None:
    """Switch 0 is the last node here, and hosts are one lower."""
    file(tmp_path, spoiled(STAR, "5 1 4\n4", "5 1 4\n0").replace("0 4 ", "4 0 ").replace(" 4 100", " 0 100"), "t.txt")
    file(tmp_path, "1\n1 4 3 100 10 2\n", "f.txt")
    _, flows = read_all([tmp_path / "t.txt", tmp_path / "f.txt"], {})
    assert isinstance(flows.what, FabricFlows) and (flows.what.src, flows.what.dst) == (0, 3)
    file(tmp_path, "1\n0 4 3 100 10 2\n", "f.txt")
    with pytest.raises(InputError, match=r"f.txt: flow 0: src: 0 is no host of t.txt; take the topology"):
        read_all([tmp_path / "t.txt", tmp_path / "f.txt"], {})


@pytest.mark.parametrize("texts", [[STAR, FLOWS], [TABLE], [STAR, TABLE], [STAR, "2\n0 1 1 9 10 0\n1 0 3 9 10 0.5\n"]])
def test_what_is_imported_runs_and_comes_back(lcca: RunCommand, tmp_path: Path, texts: list[str]) -> None:
    names = [file(tmp_path, text, f"{number}.txt") for number, text in enumerate(texts)]
    assert lcca("import", *names, tmp_path / "to").status == 0
    where = ("--on", tmp_path / "to" / "scenario.yaml", "--trials", 1, "--out", tmp_path / "run")
    assert lcca("evaluate", "hpcc", *where).status == 0
    if FLOWS in texts:
        assert lcca("export", tmp_path / "run", tmp_path / "fct", "--form", "fct").status == 0
        (found,) = (tmp_path / "fct").glob("fct-hpcc-*.txt")
        first = found.read_text(encoding="utf-8").splitlines()[0].split()
        assert first[:6] == ["0b000001", "0b000101", "10000", "100", "1000", "0"] and len(first) == 8
        assert int(first[6]) > 2000 < int(first[7])


def test_completion_times_are_in_the_order_of_their_ends() -> None:
    table = pd.DataFrame(
        {
            "policy": "a/b", "seed": 7, "src": [0, 300, 0], "dst": [1, 1, 1], "size_bytes": [10, 20, 30],
            "start_ns": [0.0, 1.0, 2.0], "fct_ns": [9.4, np.nan, 3.0], "ideal_ns": [1.0, 2.0, 2.6],
        }
    )  # fmt: skip
    text = "0b000001 0b000101 10000 100 30 2 3 3\n0b000001 0b000101 10001 100 10 0 9 1\n"
    assert completion_times(table) == {"fct-a_b-7.txt": text}


def test_flows_of_a_scenario_go_to_htsim(lcca: RunCommand, tmp_path: Path) -> None:
    file(tmp_path, STAR, "t.txt")
    file(tmp_path, FLOWS, "f.txt")
    lcca("import", tmp_path / "t.txt", tmp_path / "f.txt", tmp_path / "to")
    answer = lcca("export", tmp_path / "to" / "scenario.yaml", tmp_path / "a.cm")
    assert answer.status == 0 and "changed: 1 starts are rounded to whole µs, by at most 1 ns" in answer.out
    text = (tmp_path / "a.cm").read_text(encoding="utf-8")
    assert text.startswith("# of scenario.yaml, by lcca\nNodes 4\nConnections 3\n0->1 id 1 start 0 size 1000\n")
    assert "there already" in lcca("export", tmp_path / "to" / "scenario.yaml", tmp_path / "a.cm").err


def test_reference_sizes_are_read(reference: Path) -> None:
    for path in sorted((reference / "data" / "flow-sizes").glob("*.txt")):
        assert isinstance(read_hpcc(path).what, FlowSizes)
