"""The critical value of bands: against Student's t at one point, at several independent ones, and of alike points."""

import numpy as np
import pytest
from scipy.stats import t

from lcca.studies.maps.bands import critical_value, independent_parts, largest_t
from lcca.studies.maps.smoothing import Spectra, matern


@pytest.mark.parametrize("alpha", [0.05, 0.02, 0.002])
def test_of_one_point_it_is_students_t(alpha: float) -> None:
    found = critical_value(largest_t(np.ones((1, 1)), 8), alpha)
    assert found == pytest.approx(t.isf(alpha / 2, 7), rel=0.12)


def test_of_independent_points_it_is_sidaks_and_of_alike_ones_that_of_one() -> None:
    sidak = t.isf((1 - 0.95 ** (1 / 20)) / 2, 7)
    assert critical_value(largest_t(np.eye(20), 8), 0.05) == pytest.approx(sidak, rel=0.04)
    assert critical_value(largest_t(np.ones((20, 1)), 8), 0.05) == pytest.approx(t.isf(0.025, 7), rel=0.05)


def test_luck_that_is_alike_everywhere_makes_curves_alike() -> None:
    """Offsets of seeds beside noise: correlations of curves are above those of noise, and below those of the truth."""
    rng = np.random.default_rng(5)
    points = rng.random((80, 1))
    spectra, at = Spectra(points), np.linspace(0, 1, 20)[:, None]
    noise = 0.3 * rng.standard_normal((80, 12))
    operator = spectra.smoother(noise[:, :1]).operator(at)
    offsets = noise + rng.standard_normal(12)
    correlations = [np.corrcoef(independent_parts(spectra, operator, each))[0, -1] for each in (noise, offsets)]
    assert correlations[0] < 0.5 < 0.8 < correlations[1] < 0.999
    largest = [critical_value(largest_t(independent_parts(spectra, operator, d), 12), 0.05) for d in (noise, offsets)]
    assert largest[1] < largest[0]


def test_luck_that_is_a_plane_makes_curves_of_its_correlations() -> None:
    """Offsets and slopes around the middle, of variances 1 and 9, by many seeds: at the ends (1 − 9/4) / (1 + 9/4)."""
    rng = np.random.default_rng(8)
    points = rng.random((60, 1))
    offsets, slopes = rng.standard_normal((2, 400)) * [[1], [3]]
    luck = offsets + slopes * (points - 0.5) + 0.2 * rng.standard_normal((60, 400))
    spectra = Spectra(points)
    operator = spectra.smoother(luck[:, :1]).operator(np.array([[0.0], [1.0]]))
    parts = independent_parts(spectra, operator, luck)
    covariance = parts @ parts.T
    correlation = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    assert correlation == pytest.approx((1 - 9 / 4) / (1 + 9 / 4), abs=0.08)


def test_smooth_luck_is_told_from_noise() -> None:
    rng = np.random.default_rng(6)
    points = rng.random((100, 1))
    luck = np.linalg.cholesky(matern(points, points, (1.0,)) + 1e-9 * np.eye(100)) @ rng.standard_normal((100, 8))
    spectra = Spectra(points)
    rough = spectra.smoother(luck - luck.mean(axis=1, keepdims=True) + 2 * rng.standard_normal((100, 8)))
    smooth = spectra.smoother(luck - luck.mean(axis=1, keepdims=True) + 0.1 * rng.standard_normal((100, 8)))
    assert smooth.ratio < 0.3 < rough.ratio
