"""All trainings under other conditions, each training seed on networks of its own: signal sets over training seeds."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.bounds.ideals import ideal_scores
from lcca.evaluation.comparison.network_shares import network_shares
from lcca.evaluation.comparison.sets import SeedInterval
from lcca.evaluation.settling.rules import SettlingRule
from lcca.evaluation.trials.layout import part_names
from lcca.evaluation.trials.store import TrialStore
from lcca.evaluation.trials.utilities import DEFAULT
from lcca.experiments.campaign.config import read_campaign
from lcca.experiments.learning.cache import TrainingCache
from lcca.experiments.testing.forecast import forecast
from lcca.experiments.testing.groups import Group
from lcca.experiments.testing.summary import over_seeds

from ...fixtures import TINY

SEEDS = (1, 2, 3, 4, 5)
CAMPAIGN = (
    TINY.replace("[1, 2]", str(list(SEEDS))).replace("pairs: 96", "pairs: 20")
    + """\
settle: {alpha: 0.3}
per_network: {networks: 8, seeds: 3}
generalisation:
  - {name: line, topology: line, pairs: 20}
  - {name: fast, networks: {link_rate: 9, rtt: 5, senders: 2, buffer: 50, mean_on: 200, mean_off: 100, loss: 0,
     duration: 900}, pairs: 20, per_training_seed: 30}
  - {name: selected, topology: line, pairs: 20, per_training_seed: 0}
"""
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign with five training seeds, of which two signal sets learn different policies."""
    from lcca.experiments.recipes import sweep as sweep_run

    folder = tmp_path_factory.mktemp("own-networks")
    (folder / "all.yaml").write_text(CAMPAIGN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep_run, "render", lambda folder, costs: (folder / "report.html").touch())
        sweep_run.sweep(folder / "all.yaml", out=folder / "run", jobs=2)
    return folder / "run"


def summary(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "summary.json").read_text())
    return found


def stored(run: Path, phase: str, *words: str) -> dict[int, pd.DataFrame]:
    """Return the trials of a phase by training seed."""
    store = TrialStore(run / "trials")
    return {int(name.rpartition(",")[2]): store.read(name) for name in part_names(store.folder, phase, *words)}


@pytest.mark.slow
@pytest.mark.parametrize("condition", ["line", "fast"])
def test_signal_sets_are_compared_over_training_seeds(run: Path, condition: str) -> None:
    trials = stored(run, "generalisation-trainings", "default", condition)
    (record,) = [each for each in summary(run)["generalisation"] if each["condition"] == condition]
    found, *others = record["comparisons"]
    assert (found["level"], found["A"], found["B"], found["n"]) == ("set", "loss+rtt", "loss+queue", 5)
    assert [each["level"] for each in others] == ["policy"]
    means = {seed: rows.groupby("policy")["score_bits"].mean() for seed, rows in trials.items()}
    by_hand = [means[s][f"loss+queue.default.s{s}"] - means[s][f"loss+rtt.default.s{s}"] for s in SEEDS]
    expected = SeedInterval.of(by_hand, 0.3 / 2)  # one comparison under each of two conditions; a third one has none
    assert np.std(by_hand) > 0
    ends = [found[key] for key in ("difference", "low", "high")]
    assert ends == pytest.approx([expected.mean, expected.low, expected.high])
    averages = [record["mean_score_bits_over_seeds"][name] for name in ("loss+rtt", "loss+queue")]
    assert averages[1] - averages[0] == pytest.approx(expected.mean)


@pytest.mark.slow
def test_policies_of_a_training_seed_meet_the_same_networks_which_are_its_own(run: Path) -> None:
    for phase, words, size in (
        ("generalisation-trainings", ("default", "line"), 32),
        ("generalisation-trainings", ("default", "fast"), 32),
        ("per-network-trainings", ("default",), 8),
    ):
        met: set[int] = set()
        for seed, rows in stored(run, phase, *words).items():
            networks = {name: set(each["network"]) for name, each in rows.groupby("policy")}
            own = networks[f"loss+rtt.default.s{seed}"]
            assert len(own) == size and all(each == own for each in networks.values()) and not met & own
            met |= own
        assert len(met) == size * len(SEEDS)
    pairs = TrialStore(run / "trials")
    selected, trained = (set(pairs.all(name)["seed"]) for name in ("generalisation", "generalisation-trainings"))
    assert selected.isdisjoint(trained)


@pytest.mark.slow
def test_none_are_run_where_none_are_wanted(run: Path) -> None:
    assert not part_names(run / "trials", "generalisation-trainings", "default", "selected")
    (record,) = [each for each in summary(run)["generalisation"] if each["condition"] == "selected"]
    assert [each["level"] for each in record["comparisons"]] == ["policy"]


@pytest.mark.slow
def test_signal_sets_stand_beside_the_fair_share(run: Path) -> None:
    found = summary(run)
    (ideal,) = found["ideal"]
    space = read_campaign(run.parent / "all.yaml").network_space
    fair = np.mean([ideal_scores(space.draw(3, 400), [s], DEFAULT, space.duration)["fair_bits"].mean() for s in (1, 2)])
    assert ideal["fair_bits"] == pytest.approx(fair, abs=0.05)
    base, *others = ideal["signal_sets"]
    means = {row["name"]: row["score_bits"] for row in found["signal_sets"]}
    assert {row["name"]: row["score_bits"] for row in (base, *others)} == means and len(others) > 0
    assert base["gap_closed"] is None
    for row in others:
        gained = row["score_bits"] - base["score_bits"]
        assert row["below_fair_bits"] == pytest.approx(ideal["fair_bits"] - row["score_bits"])
        assert row["gap_closed"] == pytest.approx(gained / base["below_fair_bits"])


def test_one_training_seed_is_no_signal_set_beside_the_fair_share() -> None:
    scores = {"e2e": {1: 3.0, 2: 3.2}, "link": {1: 3.3, 2: 3.1}, "lost": {}}
    group: Any = SimpleNamespace(training_seeds=[1, 2], selected=scores, by_seed=scores.get, baseline="e2e")
    rows = over_seeds(group, 3.5)["signal_sets"]
    assert [row["score_bits"] for row in rows] == [pytest.approx(3.1), pytest.approx(3.2), None]
    assert [row["gap_closed"] for row in rows] == [None, pytest.approx(0.25), None]
    assert over_seeds(group, None)["signal_sets"][1]["below_fair_bits"] is None
    group.training_seeds = [1]
    assert over_seeds(group, 3.5) == {}


@pytest.mark.slow
def test_shares_of_networks_over_training_seeds(run: Path) -> None:
    trials = stored(run, "per-network-trainings", "default")
    rows = {(row["A"], row["B"], row["metric"]): row for row in summary(run)["per_network"]}
    better, luck = [], []
    for seed, met in trials.items():
        base, queue = f"loss+rtt.default.s{seed}", f"loss+queue.default.s{seed}"
        before = {f"loss+rtt.default.s{seed - 1}"} if seed > 1 else set()
        assert set(met["policy"]) == {base, queue} | before
        found = network_shares(met, base, [queue, *before])
        shares = [row.better.percent for row in found if row.A == base and row.metric == "score_bits"]
        better.append(shares[0])
        luck += shares[1:]
    assert len(set(better)) > 1
    for name, shares in (("loss+queue", better), ("loss+rtt", luck)):
        told = rows["loss+rtt", name, "score_bits"]
        assert told["training_seeds"] == len(shares)
        assert told["better_percent"]["mean"] == pytest.approx(np.mean(shares))
    assert len(rows) == 2 * 3


@pytest.mark.slow
def test_the_plan_counts_every_trial(run: Path) -> None:
    config = read_campaign(run.parent / "all.yaml")
    costs = {each["name"]: each["trials"] for each in json.loads((run / "costs.json").read_text())["phases"]}
    planned = forecast(config, TrainingCache(None), jobs=1)
    by_rules = len(SEEDS) * 2 * 48  # how many numbers of rules will be compared is not known of a search
    least, most = (end.tests for end in planned.ends)
    assert least <= sum(costs.values()) - costs["training"] - by_rules == most


def test_a_training_seed_without_trials_that_succeeded_is_left_out() -> None:
    """Its mean would be no number, which summary.json does not have."""
    names = [(name, seed) for seed in (1, 2, 3) for name in ("e2e", "link")]
    found = [_chosen(name, seed) for name, seed in names]
    rows = [
        {"policy": f"{name}.s{seed}", "network": 10 * seed + i, "score_bits": seed + i * (name == "link"),
         "status": "failed" if (name, seed) == ("link", 2) else "ok"}
        for name, seed in names for i in range(3)
    ]  # fmt: skip
    rule, selected = SettlingRule(), {c.learner.signals.name: c for c in found[:2]}
    group = Group(DEFAULT, "e2e", rule, 16, found, selected, pd.DataFrame(rows))
    assert group.by_seed("e2e") == {1: 1, 3: 3} and group.by_seed("link") == {1: 2, 3: 4}
    (compared,) = group.compare_all_candidates(1)
    assert compared.n == 2 and compared.difference == 1


def _chosen(name: str, seed: int) -> Any:
    signals = SimpleNamespace(name=name)
    candidate = SimpleNamespace(costs=False)
    learner = SimpleNamespace(id=f"{name}.s{seed}", training_seed=seed, signals=signals, candidate=candidate)
    return SimpleNamespace(learner=learner, endings=("",), by_rules={})
