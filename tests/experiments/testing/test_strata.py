"""Campaigns on several spaces: learnt on all of them in turn, and what signal sets are worth on each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.comparison.sets import SeedInterval
from lcca.evaluation.report.sections.differences import strata
from lcca.evaluation.scenarios.spaces import NetworkSpaces
from lcca.evaluation.trials.store import TrialStore
from lcca.evaluation.trials.tables import RunTables
from lcca.experiments.campaign.config import read_campaign
from lcca.experiments.testing.ns3 import _space
from lcca.inputs.errors import InputError

SEEDS = (1, 2, 3, 4, 5)
CAMPAIGN = """\
name: strata
networks:
  spaces:
    - space.yaml
    - {networks: space.yaml, topology: line, weight: 2}
    - {networks: [{link_rate: 2, rtt: 10, senders: 3, buffer: 50, mean_on: 400, mean_off: 100}], name: hard}
signal_sets: [e2e, link]
trainer: {kind: law, networks: 4, population: 4, check_networks: 4, stages: [{trials: 64, features: own}, {trials: 64}]}
training_seeds: [1, 2, 3, 4, 5]
validation: {networks: 4}
test: {pairs: 64, at_least: 64, block: 64, per_training_seed: 128}
settle: {alpha: 0.3}
"""
SPACE = """\
link_rate: {min: 1, max: 4, levels: 5}
rtt: 10
senders: {min: 1, max: 4, step: 1}
buffer: 50
mean_on: 400
mean_off: 100
duration: 800
"""


def campaign(folder: Path, text: str = CAMPAIGN) -> Path:
    """Write a campaign with its space, and return its file."""
    (folder / "space.yaml").write_text(SPACE)
    (folder / "strata.yaml").write_text(text)
    return folder / "strata.yaml"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign."""
    from lcca.experiments.recipes import sweep as sweep_run

    folder = tmp_path_factory.mktemp("strata")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep_run, "render", lambda folder, costs: (folder / "report.html").touch())
        sweep_run.sweep(campaign(folder), out=folder / "run", jobs=2)
    return folder / "run"


@pytest.mark.slow
def test_sets_are_compared_on_each_part(run: Path) -> None:
    trials = TrialStore(run / "trials").all("trainings-test")
    assert dict(trials.groupby("stratum").size()) == {"dumbbell": 320, "line": 640, "hard": 320}  # 128 × 2 sets × 5
    scores = trials.assign(seed=trials["policy"].str[-1].astype(int), set=trials["policy"].str.split(".").str[0])
    means = scores.groupby(["stratum", "set", "seed"])["score_bits"].mean()
    summary = json.loads((run / "summary.json").read_text())
    rows = {(row["stratum"], row["name"]): row for row in summary["strata"]}
    assert set(rows) == {(part, name) for part in ("dumbbell", "line", "hard") for name in ("e2e", "link")}
    for (part, name), row in rows.items():
        own = means[part, name]
        assert row["scores_bits"] == pytest.approx(list(own)) and row["score_bits_sd"] == pytest.approx(own.std())
        if name == "link":
            expected = SeedInterval.of(own - means[part, "e2e"], 0.3 / 3)  # one comparison on each of three parts
            ends = [row["comparison"][key] for key in ("difference", "low", "high", "condition")]
            assert ends == [*(pytest.approx(each) for each in (expected.mean, expected.low, expected.high)), part]
    for whole in summary["signal_sets"]:
        parts = [rows[part, whole["name"]]["score_bits"] for part in ("dumbbell", "line", "hard")]
        assert whole["score_bits"] == pytest.approx(np.average(parts, weights=[1, 2, 1]))
    shown = strata(RunTables.load(run))
    assert shown is not None and len(list(shown.tables[0].rows)) == 6 and shown.data is not None


@pytest.mark.slow
def test_trials_of_a_part_are_those_of_its_space(run: Path) -> None:
    """The columns of the network, in a table that is read back."""
    trials = TrialStore(run / "trials").all("trainings-test")
    hops = trials.groupby("stratum")["topology"].unique().map(list)
    assert dict(hops) == {"dumbbell": ["dumbbell"], "line": ["line"], "hard": ["dumbbell"]}
    hard = trials[trials["stratum"] == "hard"]
    assert set(zip(hard["link_rate"], hard["senders"], strict=True)) == {(2.0, 3)}
    rates = trials.loc[trials["stratum"] == "line", "link_rate"]
    assert sorted(pd.unique(rates)) == pytest.approx([1, 2**0.5, 2, 2**1.5, 4], rel=1e-5)


def test_all_parts_know_the_bytes_of_packets(tmp_path: Path) -> None:
    own = read_campaign(campaign(tmp_path), ["packet_bytes=1000", "networks.spaces.0.buffer=50 kB"]).networks
    assert isinstance(own, NetworkSpaces) and [each.packets for each in own.parts] == [{1000}] * 3
    assert {n.buffer for n in own.draw(1, 64)} == {50} and {n.packet_bytes for n in own.draw(1, 64)} == {1000}
    (tmp_path / "space.yaml").write_text(SPACE + "packet_bytes: 999\n")
    file = tmp_path / "said.yaml"
    file.write_text(CAMPAIGN.replace("mean_off: 100}]", "mean_off: 100, packet_bytes: 999}]"))
    assert read_campaign(file).packet_bytes == 999


def test_ns3_runs_the_topologies_of_the_parts(tmp_path: Path) -> None:
    ns3: list[str] = ["validation.ns3.topologies=[own]"]
    config = read_campaign(campaign(tmp_path), ns3)
    assert _space(_Run(config), "own") is config.networks
    with pytest.raises(InputError, match=r"validation\.ns3\.topologies: the parts of networks have .* \[own\]"):
        read_campaign(campaign(tmp_path), ["validation.ns3.finalists=1"])
    one = read_campaign(
        campaign(tmp_path), [f"networks={tmp_path / 'space.yaml'}", "validation.ns3.topologies=[own, line]"]
    )
    assert str(_space(_Run(one), "line").topology) == "line"


class _Run:
    """A run, as far as its configuration goes."""

    def __init__(self, config: Any) -> None:
        self.config = config
