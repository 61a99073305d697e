"""Repeated trials of the selected policies on single networks, as a phase of a campaign."""

import json
from pathlib import Path

import pytest

from lcca.evaluation.trials.layout import part_file, part_name, part_names
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.campaign.config import read_campaign
from lcca.experiments.runs.seeds import derive

from ...fixtures import RunCommand

WHERE = ("--set", "per_network={networks: 5, seeds: 3}", "--set", "trainer.rounds=1", "--set", "test.pairs=20")
PART = part_name("per-network", "default")


@pytest.fixture
def run(lcca: RunCommand, tiny: Path, no_report: None) -> Path:
    run = tiny.parent / "run"
    assert lcca("sweep", tiny, "--out", run, *WHERE).status == 0
    return run


@pytest.mark.slow
def test_selected_policies_meet_every_network_with_every_seed(run: Path) -> None:
    rows = TrialStore(run / "trials").read(PART)
    summary = json.loads((run / "summary.json").read_text())
    assert set(rows["policy"]) == {p["id"] for p in summary["policies"] if p["selected"]}
    assert (rows.groupby(["policy", "network", "seed"]).size() == 1).all()
    assert rows["network"].nunique() == 5 and rows["seed"].nunique() == 3
    assert set(rows["phase"]) == {"per-network"} and set(rows["status"]) == {"ok"}


@pytest.mark.slow
def test_its_networks_and_seeds_are_no_other_phases(run: Path) -> None:
    store = TrialStore(run / "trials")
    seeds = set(store.read(PART)["seed"])
    for phase in ("test", "validation"):
        assert seeds.isdisjoint(store.all(phase)["seed"])
    config = read_campaign(run / "config.yaml")
    networks = config.network_space.draw(derive(config.seed, "where"), 5)
    listed = store.read(PART).drop_duplicates("network")
    assert listed["network"].tolist() == [n.id for n in networks]
    assert listed["rtt"].tolist() == [n.rtt for n in networks]


@pytest.mark.slow
def test_they_are_run_once_and_counted(run: Path, tiny: Path, lcca: RunCommand) -> None:
    costs = {cost["name"]: cost["trials"] for cost in json.loads((run / "costs.json").read_text())["phases"]}
    assert costs["per-network"] == 2 * 5 * 3
    part = part_file(run / "trials", PART)
    before, when = part.read_bytes(), part.stat().st_mtime_ns
    (run / "summary.json").unlink()
    assert lcca("sweep", tiny, "--out", run, *WHERE).status == 0
    assert part.stat().st_mtime_ns == when
    part.unlink()
    (run / "summary.json").unlink()
    assert lcca("sweep", tiny, "--out", run, *WHERE).status == 0
    assert part.read_bytes() == before


def test_a_campaign_without_it_has_none(finished: Path) -> None:
    assert not part_names(finished / "trials", "per-network")
