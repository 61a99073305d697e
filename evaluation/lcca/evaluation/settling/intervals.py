"""Student's t intervals for a mean of independent values."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

ONE_SAMPLE = "one sample: all trials are the same"
"""In place of a verdict on trials that are equal bit for bit, as those of a trace may be whatever their seeds."""

UNFINISHED = "too much is unfinished"
"""In place of a verdict where scores are bounds (`lcca.evaluation.settling.unfinished`)."""


def t_quantile(degrees: int, alpha: float) -> float:
    """Return the two-sided quantile of Student's t: 1 − α/2."""
    return float(stdtrit(degrees, 1 - alpha / 2))


def t_interval(values: ArrayLike, alpha: float = 0.05) -> tuple[float, float, float]:
    """Return (mean, low, high) over independent values; NaNs are left out.

    Ends are NaN with fewer than two values, and where all are the same: trials that are equal bit for bit are one
    sample. Only zeros keep theirs, such as the differences of a policy from itself.
    """
    x = np.asarray(values, dtype=np.float64)
    x = x[np.isfinite(x)]
    if x.size < 2 or (np.ptp(x) == 0 and x[0] != 0):
        return (float(x[0]) if x.size else math.nan), math.nan, math.nan
    mean, error = float(x.mean()), float(x.std(ddof=1)) / math.sqrt(x.size)
    width = t_quantile(x.size - 1, alpha) * error
    return mean, mean - width, mean + width


def positive_interval(values: ArrayLike, alpha: float = 0.05, least: float = 0.0) -> tuple[float, float, float]:
    """Return (mean, low, high) of positive values: by Student's t for the mean's logarithm.

    The logarithm's standard error is that of the mean over the mean. `least` bounds values that are all above it.
    """
    mean, low, high = t_interval(values, alpha)
    if math.isfinite(low) and mean > 0:
        factor = math.exp(min((high - mean) / mean, 700.0))
        low, high = mean / factor, mean * factor
    known = np.asarray(values, dtype=np.float64)
    return mean, max(low, least) if np.nanmin(known, initial=math.inf) >= least else low, high
