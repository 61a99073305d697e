"""Curves through scattered differences: the mean of a Gaussian process, whose smoothness all training seeds share.

A curve is a plane and a Gaussian process with Matérn covariance (ν = 3/2: curves with one derivative, which follow
steps too), a length for each parameter. The plane is free (universal kriging); lengths and the share of noise are those
of the largest restricted likelihood of the mean over training seeds, on a coarse grid, so that rounding never decides.
Once they are chosen the curve is linear in the differences: the same operator makes each training seed's curve.

Rasmussen & Williams, "Gaussian Processes for Machine Learning" (2006), sections 2.7 and 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr
from scipy.spatial.distance import cdist

from lcca.remy_plus.core.elementary import exp, log

Floats = NDArray[np.float64]

LENGTHS = (0.15, 0.4, 1.0, 2.5)
"""Of the covariance, in coordinates from 0 to 1."""

RATIOS = tuple(10.0**power for power in np.arange(-4, 4.1, 0.5))
"""Variance of a difference's noise over that of the process."""


def matern(a: Floats, b: Floats, lengths: Sequence[float]) -> Floats:
    """Return the covariances of points, of variance 1."""
    r = np.sqrt(3) * cdist(a / np.asarray(lengths), b / np.asarray(lengths))
    found: Floats = (1 + r) * exp(-r)
    return found


def plane(points: Floats) -> Floats:
    """Return 1 and the coordinates of points, (points, 1 + axes)."""
    return np.column_stack([np.ones(len(points)), points])


@dataclass(eq=False)
class Spectra:
    """Points, and by lengths the spectrum of their covariance across the plane, which all questions share.

    Attributes:
        points: (n, axes) coordinates.
    """

    points: Floats
    _known: dict[tuple[float, ...], tuple[Floats, Floats]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find the directions across the plane."""
        basis = plane(self.points)
        self._across = qr(basis)[0][:, basis.shape[1] :]

    def of(self, lengths: tuple[float, ...]) -> tuple[Floats, Floats]:
        """Return the variances, and the directions that they belong to as columns."""
        if lengths not in self._known:
            inner = self._across.T @ matern(self.points, self.points, lengths) @ self._across
            values, vectors = eigh(inner)
            self._known[lengths] = np.maximum(values, 0.0), self._across @ vectors
        return self._known[lengths]

    def smoother(self, values: Floats) -> Smoother:
        """Return the smoother that suits values best, (n, columns) at the points."""
        axes = self.points.shape[1]
        lengths: tuple[float, ...] = (1.0,) * axes
        for _ in range(2):
            for axis in range(axes):
                tried = [(*lengths[:axis], each, *lengths[axis + 1 :]) for each in LENGTHS]
                lengths = max(tried, key=lambda each: self._best(each, values)[0])
        return Smoother(self, lengths, *self._best(lengths, values)[1:])

    def _best(self, lengths: tuple[float, ...], values: Floats) -> tuple[float, float, float]:
        """Return the largest log-likelihood at these lengths, its ratio and the variance of the process."""
        variances, directions = self.of(lengths)
        squares, found = ((directions.T @ values) ** 2).mean(axis=1), []
        for ratio in RATIOS:
            total = variances + ratio
            scale = max(float((squares / total).mean()), 1e-300)
            found.append((-0.5 * float(log(total).sum() + len(total) * math.log(scale)), ratio, scale))
        return max(found)


@dataclass(frozen=True, eq=False)
class Smoother:
    """What makes curves of differences at scattered points.

    Attributes:
        spectra: of the points.
        lengths: of the covariance by axis.
        ratio: variance of the noise over that of the process.
        variance: of the process.
    """

    spectra: Spectra
    lengths: tuple[float, ...]
    ratio: float
    variance: float

    def operator(self, at: Floats) -> Floats:
        """Return the matrix (len(at), n) that makes a curve's values at points of the differences."""
        points = self.spectra.points
        variances, directions = self.spectra.of(self.lengths)
        inverse = (directions / (variances + self.ratio)) @ directions.T
        covariance = matern(points, points, self.lengths)
        rest = np.eye(len(points)) - covariance @ inverse - self.ratio * inverse
        found: Floats = matern(at, points, self.lengths) @ inverse + plane(at) @ (np.linalg.pinv(plane(points)) @ rest)
        return found

    def bias_variance(self, at: Floats, operator: Floats, means: Floats) -> Floats:
        """Return how far smoothed curves lie from such processes, squared, on average over the processes.

        Args:
            at: (m, axes) points.
            operator: (rows, n), of means of the curve's values there.
            means: (rows, m) weights of these means.
        """
        points = self.spectra.points
        own = ((means @ matern(at, at, self.lengths)) * means).sum(axis=1)
        shared = ((means @ matern(at, points, self.lengths)) * operator).sum(axis=1)
        seen = ((operator @ matern(points, points, self.lengths)) * operator).sum(axis=1)
        squares: Floats = np.maximum(self.variance * (own - 2 * shared + seen), 0.0)
        return squares
