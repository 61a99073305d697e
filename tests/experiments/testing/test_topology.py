"""Topologies from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from lcca.evaluation.trials.store import TrialStore
from lcca.remy_plus.topology import KINDS

from ...fixtures import RunCommand

ROOT = Path(__file__).parents[3]
SPACE = ROOT / "configs" / "networks" / "default.yaml"
NETWORKS = """\
- {link_rate: 3.0, rtt: 27, senders: 4, buffer: 225, mean_on: 900, mean_off: 300, loss: 0.001}
- {link_rate: 3.0, rtt: 27, senders: 4, buffer: 225, mean_on: 900, mean_off: 300, loss: 0.001, topology: line}
"""


@pytest.fixture
def networks(tmp_path: Path) -> Path:
    path = tmp_path / "networks.yaml"
    path.write_text(NETWORKS)
    return path


def test_evaluate_names_the_topology_of_each_network(lcca: RunCommand, networks: Path) -> None:
    command = ("evaluate", "aimd", "--on", networks, "--seeds", 2, "--set", "duration=2000", "--json")
    rows = lcca(*command).json()["policies"]
    assert [row["topology"] for row in rows] == ["dumbbell", "line"]
    assert rows[0]["score_bits"] != rows[1]["score_bits"]


@pytest.mark.parametrize("kind", KINDS)
def test_evaluate_on_another_topology(lcca: RunCommand, networks: Path, kind: str) -> None:
    command = ("evaluate", "aimd", "--on", networks, "--seeds", 2, "--set", "duration=2000", "--json")
    rows = lcca(*command, "--set", f"topology={kind}").json()["policies"]
    assert [row["topology"] for row in rows] == [kind, kind]


def test_options_of_a_topology(lcca: RunCommand, networks: Path) -> None:
    command = ("evaluate", "aimd", "--on", networks, "--seeds", 1, "--set", "duration=2000", "--json")
    name = "reverse-path:reverse_senders=1,one_way"
    assert {row["topology"] for row in lcca(*command, "--set", f"topology={name}").json()["policies"]} == {name}


@pytest.mark.slow
def test_compare_on_another_topology(lcca: RunCommand) -> None:
    command = ("compare", "aimd", "fixed-window:20", "--on", SPACE, "--set", "duration=1000", "--trials", 96, "--json")
    plain, line = lcca(*command).json(), lcca(*command, "--set", "topology=line").json()
    assert plain["comparisons"][0]["difference"] != line["comparisons"][0]["difference"]


def test_an_unknown_topology_is_told(lcca: RunCommand) -> None:
    answer = lcca("compare", "aimd", "fixed-window:9", "--on", SPACE, "--set", "topology=rings")
    assert answer.status == 2 and "unknown kind 'rings'" in answer.err


@pytest.mark.slow
def test_sweep_on_another_topology(lcca: RunCommand, tiny: Path, tmp_path: Path, no_report: None) -> None:
    out = tmp_path / "out"
    answer = lcca("sweep", tiny, "--out", out, "--set", "networks.topology=line", "--set", "trainer.rounds=1", "--json")
    assert answer.status == 0, answer.err
    assert set(TrialStore(out / "trials").all("test")["topology"]) == {"line"}
    assert "topology: line" in (out / "config.yaml").read_text()
