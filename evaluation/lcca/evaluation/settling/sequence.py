"""The t-mixture confidence sequence: an interval for a mean that holds at every look.

A normal mixture over the effect size, with variance `g` in units of the unknown noise variance,
turns the t statistic into a test martingale (the scale-invariant mixture of Lai 1976, Rouder et al.
2009). Its value is the e-value; the means whose e-value stays below 1/α form the interval. Looking
after every pair or once a day changes nothing in its error rate.

The guarantee is exact for normal differences and a `g` fixed beforehand. Here `g` is tuned by the
spread of the first blocks and then frozen, and real differences are not normal: what that costs is
measured by `benchmarks/settling/null.py`.
"""

import math
from collections.abc import Callable, Iterable

SHORTEST_TUNING = 6  # blocks; the mixture is tuned for a number of blocks between these two
LONGEST_TUNING = 1000
HORIZON = 10**12  # blocks; a forecast beyond it is given as this


def mixture_scale(spread: float, margin: float, alpha: float) -> float:
    """Return the mixture's `g`, best at the number of blocks that the margin will probably need.

    Args:
        spread: standard deviation of the first differences.
        margin: the difference that matters, > 0, in the unit of `spread`.
        alpha: error rate, in (0, 1).
    """
    blocks = min(max((3.05 * spread / margin) ** 2, SHORTEST_TUNING), LONGEST_TUNING)
    log_term = -2 * math.log(alpha)
    return (log_term + math.log(log_term) + 1) / blocks


def half_width(n: int, spread: float, g: float, alpha: float) -> float:
    """Return half the width of the interval after `n` differences; infinite while n is too small."""
    if n < 2:
        return math.inf
    r = 1 + n * g
    log_k = (math.log(r) - 2 * math.log(alpha)) / n
    if log_k >= math.log(r):
        return math.inf
    k = math.exp(log_k)
    return spread * math.sqrt((n - 1) * (k - 1) / (n * (1 - k / r)))


def log_e_value(n: int, mean: float, spread: float, g: float) -> float:
    """Return the natural logarithm of the e-value of "the mean difference is 0".

    Under that hypothesis an e-value of 1/α or more is ever reached with probability at most α.
    """
    if n < 2:
        return 0.0
    r = 1 + n * g
    if spread == 0:
        x_gain = math.log(r) if mean != 0 else 0.0
    else:
        x = n * (mean / spread) ** 2 / (n - 1)
        x_gain = math.log1p(x) - math.log1p(x / r) if math.isfinite(x) else math.log(r)
    return (n * x_gain - math.log(r)) / 2


def pairs_until(target: float, spread: float, g: float, alpha: float, start: int) -> int:
    """Return the first n >= start whose half-width is at most `target`, if the spread stays as it is.

    Raises:
        ValueError: if target is not > 0.
    """
    if not target > 0:
        raise ValueError(f"target must be > 0, got {target}")
    return first_reached(lambda n: half_width(n, spread, g, alpha) <= target, start)


def first_reached(reached: Callable[[int], bool], start: int) -> int:
    """Return the first n >= start for which `reached`, which stays true once it is; at most about the horizon."""
    low, high = start - 1, start
    while not reached(high):
        if high >= HORIZON:
            return HORIZON
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


class Moments:
    """Running mean, spread and skewness of numbers that come one at a time.

    The result depends on the numbers and their order alone, to the last bit, and not on how they
    were cut into batches.
    """

    def __init__(self) -> None:
        """Start with no numbers."""
        self.n = 0
        self.mean = 0.0
        self._m2 = 0.0
        self._m3 = 0.0

    def extend(self, values: Iterable[float]) -> None:
        """Take several numbers in order (the update of Terriberry 2007)."""
        n, mean, m2, m3 = self.n, self.mean, self._m2, self._m3
        for value in values:
            before = n
            n += 1
            step = value - mean
            part = step / n
            square = step * part * before
            mean += part
            m3 += square * part * (n - 2) - 3 * part * m2
            m2 += square
        self.n, self.mean, self._m2, self._m3 = n, mean, m2, m3

    @property
    def spread(self) -> float:
        """Sample standard deviation (n − 1 in the denominator); 0 with fewer than 2 numbers."""
        return math.sqrt(max(self._m2, 0.0) / (self.n - 1)) if self.n > 1 else 0.0

    @property
    def skewness(self) -> float:
        """Third standardised moment; 0 where all numbers are equal."""
        scale = max(self._m2, 0.0) ** 1.5
        return math.sqrt(self.n) * self._m3 / scale if scale > 0 else 0.0
