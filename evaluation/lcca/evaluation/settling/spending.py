"""Critical values of a group-sequential test: how its error rate is spent over the looks (Lan & DeMets 1983).

After a fraction t of the information a two-sided test may have spent 4·(1 − Φ(z/√t)) of α, z being the
normal quantile 1 − α/4: the O'Brien-Fleming kind, α/2 for each side. The critical value of a look is
the one at which the chance of first crossing there is what may be spent since the look before. That
chance is integrated numerically over where a Brownian motion that has not crossed may be (Armitage,
McPherson & Rowe 1969).
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from lcca.remy_plus.core.elementary import exp

Grid = NDArray[np.float64]

POINTS = 129  # of the grid between the boundaries; 129 and 801 agree to 1e-4
FARTHEST = 38.0  # critical value where nothing may be spent: beyond it Φ underflows


def spent(fraction: float, alpha: float) -> float:
    """Return how much of α may be spent by this fraction of the information, in (0, 1]."""
    return float(4 * ndtr(ndtri(alpha / 4) / math.sqrt(fraction)))


class Boundary:
    """The critical values of looks at increasing fractions of the information, one after the other."""

    def __init__(self, alpha: float) -> None:
        """Start before the first look of a two-sided test at level `alpha`."""
        self.alpha = alpha
        self._fractions: tuple[float, ...] = ()

    def next(self, fraction: float) -> float:
        """Return the critical value |z| of a look at this fraction of the information.

        Raises:
            ValueError: unless the fraction is larger than at the last look, and at most 1.
        """
        last = self._fractions[-1] if self._fractions else 0.0
        if not last < fraction <= 1:
            raise ValueError(f"fraction must be in ({last:g}, 1], got {fraction:g}")
        self._fractions = (*self._fractions, fraction)
        return _look(self.alpha, self._fractions).critical


@dataclass(frozen=True, eq=False)
class _Look:
    """A look, and where a motion that has not crossed by then may be, with what chance."""

    fraction: float
    critical: float
    spent: float
    at: Grid
    weight: Grid


START = _Look(0.0, FARTHEST, 0.0, np.zeros(1), np.ones(1))


@lru_cache(maxsize=1024)  # all comparisons of a run look at the same fractions
def _look(alpha: float, fractions: tuple[float, ...]) -> _Look:
    """Return the last of the looks at these fractions."""
    fraction, before = fractions[-1], _look(alpha, fractions[:-1]) if fractions[1:] else START
    scale, step = math.sqrt(fraction), math.sqrt(fraction - before.fraction)
    allowed = spent(fraction, alpha)
    critical = _critical(before, scale, step, allowed - before.spent)
    return _Look(fraction, critical, allowed, *_advanced(before, critical * scale, scale, step))


def _critical(before: _Look, scale: float, step: float, allowed: float) -> float:
    def excess(critical: float) -> float:
        away = (critical * scale - before.at) / step
        return 2 * float((before.weight * ndtr(-away)).sum()) - allowed  # both sides are alike

    if excess(FARTHEST) >= 0:
        return FARTHEST
    from scipy.optimize import brentq  # a quarter of a second, which every command and process would wait for

    return float(brentq(excess, 0.0, FARTHEST, xtol=1e-6))


def _advanced(before: _Look, bound: float, scale: float, step: float) -> tuple[Grid, Grid]:
    reach = min(bound, 8 * scale)
    at = np.linspace(-reach, reach, POINTS)
    away = (at[:, None] - before.at[None, :]) / step
    density = (exp(-0.5 * away**2) * before.weight).sum(axis=1) / (step * math.sqrt(2 * math.pi))
    return at, density * _simpson(POINTS) * (at[1] - at[0])


@lru_cache(maxsize=4)
def _simpson(points: int) -> Grid:
    weights = np.ones(points)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    return weights / 3


@lru_cache(maxsize=256)
def last_critical_value(looks: int, alpha: float) -> float:
    """Return the critical value of the last of equally spaced looks; 2.08 for 10 looks at 5 %."""
    boundary = Boundary(alpha)
    return [boundary.next(k / looks) for k in range(1, looks + 1)][-1]
