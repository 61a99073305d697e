"""Bands around a curve that hold everywhere at once, over training seeds.

Each training seed has a curve of its own; the curves are independent and identically distributed, on networks and
traffic of their own. So their mean m and their standard deviation s say at every point how far luck of training and
noise of trials reach, by Student's t. The band is m ± c·√(s²/J + b²), where b allows for what smoothing rounds off.

c holds for all points together: it is the quantile of the largest |t| over all of them, for normal curves whose rough
part is noise of trials and whose smooth part, a plane and a process, is luck of training. Eight seeds do not tell the
covariance of their curves; what is estimated of it, from all points together, is how large luck is beside noise and how
far it reaches. It counts with the lower end of the χ² interval of its variance: the less of it, the rougher the curves
and the larger c (Slepian 1962). The spread at a point is never pooled with that of others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr
from scipy.special import chdtri

from lcca.evaluation.settling.quantiles import quantile
from lcca.studies.maps.smoothing import Spectra, matern, plane

Floats = NDArray[np.float64]

DRAWS = 4000
"""Of curves, for c; rarer errors than `RARE` are extrapolated by the power law of t's tail."""

RARE = 0.01

SURELY = 0.05
"""Chance that luck is less than it counts."""


@dataclass(frozen=True, eq=False)
class Band:
    """A curve with its band; arrays are (rows,).

    Attributes:
        mean: over training seeds.
        error: its standard error with the allowance for smoothing.
        critical: c.
    """

    mean: Floats
    error: Floats
    critical: float

    @property
    def low(self) -> Floats:
        """The lower end."""
        return self.mean - self.critical * self.error

    @property
    def high(self) -> Floats:
        """The upper end."""
        return self.mean + self.critical * self.error


def independent_parts(spectra: Spectra, operator: Floats, differences: Floats) -> Floats:
    """Return a root of the covariance of a training seed's curve, up to a factor: (rows, parts).

    Args:
        spectra: of the points.
        operator: (rows, points) that makes the curve.
        differences: (points, training seeds).
    """
    rest = differences - differences.mean(axis=1, keepdims=True)
    luck, count, degrees = spectra.smoother(rest), len(rest), rest.shape[1] - 1
    least = degrees / float(chdtri(degrees, SURELY))
    inner = matern(spectra.points, spectra.points, luck.lengths) / luck.ratio
    noise = luck.variance * luck.ratio * rest.shape[1] / degrees
    basis = qr(plane(spectra.points), mode="economic")[0].T
    planes = (basis @ rest).var(axis=1, ddof=1) / noise - 1 - ((basis @ inner) * basis).sum(axis=1)
    root = np.linalg.cholesky(np.eye(count) + least * inner)
    parts: Floats = operator @ np.column_stack([root, basis.T * np.sqrt(least * np.maximum(planes, 0.0))])
    return parts


def largest_t(parts: Floats, seeds: int) -> Floats:
    """Return the largest |t| over the rows of curves made of independent parts, in `DRAWS` draws, rising."""
    values, directions = eigh(parts.T @ parts)
    root, rng, found = parts @ directions[:, values > 1e-8 * values[-1]], np.random.default_rng(0), []
    rank = root.shape[1]
    for _ in range(DRAWS // 100):
        curves = (root @ rng.standard_normal((rank, 100 * seeds))).reshape(len(root), 100, seeds)
        t = curves.mean(axis=2) / curves.std(axis=2, ddof=1) * math.sqrt(seeds)
        found.append(np.abs(t).max(axis=0))
    return np.sort(np.concatenate(found))


def critical_value(largest: Floats, alpha: float) -> float:
    """Return the value that the largest |t| exceeds in a share α of draws."""
    if alpha >= RARE:
        return quantile(largest, 1 - alpha)
    often, rare = (quantile(largest, 1 - share) for share in (5 * RARE, RARE))
    return rare * math.pow(RARE / alpha, math.log(rare / often) / math.log(5))
