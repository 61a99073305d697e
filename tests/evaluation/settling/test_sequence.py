"""The confidence sequence against its theory, and its coverage when one looks all the time."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from lcca.evaluation.settling.sequence import (
    HORIZON,
    Moments,
    half_width,
    log_e_value,
    mixture_scale,
    pairs_until,
)

ALPHA = 0.05


def at_most(rate: float, n: int, confidence: float = 0.999) -> int:
    """The most hits in n tries that a true rate can be blamed for."""
    return int(stats.binom.ppf(confidence, n, rate))


@pytest.mark.parametrize(("n", "mean", "g"), [(20, 0.1, 0.4), (57, -0.3, 0.05), (200, 0.02, 0.01)])
def test_e_value_is_the_mixture_of_noncentral_t_densities(n: int, mean: float, g: float) -> None:
    t = math.sqrt(n) * mean  # spread 1
    degrees = n - 1

    def weighted(effect: float) -> float:
        density = stats.nct.pdf(t, degrees, math.sqrt(n) * effect) * stats.norm.pdf(effect, 0, math.sqrt(g))
        return float(density)

    reach = 12 * math.sqrt(g)
    mixture, _ = integrate.quad(weighted, -reach, reach, limit=200, points=[0.0, mean])
    expected = math.log(mixture / float(stats.t.pdf(t, degrees)))
    assert log_e_value(n, mean, 1.0, g) == pytest.approx(expected, abs=1e-5)


@given(n=st.integers(3, 10**6), spread=st.floats(1e-6, 1e6), g=st.floats(1e-3, 0.5))
def test_end_of_the_interval_is_where_the_e_value_reaches_one_over_alpha(n: int, spread: float, g: float) -> None:
    width = half_width(n, spread, g, ALPHA)
    if math.isfinite(width):
        assert log_e_value(n, width, spread, g) == pytest.approx(math.log(1 / ALPHA), rel=1e-6)


def test_interval_is_infinite_while_there_is_too_little_data() -> None:
    assert half_width(1, 1.0, 0.4, ALPHA) == math.inf
    assert half_width(5, 1.0, 0.002, ALPHA) == math.inf
    assert math.isfinite(half_width(20, 1.0, mixture_scale(0.01, 0.03, ALPHA), ALPHA))


def test_mixture_is_tuned_within_limits() -> None:
    assert mixture_scale(0.0, 0.03, ALPHA) == mixture_scale(1e-9, 0.03, ALPHA)  # 20 pairs
    assert mixture_scale(1e3, 0.03, ALPHA) == mixture_scale(1e6, 0.03, ALPHA)  # 5,000 pairs
    n = (3.05 * 0.2 / 0.03) ** 2
    log_term = -2 * math.log(ALPHA)
    assert mixture_scale(0.2, 0.03, ALPHA) == pytest.approx((log_term + math.log(log_term) + 1) / n)


@given(target=st.floats(0.005, 2), spread=st.floats(0.01, 1), g=st.floats(0.002, 0.4))
def test_pairs_until_is_the_first(target: float, spread: float, g: float) -> None:
    n = pairs_until(target, spread, g, ALPHA, 20)
    assert half_width(n, spread, g, ALPHA) <= target
    assert n == 20 or half_width(n - 1, spread, g, ALPHA) > target


def test_a_target_out_of_reach_is_given_as_the_horizon() -> None:
    assert pairs_until(1e-12, 1.0, 0.1, ALPHA, 20) == HORIZON
    with pytest.raises(ValueError, match="target must be > 0"):
        pairs_until(0.0, 1.0, 0.1, ALPHA, 20)


@given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=200), st.integers(1, 50))
def test_moments_do_not_depend_on_batches(values: list[float], size: int) -> None:
    whole, parts = Moments(), Moments()
    whole.extend(values)
    for start in range(0, len(values), size):
        parts.extend(values[start : start + size])
    assert (whole.n, whole.mean, whole.spread, whole.skewness) == (
        parts.n,
        parts.mean,
        parts.spread,
        parts.skewness,
    )


def test_moments_are_those_of_the_sample() -> None:
    values = np.random.default_rng(2).lognormal(3, 1, 500)
    moments = Moments()
    moments.extend(values.tolist())
    assert moments.mean == pytest.approx(values.mean())
    assert moments.spread == pytest.approx(values.std(ddof=1))
    assert moments.skewness == pytest.approx(stats.skew(values))


def test_moments_of_equal_numbers() -> None:
    moments = Moments()
    moments.extend([0.1] * 30)
    assert (moments.mean, moments.spread, moments.skewness) == (0.1, 0.0, 0.0)
    assert log_e_value(30, 0.0, 0.0, 0.1) < 0 < log_e_value(30, 0.1, 0.0, 0.1)


def ever_missed(differences: list[float], truth: float, margin: float) -> bool:
    """Whether the interval ever left out the truth, looking after every pair from the 20th on."""
    moments, g = Moments(), math.nan
    for i, difference in enumerate(differences, start=1):
        moments.extend([difference])
        if i == 20:
            g = mixture_scale(moments.spread, margin, ALPHA)
        if i >= 20:
            width = half_width(i, moments.spread, g, ALPHA)
            if abs(moments.mean - truth) > width:
                return True
    return False


@pytest.mark.parametrize("truth", [0.0, 0.03])
def test_coverage_with_a_look_after_every_pair(truth: float) -> None:
    rng, runs = np.random.default_rng(5), 400
    missed = sum(ever_missed(rng.normal(truth, 0.2, 600).tolist(), truth, 0.03) for _ in range(runs))
    assert missed <= at_most(ALPHA, runs)


def test_a_repeated_t_test_would_not_cover() -> None:
    rng, runs = np.random.default_rng(6), 300
    d = rng.normal(0, 0.2, (runs, 1000))
    looks = np.arange(20, 1001, 10)
    sums, squares = d.cumsum(axis=1)[:, looks - 1], (d**2).cumsum(axis=1)[:, looks - 1]
    mean = sums / looks
    spread = np.sqrt((squares - looks * mean**2) / (looks - 1))
    t = np.abs(mean) / spread * np.sqrt(looks)
    winner = (t > stats.t.ppf(1 - ALPHA / 2, looks - 1)).any(axis=1).mean()
    assert 0.3 < winner < 0.5  # about 0.4, eight times what was asked for
