"""Allocations of one link's time, against solvers that know nothing of polymatroids."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from lcca.evaluation.bounds.allocation import Activity, least_served_first, most_even

Floats = NDArray[np.float64]


def random_activity(seed: int, pieces: int = 12, senders: int = 4) -> Activity:
    """Everyone is on for some time, and nobody at some."""
    rng = np.random.default_rng(seed)
    on = rng.random((pieces, senders)) < 0.4
    on[rng.integers(pieces, size=senders), np.arange(senders)] = True
    return Activity(rng.exponential(1.0, pieces) + 0.01, on)


def proportional_response(activity: Activity, rounds: int = 20_000) -> Floats:
    """What senders get if each bids, of its budget of 1, on every piece what that brought it (Wu and Zhang, 2007)."""
    busy = activity.on.any(axis=1)
    time, on = activity.length_us[busy][:, None], activity.on[busy]
    bids = on / on.sum(axis=0)
    for _ in range(rounds):
        got = time * bids / bids.sum(axis=1, keepdims=True)
        bids = got / got.sum(axis=0)
    return np.asarray(got.sum(axis=0))


@pytest.mark.parametrize("seed", range(8))
def test_the_best_allocation_is_that_of_proportional_response(seed: int) -> None:
    activity = random_activity(seed, pieces=40, senders=7)
    got, gap = most_even(activity)
    assert got == pytest.approx(proportional_response(activity), rel=2e-3)
    assert 0 <= gap < 1e-4


@pytest.mark.parametrize("seed", range(4))
def test_the_best_allocation_is_that_of_a_general_solver(seed: int) -> None:
    activity = random_activity(seed)
    rows, columns = np.nonzero(activity.on)
    free = [(0.0, float(activity.length_us[row])) for row in rows]

    limits = -(rows == np.arange(len(activity.length_us))[:, None]).astype(float)

    def totals(parts: Floats) -> Floats:
        return np.bincount(columns, weights=parts, minlength=4)

    def spent(parts: Floats) -> Floats:
        return activity.length_us - np.bincount(rows, weights=parts, minlength=len(activity.length_us))

    start = (activity.length_us / np.maximum(activity.on.sum(axis=1), 1))[rows] * 0.9
    solved = minimize(
        lambda parts: -np.log(totals(parts)).sum(),
        start,
        jac=lambda parts: -(1 / totals(parts))[columns],
        bounds=free,
        constraints={"type": "ineq", "fun": spent, "jac": lambda _: limits},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert np.log(most_even(activity)[0]).sum() == pytest.approx(-solved.fun, abs=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_all_allocations_are_feasible_and_none_beats_the_best(seed: int) -> None:
    activity = random_activity(seed, pieces=25, senders=6)
    best, gap = most_even(activity)
    causal = least_served_first(activity)
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=activity.on.shape) * activity.on
    shares = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    busy = activity.length_us[activity.on.any(axis=1)].sum()
    for got in (activity.length_us @ shares, activity.share_us, causal, best):
        assert got.sum() == pytest.approx(busy)  # nothing lost, nothing gained
        assert np.log(got).sum() <= np.log(best).sum() + gap + 1e-9
        for chosen in rng.random((10, 6)) < 0.5:  # no set gets more than the time in which one of it is on
            rank = activity.length_us[activity.on[:, chosen].any(axis=1)].sum()
            assert got[chosen].sum() <= rank + 1e-9


def test_who_was_served_least_comes_first() -> None:
    on = np.array([[True, False], [True, True], [True, True]])
    activity = Activity(np.array([3.0, 1.0, 4.0]), on)
    assert least_served_first(activity) == pytest.approx([4.0, 4.0])  # first 3 + 0, then 0 + 1, then (1 + 2 + 1)
    assert activity.share_us == pytest.approx([5.5, 2.5])


def test_many_senders_with_equal_times() -> None:
    activity = Activity(np.array([1.0, 64.0]), np.array([[False] * 64, [True] * 64]))
    got, gap = most_even(activity)
    assert got == pytest.approx(np.ones(64))
    assert gap < 1e-9 and math.isfinite(gap)
