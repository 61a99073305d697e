"""Critical values of a group-sequential test: how its error rate is spent over the looks (Lan & DeMets 1983).

After a fraction t of the information a two-sided test may have spent 4·(1 − Φ(z/√t)) of α, z being the
normal quantile 1 − α/4: the O'Brien-Fleming kind, α/2 for each side. The critical value of a look is
the one at which the chance of first crossing there is what may be spent since the look before. That
chance is integrated numerically over where a Brownian motion that has not crossed may be (Armitage,
McPherson & Rowe 1969).
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

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
        self.fraction = 0.0
        self._spent = 0.0
        self._at: NDArray[np.float64] = np.zeros(1)  # where a motion that has not crossed may be,
        self._weight: NDArray[np.float64] = np.ones(1)  # and with what chance

    def next(self, fraction: float) -> float:
        """Return the critical value |z| of a look at this fraction of the information.

        Raises:
            ValueError: unless the fraction is larger than at the last look, and at most 1.
        """
        if not self.fraction < fraction <= 1:
            raise ValueError(f"fraction must be in ({self.fraction:g}, 1], got {fraction:g}")
        step = math.sqrt(fraction - self.fraction)
        allowed = spent(fraction, self.alpha)
        critical = self._critical(math.sqrt(fraction), step, allowed - self._spent)
        if fraction < 1:
            self._advance(critical * math.sqrt(fraction), math.sqrt(fraction), step)
        self.fraction, self._spent = fraction, allowed
        return critical

    def _critical(self, scale: float, step: float, allowed: float) -> float:
        def excess(critical: float) -> float:
            away = (critical * scale - self._at) / step
            return 2 * float(self._weight @ ndtr(-away)) - allowed  # both sides are alike

        if excess(FARTHEST) >= 0:
            return FARTHEST
        return float(brentq(excess, 0.0, FARTHEST, xtol=1e-6))

    def _advance(self, bound: float, scale: float, step: float) -> None:
        reach = min(bound, 8 * scale)
        at = np.linspace(-reach, reach, POINTS)
        away = (at[:, None] - self._at[None, :]) / step
        density = np.exp(-0.5 * away**2) @ self._weight / (step * math.sqrt(2 * math.pi))
        self._at, self._weight = at, density * _simpson(POINTS) * (at[1] - at[0])


@lru_cache(maxsize=4)
def _simpson(points: int) -> NDArray[np.float64]:
    weights = np.ones(points)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    return weights / 3


@lru_cache(maxsize=256)
def last_critical_value(looks: int, alpha: float) -> float:
    """Return the critical value of the last of equally spaced looks; 2.08 for 10 looks at 5 %."""
    boundary = Boundary(alpha)
    return [boundary.next(k / looks) for k in range(1, looks + 1)][-1]
