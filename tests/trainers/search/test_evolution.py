"""The strategy on functions whose optimum, gradient and noise are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lcca.trainers.search.evolution import Evolution, usual_population, utilities

Floats = NDArray[np.float64]

SHAPE = (5, 3)


def parabola(point: Floats, optimum: Floats, curvature: Floats) -> Floats:
    return -(curvature * (point - optimum) ** 2).sum(axis=(-2, -1)) / 2


def moved(seed: int, noise: float, generations: int, population: int = 20) -> tuple[Evolution, Floats]:
    """Climb a parabola whose curvatures differ by a factor of 100; each score has noise of its own."""
    rng = np.random.default_rng(seed)
    optimum, curvature = rng.uniform(-3, 3, SHAPE), 10 ** rng.uniform(-1, 1, SHAPE)
    evolution = Evolution.at(np.zeros(SHAPE), 0.6)
    for generation in range(generations):
        half = rng.standard_normal((population // 2, *SHAPE))
        directions = np.concatenate([half, -half])
        scores = parabola(evolution.candidates(directions), optimum, curvature)
        evolution.move(directions, scores + noise * rng.normal(size=population))
        if 2 * generation >= generations:
            evolution.count()
    return evolution, evolution.point - optimum


@pytest.mark.parametrize("seed", [1, 2])
def test_it_converges_to_the_optimum_of_a_parabola(seed: int) -> None:
    """And at the rate of theory: the distance falls by equal ratios, since steps and distance shrink together."""
    distances = [np.abs(moved(seed, 0, generations)[1]).max() for generations in (150, 300, 450)]
    assert distances[2] < 1e-4
    ratios = np.diff(np.log(distances))
    assert 0.4 < ratios[0] / ratios[1] < 2.5


@pytest.mark.parametrize("seed", [1, 2])
def test_it_comes_near_the_optimum_in_noise_and_the_average_nearer(seed: int) -> None:
    evolution, missed = moved(seed, 0.5, 1500)
    optimum = evolution.point - missed
    assert np.abs(evolution.average - optimum).mean() < np.abs(missed).mean() < 0.5
    assert np.abs(evolution.average - optimum).mean() < 0.25


def test_utilities_are_log_ranks_of_sum_zero() -> None:
    """The values for four candidates, by hand: ln(3/rank), cut at 0, over ln 3 + ln 1.5, less 1/4."""
    whole = np.log(3) + np.log(1.5)
    best, second = np.log(3) / whole - 0.25, np.log(1.5) / whole - 0.25
    np.testing.assert_allclose(utilities(np.array([0.1, 7.0, -3.0, 2.0])), [-0.25, best, -0.25, second])
    for count in (4, 10, 20):
        found = utilities(np.random.default_rng(count).normal(size=count))
        assert found.sum() == pytest.approx(0) and found.max() > 0


@given(st.lists(st.floats(-100, 100), min_size=4, max_size=20, unique=True))
def test_only_ranks_matter(values: list[float]) -> None:
    scores = np.array(values)
    np.testing.assert_array_equal(utilities(scores), utilities(np.argsort(np.argsort(scores)).astype(float)))


@pytest.mark.slow
def test_on_a_slope_it_moves_by_what_the_ranks_of_normal_values_say() -> None:
    """f = z on one axis of 15: its mean step is σ·E Σ u_i s_(i) of mirrored normal order statistics, the others' 0."""
    rng, steps, expected = np.random.default_rng(5), [], []
    for _ in range(4000):
        half = rng.standard_normal((10, *SHAPE))
        directions = np.concatenate([half, -half])
        evolution = Evolution.at(np.zeros(SHAPE), 0.5)
        evolution.move(directions, directions[:, 0, 0])
        steps.append(evolution.point)
        normal = rng.standard_normal(10)
        ordered = np.sort(np.concatenate([normal, -normal]))[::-1]
        expected.append(0.5 * utilities(np.arange(20.0)[::-1]) @ ordered)
    error = np.std(steps, axis=0) / np.sqrt(len(steps))
    theory = np.zeros(SHAPE)
    theory[0, 0] = np.mean(expected)
    assert (np.abs(np.mean(steps, axis=0) - theory) < 5 * (error + np.std(expected) / np.sqrt(4000))).all()
    assert theory[0, 0] > 0.2


def test_the_usual_population_is_that_of_the_literature_made_even() -> None:
    assert [usual_population(d) for d in (1, 3, 48, 192)] == [4, 8, 16, 20]


def test_it_survives_as_plain_values() -> None:
    evolution = moved(1, 0.1, 7)[0]
    again = Evolution.of(evolution.content())
    directions = np.random.default_rng(1).normal(size=(6, *SHAPE))
    for each in (evolution, again):
        each.move(directions, np.arange(6.0))
    assert (again.point == evolution.point).all() and (again.sigma == evolution.sigma).all()
    assert (again.average == evolution.average).all()
