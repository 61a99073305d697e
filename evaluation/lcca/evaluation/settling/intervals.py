"""Student's t intervals for a mean over networks, and for one over training seeds and networks."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from lcca.evaluation.settling.sequence import SHORTEST_TUNING, half_width, mixture_scale

Floats = NDArray[np.float64]

MOST_SEEDS = 100_000  # a forecast of training seeds beyond this is not given


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


@dataclass(frozen=True)
class CrossedInterval:
    """An interval for a mean over training seeds, all tested on the same networks.

    Chance in the choice of networks is common to all seeds and does not show in the spread between
    them; so the half-width is √(a² + b²), a from Student's t over seeds (seeds − 1 degrees of freedom)
    and b over networks. Over seeds alone, coverage fell to 65–93 % where 95 % was asked for.

    With a margin, b is the half-width of the confidence sequence, so that the interval also holds where
    the number of networks was not fixed beforehand but testing went on until something was settled
    (with Student's t, coverage could then fall to 92 %). Without, b is Student's t.

    Attributes:
        seeds: training seeds.
        pairs: networks (with their seeds) per training seed; 1 if only a mean is known.
        mean: of all values.
        spread: standard deviation between training seeds; NaN with one.
        network_spread: standard deviation between networks; 0 if not known.
        first_spread: the same over the first pairs, by which the sequence is tuned.
        margin: the difference that matters; None for Student's t over networks.
    """

    seeds: int
    pairs: int
    mean: float
    spread: float
    network_spread: float = 0.0
    first_spread: float = 0.0
    margin: float | None = None

    @classmethod
    def of(cls, values: Floats, margin: float | None = None) -> "CrossedInterval":
        """Return the interval of a (training seeds, pairs) array."""
        seeds, pairs = values.shape
        if seeds == 0 or pairs == 0:
            return cls(0, 0, math.nan, math.nan)
        by_seed, by_pair = values.mean(axis=1), values.mean(axis=0)
        return cls(
            seeds=seeds,
            pairs=pairs,
            mean=float(by_seed.mean()),
            spread=float(by_seed.std(ddof=1)) if seeds > 1 else math.nan,
            network_spread=float(by_pair.std(ddof=1)) if pairs > 1 else 0.0,
            first_spread=float(by_pair[:SHORTEST_TUNING].std(ddof=1)) if pairs > 1 else 0.0,
            margin=margin,
        )

    def half_width(self, alpha: float, seeds: int | None = None) -> float:
        """Return half the width at confidence 1 − α, or what it would be with another number of seeds."""
        k = self.seeds if seeds is None else seeds
        if k < 2 or not math.isfinite(self.spread):
            return math.inf
        over_seeds = t_quantile(k - 1, alpha) * self.spread / math.sqrt(k)
        return math.hypot(over_seeds, self._over_networks(alpha))

    def _over_networks(self, alpha: float) -> float:
        if self.pairs < 2 or self.network_spread == 0:
            return 0.0
        if self.margin is None:
            return t_quantile(self.pairs - 1, alpha) * self.network_spread / math.sqrt(self.pairs)
        g = mixture_scale(self.first_spread, self.margin, alpha)
        return half_width(self.pairs, self.network_spread, g, alpha)

    def ends(self, alpha: float) -> tuple[float, float]:
        """Return (low, high); infinite with fewer than two seeds."""
        width = self.half_width(alpha)
        return (self.mean - width, self.mean + width) if math.isfinite(width) else (-math.inf, math.inf)

    def seeds_until(self, target: float, alpha: float) -> int | None:
        """Return the first number of seeds whose half-width is at most target, None if out of reach."""
        low, high = 1, 2
        while self.half_width(alpha, high) > target:
            if high >= MOST_SEEDS:
                return None
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.half_width(alpha, middle) <= target else (middle, high)
        return high
