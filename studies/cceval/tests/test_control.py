"""Control variates: against least squares by NumPy, closed forms, and means that are known."""

import numpy as np
import pytest

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.space import FabricSpace, FabricTrials
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.signal_sets.load import resolve
from lcca.studies.cceval.estimators.control import Controlled, best_per_trial, control_mean, crossed_slopes
from lcca.studies.cceval.estimators.estimate import EstimateConfig, Floats

TRUTH = np.exp(0.5 * 0.6**2)  # mean of the lognormal values below


def pairs(rng: np.random.Generator, count: int, alike: float = 0.9) -> tuple[Floats, Floats]:
    """Return skewed values of dear and cheap trials; those of cheap ones have another mean and scale."""
    first, own = rng.standard_normal((2, count))
    second = alike * first + np.sqrt(1 - alike**2) * own
    return np.exp(0.6 * first), 3 * np.exp(0.4 * second) - 1


def test_slopes_are_those_of_all_other_folds() -> None:
    full, cheap = pairs(np.random.default_rng(1), 34)
    found = crossed_slopes(full, cheap)
    for i in range(34):
        others = np.arange(34) % 10 != i % 10
        assert found[i] == pytest.approx(np.polyfit(cheap[others], full[others], 1)[0], rel=1e-9)
    assert crossed_slopes(full, np.ones(34)).tolist() == [0.0] * 34


def test_what_the_cheap_ones_tell_exactly_has_only_their_error() -> None:
    rng = np.random.default_rng(2)
    _, cheap = pairs(rng, 20)
    _, others = pairs(rng, 400)
    found = control_mean(2 * cheap + 3, cheap, others)
    assert found.estimate == pytest.approx(2 * others.mean() + 3, rel=1e-9)
    assert np.sqrt(found.variance) == pytest.approx(2 * others.std(ddof=1) / 20, rel=1e-6)


def test_what_they_tell_nothing_of_is_a_plain_mean() -> None:
    full, _ = pairs(np.random.default_rng(3), 30)
    found = control_mean(full, np.ones(30), np.ones(50))
    assert found.estimate == pytest.approx(full.mean()) and found.beta == 0
    assert found.variance == pytest.approx(full.var(ddof=2) / 30)


@pytest.mark.parametrize(("found", "cost"), [(0.3, 0.05), (0.9, 0.05), (0.99, 0.001), (0.9, 2.5)])
def test_the_best_number_has_the_least_variance_times_cost(found: float, cost: float) -> None:
    k = np.geomspace(1, 1000, 20_000)
    spent = (1 - found**2 + found**2 / k) * (1 + cost + k * cost)
    assert best_per_trial(found, cost) == pytest.approx(k[spent.argmin()], rel=2e-3)


@pytest.mark.slow
def test_the_estimate_is_unbiased_and_its_interval_covers() -> None:
    """Of 12 lognormal values; a β from the same pairs, by NumPy's least squares, is biased, and that is seen here."""
    rng, estimates, covered, repetitions = np.random.default_rng(4), [], 0, 4000
    own: list[float] = []
    for _ in range(repetitions):
        full, cheap = pairs(rng, 12)
        rest = pairs(rng, 24)[1]
        found = control_mean(full, cheap, rest)
        estimates.append(found.estimate)
        covered += found.low <= TRUTH <= found.high
        own.append(full.mean() - np.polyfit(cheap, full, 1)[0] * (cheap.mean() - rest.mean()))
    error = np.std(estimates) / np.sqrt(repetitions)
    assert abs(np.mean(estimates) - TRUTH) < 3.5 * error
    less = np.array(own) - estimates
    assert np.mean(less) < -3.5 * np.std(less) / np.sqrt(repetitions)  # why β is crossed
    assert 0.92 < covered / repetitions < 0.97


def test_an_estimation_takes_as_many_cheap_ones_as_are_best() -> None:
    rng, asked = np.random.default_rng(5), []

    def others(count: int) -> Floats:
        asked.append(count)
        return pairs(np.random.default_rng(6), 100_000)[1][:count]

    config = EstimateConfig(metric="slowdown", quantile=0.99, target="mean-of-trials", accuracy_percent=3)
    going = Controlled(config, others, None, 0.05)
    state = going.feed(np.stack(pairs(rng, 2000), axis=1))
    told = going.to_json()
    assert going.accurate and state.low <= TRUTH <= state.high
    assert asked[0] == np.ceil(20 * going.per_trial) and going.cheap_trials == np.ceil(state.trials * going.per_trial)
    assert told["variance_ratio"] < 0.4 and told["plain"]["low"] < told["plain"]["estimate"]
    assert state.forecast_low <= state.trials <= state.forecast_high


@pytest.mark.full
def test_intervals_on_a_small_fabric_cover() -> None:
    """Groups of 12 of 2,400 trials; the truth is the mean of all of them, whose error is a fourteenth of a group's."""
    content = {
        "name": "tiny",
        "topology": {"kind": "star", "hosts": 6},
        "workload": {"kind": "poisson", "sizes": "websearch", "load": 0.6, "load_of": "host-links"},
        "duration_us": 100,
    }
    space = FabricSpace(fabric=FabricScenario.model_validate(content))
    policies = {"policy": resolve("dctcp", "fabric").policy}

    def values(name: str, seed: int, count: int) -> Floats:
        source = FabricTrials(space, seed, fabric_utility("slowdown"), simulator=name)
        return source.rows(policies, Block(0, 0, count))["slowdown_mean"].to_numpy(dtype=np.float64)

    full, cheap, others = values("fabric", 1, 2400), values("fluid", 1, 2400), values("fluid", 10**6, 4800)
    truth, there = np.nanmean(full), ~np.isnan(full)
    assert np.isnan(cheap).tolist() == (~there).tolist()
    covered, narrower = 0, []
    for group in range(200):
        mine, rest = np.arange(12) + 12 * group, others[24 * group : 24 * group + 24]
        mine = mine[there[mine]]
        found = control_mean(full[mine], cheap[mine], rest[~np.isnan(rest)])
        covered += found.low <= truth <= found.high
        narrower.append(found.variance / (full[mine].var(ddof=1) / mine.size))
    assert 0.90 <= covered / 200 <= 0.985
    assert np.median(narrower) < 0.8
