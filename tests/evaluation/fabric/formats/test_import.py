"""`lcca import` of files of other simulators: what it writes runs at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures import RunCommand

from .test_htsim import CHAIN, TWO


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in {"chain.cm": CHAIN, "two.topo": TWO}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_flows_and_a_topology_become_a_scenario_that_runs(lcca: RunCommand, files: Path) -> None:
    to = files / "to"
    answer = lcca("import", files / "chain.cm", files / "two.topo", to)
    assert answer.status == 0 and "assumed: a flow that waits for the end of others at another host" in answer.out
    for name in ("flows.csv", "links.csv", "scenario.yaml"):
        first = (to / name).read_text(encoding="utf-8").splitlines()[0]
        assert first.startswith("# of ") and str(files) not in first
    assert "chain.cm (htsim's connection matrix)" in (to / "flows.csv").read_text(encoding="utf-8")
    found = lcca("evaluate", "nscc", "--on", to / "scenario.yaml", "--trials", 1, "--json").json()
    assert found["rows"][0]["flows_finished"] == 3


@pytest.mark.parametrize("name", ["chain.cm", "two.topo"])
def test_what_is_missing_is_assumed_and_said(lcca: RunCommand, files: Path, name: str) -> None:
    answer = lcca("import", files / name, files / "to")
    assert answer.status == 0 and "assumed: no " in answer.out
    assert lcca("evaluate", "nscc", "--on", files / "to" / "scenario.yaml", "--trials", 1, "--json").status == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["chain.cm", "chain.cm"], "2 of them make flows.csv; take one"),
        (["chain.cm", "start=ms"], "start=ms: must be one of us, ps"),
        (["two.topo", "start=ps"], "start=ps: is of files .cm; leave it out"),
        (["chain.cm", "begin=ps"], "begin=ps: no such setting"),
        (["chain.xyz"], "chain.xyz: no file of another program that is known"),
        (["start=ps"], "name a file of another program, then the folder to write"),
        (["chain.cm", "--pacing", "absolute"], "--pacing: is of .dna files; leave it out"),
    ],
)
def test_what_cannot_be_imported_has_one_line(lcca: RunCommand, files: Path, words: list[str], message: str) -> None:
    named = [str(files / word) if (files / word).exists() else word for word in words]
    answer = lcca("import", *named[:1], *named[1:], files / "to")
    assert answer.status == 2 and message in answer.err and len(answer.err.splitlines()) == 1
    assert not (files / "to").exists()


def test_a_folder_is_never_written_over(lcca: RunCommand, files: Path) -> None:
    assert lcca("import", files / "chain.cm", files / "to").status == 0
    assert "flows.csv: there already" in lcca("import", files / "chain.cm", files / "to").err


def test_several_files_are_no_policy(lcca: RunCommand, files: Path) -> None:
    assert "one .dna file becomes a policy" in lcca("import", files / "chain.cm", "b.cm", files / "to.json").err


def test_files_are_places_by_themselves(lcca: RunCommand, files: Path) -> None:
    """As the scenario that is imported from them, to the bit; what was assumed goes to standard error."""
    lcca("import", files / "chain.cm", files / "to")
    direct = lcca("evaluate", "nscc", "--on", files / "chain.cm", "--trials", 1, "--json")
    written = lcca("evaluate", "nscc", "--on", files / "to" / "scenario.yaml", "--trials", 1, "--json")
    assert direct.json()["rows"] == written.json()["rows"]
    assert "chain.cm: assumed: no topology: a star of 4 hosts" in direct.err
    where = ("--on", files / "chain.cm", "--set", "topology.gbps=10")
    changed = lcca("compare", "nscc", "dctcp", *where, "--trials", 24)
    assert changed.status == 0 and "at another host" in changed.err
    assert lcca("evaluate", "nscc", "--on", files / "two.topo", "--trials", 1).status == 0


def test_scenarios_name_files_of_others(lcca: RunCommand, files: Path) -> None:
    path = files / "own.yaml"
    keys = "topology: {kind: file, links: two.topo}\nworkload: {kind: trace, flows: chain.cm}\n"
    path.write_text(f"name: own\n{keys}", encoding="utf-8")
    found = lcca("evaluate", "dcqcn", "--on", path, "--trials", 1, "--json").json()
    assert found["rows"][0]["flows_finished"] == 3


@pytest.mark.parametrize(
    ("links", "flows", "message"),
    [
        ("two.topo", "two.topo", "own.yaml:3: workload.flows: "),
        ("chain.cm", "chain.cm", "chain.cm: holds no topology; name the file that has it"),
        ("two.topo, hosts: 4", "chain.cm", "two.topo: says which nodes are hosts; leave topology.hosts out"),
        ("zero.txt", "chain.cm", "zero.txt: has hosts after switches; lcca import gives flows their new numbers"),
        ("two.topo", "far.cm", "far.cm: flow 1: dst: host 16 is unknown"),
        ("two.topo", "none.cm", "none.cm: cannot be read"),
        ("two.topo", "a.0.et", "a.0.et: is of one rank; lcca import writes a scenario with those of all ranks"),
    ],
)
def test_scenarios_with_wrong_files_say_so(lcca: RunCommand, files: Path, links: str, flows: str, message: str) -> None:
    (files / "zero.txt").write_text("3 1 2\n0\n1 0 100Gbps 1us 0\n2 0 100Gbps 1us 0\n", encoding="utf-8")
    (files / "far.cm").write_text("Nodes 17\nConnections 1\n0->16 id 1 start 0 size 9\n", encoding="utf-8")
    text = f"name: own\ntopology: {{kind: file, links: {links}}}\nworkload: {{kind: trace, flows: {flows}}}\n"
    (files / "own.yaml").write_text(text, encoding="utf-8")
    answer = lcca("evaluate", "dcqcn", "--on", files / "own.yaml", "--trials", 1)
    assert answer.status == 2 and message in answer.err


def test_a_kept_run_knows_its_file(lcca: RunCommand, files: Path) -> None:
    words = ("evaluate", "nscc", "--on", files / "chain.cm", "--trials", 1, "--out", files / "run")
    assert lcca(*words).status == 0 and lcca(*words).status == 0
    (files / "chain.cm").write_text(CHAIN.replace("1000", "3000"), encoding="utf-8")
    assert lcca(*words).status == 2


def test_sizes_are_no_place(lcca: RunCommand, files: Path) -> None:
    (files / "sizes.txt").write_text("0 0\n1000 100\n", encoding="utf-8")
    assert "is sizes of flows; lcca import writes" in lcca("evaluate", "nscc", "--on", files / "sizes.txt").err
