"""Quantiles, and tail quantiles over trials with intervals that know that the flows of a trial resemble each other.

Two quantities go by the name "the p99". The **pooled** quantile is that of all flows of all trials: what a
flow meets. The **mean of trials** is the expectation of the quantile of a single trial (CCEval's target); it
depends on how long a trial is, and in short trials lies far below the pooled quantile. `Metric.pool` says which one a
metric is.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.evaluation.settling.intervals import t_quantile

Floats = NDArray[np.float64]

ENOUGH_TAIL_FLOWS = 100


def quantile(values: ArrayLike, p: float) -> float:
    """Return a quantile of values, by the convention of `quantile_of_ranks`; NaN without any or where one is."""
    ordered = np.sort(np.asarray(values, dtype=np.float64), axis=None)
    if not ordered.size or math.isnan(ordered[-1]):
        return math.nan
    return quantile_of_ranks(ordered.size, p, ordered.__getitem__)


def quantile_of_ranks(count: int, p: float, ranked: Callable[[int], float]) -> float:
    """Return a quantile of values of which each rank is known: the convention of every quantile of trials and flows.

    It is NumPy's default, bit for bit (type 7 of Hyndman and Fan 1996): of x₀ ≤ … ≤ xₙ₋₁ the value at p·(n − 1), linear
    between the two ranks beside it. All values weigh the same: one that counts k times is k of them. Of a flow that did
    not finish its value is the least that it can be, so that the quantile is a lower bound. Packets' delays and queues
    over time, of which there are millions, are told by the engines: the least value that a share p does not exceed.

    Args:
        count: of the values, at least one.
        p: which quantile, from 0 to 1.
        ranked: returns the value of a rank, the least one's being 0.
    """
    at = p * (count - 1)
    below = math.floor(at)
    part, least, most = at - below, ranked(below), ranked(min(below + 1, count - 1))
    return float(least + part * (most - least) if part < 0.5 else most - (1 - part) * (most - least))


@dataclass(frozen=True)
class TailQuantile:
    """A quantile over trials with its interval.

    Attributes:
        value: the estimate, in the unit of the flows' values.
        low: lower end of the interval; −inf if the trials do not bound it.
        high: upper end; inf if the trials do not bound it.
        trials: trials with at least one flow.
        flows: flows in them.
        tail_flows: flows whose value is larger than the estimate.
        warning: see `tail_warning`.
    """

    value: float
    low: float
    high: float
    trials: int
    flows: int
    tail_flows: int
    warning: str


def tail_quantile(trials: Sequence[ArrayLike], p: float, *, confidence: float = 0.95) -> TailQuantile:
    """Return a quantile of all flows over independent trials.

    Args:
        trials: per trial, the values of its flows: FCT, slowdown, delay; trials may differ in length, and
            those without flows say nothing.
        p: which quantile, in (0, 1).
        confidence: of the interval.

    Raises:
        ValueError: if p or the confidence is out of range, a value is NaN, or there are no flows.
    """
    for name, value in (("p", p), ("confidence", confidence)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must be in (0, 1), got {value}")
    flows = [x for x in (np.asarray(t, dtype=np.float64).ravel() for t in trials) if x.size]
    if not flows:
        raise ValueError("no trial has a flow")
    pooled = np.sort(np.concatenate(flows))
    if math.isnan(pooled[-1]):
        raise ValueError("a flow's value is NaN")
    value = quantile_of_ranks(pooled.size, p, pooled.__getitem__)
    alike = all(np.array_equal(flows[0], each) for each in flows)  # they are one sample
    ends = (-math.inf, math.inf) if alike else _woodruff(pooled, p, _jackknifed(flows, p, value), confidence)
    beyond = int(pooled.size - np.searchsorted(pooled, value, side="right"))
    return TailQuantile(value, *ends, len(flows), pooled.size, beyond, tail_warning(beyond))


def tail_quantiles(
    trials: Sequence[ArrayLike], quantiles: Iterable[float], *, confidence: float = 0.95
) -> list[TailQuantile]:
    """Return ascending quantiles of the same flows, no end of whose intervals lies below that of a lower one.

    The lower end of each is the largest up to it, the upper end the least from it on. Where all intervals of
    `tail_quantile` hold so do these, since quantiles are ordered: together they cover as often.
    """
    found = [tail_quantile(trials, p, confidence=confidence) for p in quantiles]
    ends = in_order([(each.low, each.high) for each in found])
    return [replace(each, low=low, high=high) for each, (low, high) in zip(found, ends, strict=True)]


def in_order(ends: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the ends of intervals of numbers of which none is below one before it, as `tail_quantiles` has them."""
    low, high = np.array(ends, dtype=np.float64).reshape(-1, 2).T
    return list(zip(np.fmax.accumulate(low).tolist(), np.fmin.accumulate(high[::-1])[::-1].tolist(), strict=True))


def excesses(flows: Sequence[Floats], p: float, value: float) -> Floats:
    """Return per trial how many more flows lie beyond `value` than the part 1 − p of them."""
    beyond = np.array([np.count_nonzero(x > value) for x in flows], dtype=np.float64)
    return beyond - (1 - p) * np.array([x.size for x in flows])


def _jackknifed(flows: Sequence[Floats], p: float, value: float) -> Floats:
    """Return the excesses by a quantile that each trial had no part in, to first order.

    The quantile fits its own trials too well: without this, coverage with 20 to 40 trials was 93 to 94 % in place
    of 94 to 95 %.
    """
    share = np.array([x.size for x in flows]) / sum(x.size for x in flows)
    return excesses(flows, p, value) / np.maximum(1 - share, 0.5)


def _woodruff(pooled: Floats, p: float, excess: Floats, confidence: float) -> tuple[float, float]:
    """Return the interval of Woodruff (1952), with trials as clusters of flows.

    The part of flows beyond the quantile is a ratio over trials; its standard error is
    √(M·var(excess)) / N for M trials with N flows. The interval holds the quantiles between p ± t·se.
    """
    m = excess.size
    if m < 2:
        return -math.inf, math.inf
    reach = t_quantile(m - 1, 1 - confidence) * math.sqrt(m * float(excess.var(ddof=1))) / pooled.size
    at = partial(quantile_of_ranks, pooled.size, ranked=pooled.__getitem__)
    return at(p - reach) if p > reach else -math.inf, at(p + reach) if p + reach < 1 else math.inf


def tail_warning(beyond: int) -> str:
    """Return a warning if so many flows beyond a quantile are too few to trust it; empty if they are not."""
    if beyond >= ENOUGH_TAIL_FLOWS:
        return ""
    flows = "flow lies" if beyond == 1 else "flows lie"
    return f"only {beyond} {flows} beyond the quantile; with fewer than {ENOUGH_TAIL_FLOWS} do not rely on it"
