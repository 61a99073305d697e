"""Quantiles of weighted flows, and their intervals over trials."""

import math
from dataclasses import dataclass

import numpy as np

from lcca.evaluation.estimation.importance.cycles import Cycles
from lcca.evaluation.estimation.importance.flows import Floats
from lcca.evaluation.settling.intervals import t_interval, t_quantile


@dataclass(frozen=True, eq=False)
class TailCurve:
    """P(R > γ) as weighted flows tell it (CCEval Eq. 11, with E[α] = λT exactly).

    Between flows the curve is linear, each flow standing for half its weight on either side: CCEval's rule, which
    picks the first flow within the tail (Eqs. 8 and 13), lies high by several per cent where a tail is a few flows.

    Attributes:
        values: falling.
        beyond: P(R > γ) at them.
    """

    values: Floats
    beyond: Floats

    @classmethod
    def of(cls, values: Floats, weight: Floats, total: float) -> "TailCurve":
        """Return the curve of flows with these weights, if weights of `total` are expected in all."""
        order = np.argsort(values, kind="stable")[::-1]
        summed = np.cumsum(weight[order])
        return cls(values[order], (summed - weight[order] / 2) / total)

    def at(self, beyond: float) -> float:
        """Return γ with P(R > γ) = `beyond`; ±inf where no flow lies further out."""
        if not len(self.values) or beyond < self.beyond[0]:
            return math.inf
        if beyond > self.beyond[-1]:
            return -math.inf
        return float(np.interp(beyond, self.beyond, self.values))


@dataclass(frozen=True)
class Interval:
    """A quantile and its interval."""

    estimate: float
    low: float
    high: float


def tail_curve(cycles: Cycles) -> TailCurve:
    """Return P(R > γ) of weighted trials."""
    return TailCurve.of(cycles.value, cycles.weight, cycles.trials * cycles.mean_flows)


def quantile(cycles: Cycles, p: float) -> float:
    """Return the pooled quantile; the largest value if it lies beyond all flows."""
    found = tail_curve(cycles).at(1 - p)
    return found if math.isfinite(found) else float(cycles.value.max(initial=-math.inf))


def woodruff(cycles: Cycles, p: float, confidence: float) -> Interval:
    """Return the pooled quantile with Woodruff's interval, trials being the clusters."""
    curve, value = tail_curve(cycles), quantile(cycles, p)
    spread = float(cycles.beyond(value).std(ddof=1)) / (math.sqrt(cycles.trials) * cycles.mean_flows)
    reach = t_quantile(cycles.trials - 1, 1 - confidence) * spread
    low, high = curve.at(min(1 - p + reach, 1.0)), curve.at(1 - p - reach)
    return Interval(value, low, high)


def batches(cycles: Cycles, p: float, confidence: float, length: int = 40) -> Interval:
    """Return CCEval's batch method: Student's t over the quantiles of batches of `length` trials.

    Kept for comparison: a quantile of few trials is biased, and the interval does not know it. Trials that do not
    fill a batch are left out.

    Raises:
        ValueError: with fewer than two batches.
    """
    count = cycles.trials // length
    if count < 2:
        raise ValueError(f"the batch method needs at least {2 * length} trials, got {cycles.trials}")
    begin, weight, total = cycles.flows.begin, cycles.weight, length * cycles.mean_flows
    found = []
    for first in range(0, count * length, length):
        part = slice(begin[first], begin[first + length])
        curve = TailCurve.of(cycles.value[part], weight[part], total)
        value = curve.at(1 - p)
        found.append(value if math.isfinite(value) else float(cycles.value[part].max(initial=0.0)))
    return Interval(*t_interval(found, 1 - confidence))
