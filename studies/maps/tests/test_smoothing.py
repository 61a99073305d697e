"""Curves by a Gaussian process: against kriging's own equations, against processes drawn at random, on planes."""

import numpy as np
import pytest

from lcca.studies.maps.smoothing import Smoother, Spectra, matern, plane

RNG = np.random.default_rng(3)
POINTS = RNG.random((40, 2))
AT = RNG.random((7, 2))
SMOOTHER = Smoother(Spectra(POINTS), (0.4, 1.0), 0.3, 2.0)


def test_the_operator_solves_kriging_equations() -> None:
    """Weights that are unbiased for every plane and have the least variance: the saddle point with multipliers."""
    covariance = matern(POINTS, POINTS, (0.4, 1.0)) + 0.3 * np.eye(40)
    whole = np.block([[covariance, plane(POINTS)], [plane(POINTS).T, np.zeros((3, 3))]])
    wanted = np.vstack([matern(POINTS, AT, (0.4, 1.0)), plane(AT).T])
    assert SMOOTHER.operator(AT) == pytest.approx(np.linalg.solve(whole, wanted)[:40].T, abs=1e-9)


def test_planes_stay_as_they_are() -> None:
    slopes = np.array([0.3, -1.0, 2.0])
    assert SMOOTHER.operator(AT) @ plane(POINTS) @ slopes == pytest.approx(plane(AT) @ slopes, abs=1e-9)


def test_the_allowance_for_bias_is_what_drawn_processes_are_smoothed_by() -> None:
    """Values of 20,000 processes at points and elsewhere, without noise: how far curves lie from them, squared."""
    both = np.vstack([POINTS, AT])
    root = np.linalg.cholesky(2.0 * matern(both, both, (0.4, 1.0)) + 1e-10 * np.eye(47))
    drawn = root @ RNG.standard_normal((47, 20_000))
    means = np.vstack([np.eye(7), np.full((1, 7), 1 / 7)])
    operator = means @ SMOOTHER.operator(AT)
    errors = operator @ drawn[:40] - means @ drawn[40:]
    assert SMOOTHER.bias_variance(AT, operator, means) == pytest.approx((errors**2).mean(axis=1), rel=0.08)


def test_lengths_and_noise_are_found() -> None:
    """A wave along one axis is short along that axis and long along the other; noise alone is a plane."""
    random = np.random.default_rng(5)
    points = random.random((120, 2))
    wave = np.sin(9 * points[:, :1]) + 0.1 * random.standard_normal((120, 1))
    found = Spectra(points).smoother(wave)
    assert found.lengths[0] < found.lengths[1] and found.ratio < 0.1
    curve = found.operator(AT) @ wave[:, 0]
    assert curve == pytest.approx(np.sin(9 * AT[:, 0]), abs=0.2)
    noise = Spectra(points).smoother(random.standard_normal((120, 1)))
    assert noise.operator(points).trace() < 8
