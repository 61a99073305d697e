"""Pearson's correlation with an interval and a p-value that do not assume normal data.

Differences between policies are skewed, and noisier on some networks than on others. Fisher's interval
then misses too often: it contained 0 in only 88 % of null cases where the noise fell with the parameter.
Here the standard error of Fisher's z is the larger one of Fisher's and of a sandwich estimate (delta
method, leverage-corrected): 93 to 96 % at n = 100 in all cases tried but differences that are both extremely
skewed and unequally noisy (90 %).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

FEWEST = 5  # points


@dataclass(frozen=True)
class Correlation:
    """Pearson's correlation over n points.

    Attributes:
        r: the correlation.
        low: lower end of its 95 % interval.
        high: upper end.
        p: p-value of "no correlation".
        n: points.
    """

    r: float
    low: float
    high: float
    p: float
    n: int


def correlate(x: ArrayLike, y: ArrayLike) -> Correlation | None:
    """Return the correlation of the finite pairs; None with fewer than 5, or where x or y does not vary."""
    u, v = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    known = np.isfinite(u) & np.isfinite(v)
    u, v = u[known], v[known]
    if u.size < FEWEST or np.ptp(u) == 0 or np.ptp(v) == 0:
        return None
    n = int(u.size)
    a, b = (u - u.mean()) / u.std(), (v - v.mean()) / v.std()
    r = min(max(float((a * b).mean()), -1 + 1e-12), 1 - 1e-12)
    influence = (a * b - r * (a**2 + b**2) / 2) / (1 - (1 + a**2) / n)
    sandwich = math.sqrt(float((influence**2).mean()) / n) / (1 - r**2)
    error = max(sandwich, 1 / math.sqrt(n - 3))
    z, reach = math.atanh(r), float(stdtrit(n - 2, 0.975)) * error
    p = 2 * float(stdtr(n - 2, -abs(z) / error))
    return Correlation(r, math.tanh(z - reach), math.tanh(z + reach), p, n)
