"""Student's t intervals for a mean of independent values."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit


def t_quantile(degrees: int, alpha: float) -> float:
    """Return the two-sided quantile of Student's t: 1 − α/2."""
    return float(stdtrit(degrees, 1 - alpha / 2))


def t_interval(values: ArrayLike, alpha: float = 0.05) -> tuple[float, float, float]:
    """Return (mean, low, high) over independent values; NaNs are left out, fewer than 2 give NaN ends."""
    x = np.asarray(values, dtype=np.float64)
    x = x[np.isfinite(x)]
    if x.size < 2:
        return (float(x[0]) if x.size else math.nan), math.nan, math.nan
    mean, error = float(x.mean()), float(x.std(ddof=1)) / math.sqrt(x.size)
    width = t_quantile(x.size - 1, alpha) * error
    return mean, mean - width, mean + width
