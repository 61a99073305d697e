"""Tail quantiles: by hand, in coverage on processor-sharing completion times, and what is said of few flows."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lcca.evaluation.settling.quantiles import tail_quantile, tail_quantiles
from lcca.studies.cceval.estimators.estimate import mean_over_trials

from .ps_queue import completion_times

P = 0.99
FLOWS = 200  # expected per trial
TRIALS = 20


def test_the_queue_is_the_one_of_theory() -> None:
    for load in (0.3, 0.7):
        times = np.concatenate(completion_times(np.random.default_rng(1), load, 2000 / load, 60))
        assert times.mean() == pytest.approx(1 / (1 - load), rel=0.08)  # whatever the sizes


def test_by_hand() -> None:
    trials = [np.arange(0, 40), np.arange(20, 60), np.arange(40, 100)]
    found = tail_quantile(trials, 0.8)
    pooled = np.sort(np.concatenate(trials))
    assert found.value == pytest.approx(np.quantile(pooled, 0.8))
    beyond = np.array([np.sum(t > found.value) - 0.2 * len(t) for t in trials]) / (1 - np.array([40, 40, 60]) / 140)
    error = math.sqrt(3 * beyond.var(ddof=1)) / 140
    reach = stats.t.ppf(0.975, 2) * error
    assert reach > 0.8 and (found.low, found.high) == (-math.inf, math.inf)  # three such trials bound nothing
    assert (found.trials, found.flows, found.tail_flows) == (3, 140, int(np.sum(pooled > found.value)))


def test_the_interval_by_hand() -> None:
    rng = np.random.default_rng(6)
    trials = [rng.exponential(1, 50) for _ in range(8)]
    found, pooled = tail_quantile(trials, 0.8), np.concatenate(trials)
    beyond = np.array([np.sum(t > found.value) - 10 for t in trials]) / (1 - 1 / 8)
    reach = stats.t.ppf(0.975, 7) * math.sqrt(8 * beyond.var(ddof=1)) / 400
    assert (found.low, found.high) == pytest.approx(np.quantile(pooled, [0.8 - reach, 0.8 + reach]))


@given(
    st.lists(st.lists(st.floats(0.1, 1e6), max_size=60), min_size=1, max_size=12).filter(any),
    st.lists(st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.999]), min_size=1, unique=True).map(sorted),
)
def test_ends_of_a_higher_quantile_are_not_below_those_of_a_lower_one(
    trials: list[list[float]], quantiles: list[float]
) -> None:
    found, alone = tail_quantiles(trials, quantiles), [tail_quantile(trials, p) for p in quantiles]
    assert [each.value for each in found] == [each.value for each in alone]
    for end in ("low", "high"):
        ends = [getattr(each, end) for each in found]
        assert ends == sorted(ends)
    for i, (each, own) in enumerate(zip(found, alone, strict=True)):
        assert own.low <= each.low <= each.value <= each.high <= own.high
        assert each.low in [one.low for one in alone[: i + 1]] and each.high in [one.high for one in alone[i:]]


def test_ends_that_cross_are_put_in_order() -> None:
    """Two trials are alike but for the largest flows, so that the p99.9 is known less well than the p99."""
    trials = [np.arange(1000.0), np.concatenate([np.arange(998.0) + 0.5, [2000, 3000]])]
    low = {p: tail_quantile(trials, p).low for p in (0.5, 0.99, 0.999)}
    assert 960 < low[0.999] < low[0.99]
    assert [each.low for each in tail_quantiles(trials, low)] == [low[0.5], low[0.99], low[0.99]]


def test_mean_of_trials_is_a_t_interval() -> None:
    rng = np.random.default_rng(2)
    trials = [rng.exponential(1, size) for size in (50, 70, 90, 400)]
    each = [float(np.quantile(t, 0.9)) for t in trials]
    low, high = stats.t.interval(0.95, 3, np.mean(each), stats.sem(each))
    assert mean_over_trials(each, 0.95) == pytest.approx((np.mean(each), low, high))


def test_order_within_and_of_trials_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    trials = [rng.exponential(1, 300) for _ in range(12)]
    again = [rng.permutation(t) for t in reversed(trials)]
    a, b = tail_quantile(trials, 0.95), tail_quantile(again, 0.95)
    assert (a.value, a.low, a.high) == (b.value, pytest.approx(b.low), pytest.approx(b.high))


def test_few_tail_flows_are_told() -> None:
    rng = np.random.default_rng(4)
    trials = [rng.exponential(1, 1000) for _ in range(30)]
    assert tail_quantile(trials, 0.99).warning == ""
    warning = tail_quantile(trials, 0.999).warning
    assert warning.startswith("only 30 flows lie beyond the quantile; with fewer than 100")


def test_one_trial_gives_no_interval() -> None:
    found = tail_quantile([[1.0, 2.0, 3.0], []], 0.5)
    assert (found.value, found.low, found.high, found.trials) == (2.0, -math.inf, math.inf, 1)
    assert mean_over_trials([2.0], 0.95) == (2.0, -math.inf, math.inf)


def test_input_is_checked() -> None:
    with pytest.raises(ValueError, match="p must be in"):
        tail_quantile([[1.0]], 1.0)
    with pytest.raises(ValueError, match="confidence must be in"):
        tail_quantile([[1.0]], 0.5, confidence=0)
    with pytest.raises(ValueError, match="no trial has a flow"):
        tail_quantile([[], []], 0.5)
    with pytest.raises(ValueError, match="NaN"):
        tail_quantile([[1.0, math.nan]], 0.5)


def trials_of(load: float, number: int, seed: int) -> list[np.ndarray]:
    return completion_times(np.random.default_rng([seed, int(10 * load)]), load, FLOWS / load, number)


@cache
def truths(load: float) -> tuple[float, float]:
    """The pooled quantile and the mean of trials' quantiles, from many trials."""
    many = trials_of(load, 6000, 99)
    return float(np.quantile(np.concatenate(many), P)), float(np.mean([np.quantile(t, P) for t in many]))


def coverage(load: float, repetitions: int) -> dict[str, float]:
    pooled, of_trials = truths(load)
    alike = stats.norm.isf(0.025) * math.sqrt(P * (1 - P))  # of flows that are independent
    hits = dict.fromkeys(("pooled", "mean-of-trials", "independent flows"), 0)
    for seed in range(repetitions // 100):
        trials = trials_of(load, 100 * TRIALS, seed)
        for at in range(0, len(trials), TRIALS):
            some = trials[at : at + TRIALS]
            found = tail_quantile(some, P)
            _, low, high = mean_over_trials([float(np.quantile(t, P)) for t in some], 0.95)
            flows = np.concatenate(some)
            ends = np.quantile(flows, [P - alike / math.sqrt(flows.size), P + alike / math.sqrt(flows.size)])
            hits["pooled"] += found.low <= pooled <= found.high
            hits["mean-of-trials"] += low <= of_trials <= high
            hits["independent flows"] += ends[0] <= pooled <= ends[1]
    return {name: count / repetitions for name, count in hits.items()}


@pytest.mark.slow
def test_coverage_in_short() -> None:
    found = coverage(0.7, 100)
    assert found["pooled"] >= stats.binom.ppf(0.001, 100, 0.95) / 100
    assert found["independent flows"] < found["pooled"] - 0.1  # why trials are clusters


@pytest.mark.full
@pytest.mark.parametrize("load", [0.3, 0.7])
def test_coverage_on_processor_sharing(load: float) -> None:
    found = coverage(load, 1000)
    assert found["pooled"] >= 0.93
    assert found["mean-of-trials"] >= 0.87  # quantiles of single trials are skewed, and 20 of them are few
    assert found["independent flows"] < 0.92


@pytest.mark.slow
def test_the_two_quantities_differ_and_short_trials_are_lower() -> None:
    pooled, of_trials = truths(0.7)
    assert of_trials < 0.93 * pooled
    short = completion_times(np.random.default_rng(5), 0.7, 10, 20_000)
    assert np.quantile(np.concatenate(short), P) < 0.6 * pooled
