"""The strategy on functions whose optimum, gradient and noise are known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lcca.trainers.rplus.evolution import Evolution, gradient, half_differences

Floats = NDArray[np.float64]

SHAPE = (5, 3)
ALL = np.ones((64, 5), dtype=bool)


def parabola(point: Floats, optimum: Floats, curvature: Floats) -> Floats:
    return -(curvature * (point - optimum) ** 2).sum(axis=(-2, -1)) / 2


def climbed(seed: int, noise: float, generations: int = 400, sigma: float = 0.3) -> tuple[Evolution, Floats]:
    """Climb a parabola whose curvatures differ by a factor of 100, its trials noisy but not the same noise twice."""
    rng = np.random.default_rng(seed)
    optimum, curvature = rng.uniform(-3, 3, SHAPE), 10 ** rng.uniform(-1, 1, SHAPE)
    evolution = Evolution.at(np.zeros(SHAPE))
    for generation in range(generations):
        directions = rng.standard_normal((64, *SHAPE))
        above, below = (
            parabola(evolution.point + sign * sigma * directions, optimum, curvature) + noise * rng.normal(size=64)
            for sign in (1, -1)
        )
        step = 0.2 * (0.01 / 0.2) ** (generation / generations)
        evolution.climb(gradient(half_differences(above, below), ALL, directions, sigma), step)
        if 2 * generation >= generations:
            evolution.count()
    return evolution, evolution.point - optimum


@pytest.mark.parametrize("seed", [1, 2])
def test_it_finds_the_optimum_of_a_parabola(seed: int) -> None:
    assert np.abs(climbed(seed, noise=0)[1]).max() < 0.05


@pytest.mark.parametrize("seed", [1, 2])
def test_it_finds_the_optimum_in_noise_where_the_function_is_curved(seed: int) -> None:
    evolution, missed = climbed(seed, noise=0.5)
    assert np.abs(missed).mean() < 0.25
    assert np.abs(evolution.average - evolution.point).max() < 0.7


def test_the_gradient_is_that_of_the_smoothed_function() -> None:
    """For a linear function with noise: mean and variance of the estimate follow from theory.

    f = a·z + ε with ε of variance v: each pair contributes (a·s + δ/σ)·s with δ of variance v/2, so that coordinate i
    has mean a_i and variance (|a|² + a_i² + v/(2σ²)) / pairs.
    """
    rng, pairs, sigma, noise = np.random.default_rng(3), 64, 0.6, 0.4
    slope = rng.normal(size=SHAPE)
    found = []
    for _ in range(3000):
        directions = rng.standard_normal((pairs, *SHAPE))
        along = sigma * np.tensordot(directions, slope, 2)
        halves = along + noise * (rng.normal(size=pairs) - rng.normal(size=pairs)) / 2
        found.append(gradient(halves, ALL, directions, sigma))
    variance = ((slope**2).sum() + slope**2 + noise**2 / (2 * sigma**2)) / pairs
    error = np.sqrt(variance / len(found))
    assert (np.abs(np.mean(found, axis=0) - slope) < 5 * error).all()
    np.testing.assert_allclose(np.var(found, axis=0), variance, rtol=0.15)


def test_even_parts_of_a_function_cancel() -> None:
    directions = np.random.default_rng(1).standard_normal((64, *SHAPE))
    even = parabola(directions, np.zeros(SHAPE), np.ones(SHAPE))
    assert (gradient(half_differences(even, even), ALL, directions, 0.5) == 0).all()


def test_a_rule_has_no_share_of_pairs_that_do_not_use_it() -> None:
    rng = np.random.default_rng(2)
    directions, used, halves = rng.standard_normal((64, *SHAPE)), rng.random((64, 5)) < 0.3, rng.normal(size=64)
    used[:, 3] = False
    found = gradient(halves, used, directions, 0.5)
    assert (found[3] == 0).all() and (found[:3] != 0).all()
    alone = gradient(np.where(used[:, 0], halves, 0), ALL, directions, 0.5)
    np.testing.assert_allclose(found[0], alone[0])


def test_outliers_are_cut_and_nothing_else() -> None:
    above = np.array([1.0, -2.0, 3.0, 400.0, -1.0])
    assert half_differences(above, np.zeros(5)).tolist() == [0.5, -1, 1.5, 3, -0.5]


def test_steps_do_not_depend_on_the_size_of_the_gradient() -> None:
    one, other = Evolution.at(np.zeros(3)), Evolution.at(np.zeros(3))
    for g in np.random.default_rng(1).normal(size=(20, 3)):
        one.climb(g, 0.1)
        other.climb(1000 * g, 0.1)
    np.testing.assert_allclose(one.point, other.point)
    still = Evolution.at(np.ones(3))
    assert (still.climb(np.zeros(3), 0.1) == 1).all()
    first = Evolution.at(np.zeros(2))
    np.testing.assert_allclose(first.climb(np.array([1e-9, -5.0]), 0.1), [0.1, -0.1])


def test_it_survives_as_plain_values() -> None:
    evolution = climbed(1, noise=0.1, generations=7)[0]
    again = Evolution.of(evolution.content())
    more = np.random.default_rng(1).normal(size=SHAPE)
    assert (again.climb(more, 0.1) == evolution.climb(more, 0.1)).all()
    assert (again.average == evolution.average).all()
