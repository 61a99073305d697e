"""The paired rule that stops candidates: its error rate, its power, and what a stopped candidate scores."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lcca.evaluation.trials.utilities import utility
from lcca.remy_plus.policies.policy import FixedWindow, Policy
from lcca.trainers.tune.config import Race
from lcca.trainers.tune.race import Objective, Runner, is_worse, mean_score, race

NETWORKS = 48


def stopped_at(rng: np.random.Generator, shift: float) -> int | None:
    """Return after how many networks a candidate with normal differences of spread 1 is stopped, if it is."""
    differences = rng.normal(shift, 1, NETWORKS).tolist()
    return next((n for n in range(8, NETWORKS, 8) if is_worse(differences[:n], NETWORKS, 0.05)), None)


def test_equals_and_betters_are_seldom_stopped() -> None:
    rng = np.random.default_rng(1)
    assert sum(stopped_at(rng, 0) is not None for _ in range(600)) <= 0.05 * 600
    assert sum(stopped_at(rng, 0.3) is not None for _ in range(200)) <= 2


def test_clear_losers_are_stopped_early() -> None:
    rng = np.random.default_rng(2)
    found = [stopped_at(rng, -1) for _ in range(200)]
    assert sum(n is not None for n in found) > 190
    assert np.median([n for n in found if n is not None]) <= 24


@pytest.mark.parametrize("differences", [[], [-1.0], [-1.0] * 20, [math.nan] * 9])
def test_nothing_is_settled_without_a_spread(differences: list[float]) -> None:
    assert not is_worse(differences, NETWORKS, 0.05)


def test_score_of_a_stopped_candidate_allows_for_easy_networks() -> None:
    incumbent = [1.0, 2.0, 3.0, 4.0, math.nan]
    assert mean_score(incumbent) == 2.5
    assert mean_score([0.5, 1.5], incumbent) == 2.0  # half a bit worse on the two easiest
    assert mean_score([0.0, 0.0, 0.0, 4.0, 0.0], incumbent) == 0.8
    assert math.isnan(mean_score([math.nan]))


SOURCE: Any = SimpleNamespace(utility=utility("default"), unit="networks")


@dataclass(frozen=True)
class Synthetic(Objective):
    """Scores of fixed windows without a simulator: best at 12 packets, the same noise for all."""

    def run(self, policies: Sequence[Policy], begin: int, end: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        noise = np.random.default_rng(7).normal(0, 1, NETWORKS)[begin:end]
        own = np.array([np.random.default_rng(p.window).normal(0, 0.2, NETWORKS) for p in policies])[:, begin:end]
        windows = np.array([[p.window] for p in policies])
        return noise + own - ((windows - 12) / 10) ** 2, np.zeros(len(policies), dtype=np.int64)


def objective(rule: Race | None = None) -> Synthetic:
    return Synthetic(SOURCE, NETWORKS, rule)


def test_race_stops_losers_only_and_asks_for_no_network_twice() -> None:
    found = objective(Race())
    incumbent = found.run([FixedWindow(12)], 0, NETWORKS)[0][0].tolist()
    runners = [Runner(i, FixedWindow(window)) for i, window in enumerate((11, 30, 13, 12))]
    seen: list[tuple[int, int]] = []
    race(found, runners, incumbent, lambda runner: seen.append((runner.number, len(runner.scores))))
    assert [r.stopped for r in runners] == [False, True, False, False]
    assert len(runners[0].scores) == NETWORKS and len(runners[1].scores) < NETWORKS
    assert len(seen) == len(set(seen))
    again = Runner(1, FixedWindow(30), list(runners[1].scores[:8]))
    race(found, [again], incumbent)
    assert again.scores == runners[1].scores and again.stopped


def test_without_a_rule_all_meet_all_networks() -> None:
    found = objective(None)
    loser = Runner(0, FixedWindow(60))
    race(found, [loser], [0.0] * NETWORKS)
    assert len(loser.scores) == NETWORKS and not loser.stopped


def test_floor_is_that_of_starved_senders() -> None:
    assert objective().floor == pytest.approx(-15)
