"""How long a trial must be: a pooled quantile at several durations, at equal simulated time in total.

A trial starts with an empty network, so short ones see less queueing than a network that runs on: on a shared link, p99
slowdown came out 19 % too low at 70 % load with trials of 0.02 s, and 60 % too low at 90 %. Cutting off the beginning
and the end hardly helps; longer trials do. What the longest duration shows is not sure to be right either, unless
shorter ones agree with it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.settling.quantiles import TailQuantile, tail_quantile
from lcca.evaluation.trials.metrics import statistic
from lcca.studies.cceval.estimators.accuracy import trials_by_eq_3
from lcca.studies.cceval.estimators.estimate import mean_over_trials

Floats = NDArray[np.float64]

FEWEST_TRIALS = 20
"""Fewer trials than these make a poor interval."""


@dataclass(frozen=True)
class DurationRow:
    """A pooled quantile at one duration.

    Attributes:
        duration_us: of a trial.
        trials: trials with at least one flow.
        flows: flows in them.
        tail_flows: flows beyond the estimate.
        estimate: the pooled quantile, in the metric's unit.
        low: lower end of its interval; −inf if the trials do not bound it.
        high: upper end.
        mean_of_trials: mean of the trials' own quantiles, which depends on the duration even more.
        mean_low: lower end of its interval; −inf with one trial.
        mean_high: upper end.
        bias: estimate over that of the longest duration, − 1; 0 for the longest.
        bias_low: lower end of its interval; −1 if nothing bounds it.
        bias_high: upper end; inf if nothing bounds it.
        warning: what keeps a reader from relying on this duration, or nothing.
    """

    duration_us: float
    trials: int
    flows: int
    tail_flows: int
    estimate: float
    low: float
    high: float
    mean_of_trials: float
    mean_low: float
    mean_high: float
    bias: float
    bias_low: float
    bias_high: float
    warning: str

    @property
    def biased(self) -> bool:
        """Whether the duration gives another quantile than the longest one."""
        return self.bias_low > 0 or self.bias_high < 0

    def trials_for(self, percent: float, confidence: float) -> float:
        """Return how many trials know the mean of their quantiles to so many per cent (CCEval, Eq. 3)."""
        return trials_by_eq_3(
            self.trials, self.mean_of_trials, (self.mean_high - self.mean_low) / 2, percent, confidence
        )

    @property
    def bounded(self) -> bool:
        """Whether the bias has an interval at all; with few trials it has none."""
        return -1 < self.bias_low and self.bias_high < math.inf


def duration_rows(flows: Mapping[float, Sequence[Floats]], p: float, confidence: float = 0.95) -> list[DurationRow]:
    """Return a row per duration, the shortest first.

    The intervals of the bias hold together for all durations (Bonferroni). They put the two intervals together as
    independent ones, so the trials of different durations must have seeds of their own.

    Args:
        flows: per duration (µs) and trial, the values of the trial's flows.
        p: which quantile, in (0, 1).
        confidence: of the intervals.

    Raises:
        ValueError: no durations, or one without any flow.
    """
    durations = sorted(flows)
    if not durations:
        raise ValueError("at least one duration is needed")
    shared = 1 - (1 - confidence) / max(len(durations) - 1, 1)
    longest = tail_quantile(flows[durations[-1]], p, confidence=shared)
    return [_row(d, flows[d], longest, p, confidence, shared, d == durations[-1]) for d in durations]


def shortest_unbiased(rows: Sequence[DurationRow]) -> float | None:
    """Return the shortest duration (µs) from which on no bias is seen; None if no shorter one bears the longest out."""
    agreeing = None
    for row in sorted(rows, key=lambda row: row.duration_us, reverse=True)[1:]:
        if row.biased or not row.bounded:
            break
        agreeing = row.duration_us
    return agreeing


def _row(
    duration: float,
    trials: Sequence[Floats],
    longest: TailQuantile,
    p: float,
    confidence: float,
    shared: float,
    is_longest: bool,
) -> DurationRow:
    pooled = tail_quantile(trials, p, confidence=confidence)
    bias = (0.0, 0.0, 0.0) if is_longest else _bias(tail_quantile(trials, p, confidence=shared), longest)
    return DurationRow(
        duration,
        pooled.trials,
        pooled.flows,
        pooled.tail_flows,
        pooled.value,
        pooled.low,
        pooled.high,
        *mean_over_trials([statistic(x, p) for x in trials if len(x)], confidence),
        *bias,
        warning="; ".join(_warnings(pooled, bias)),
    )


def _bias(short: TailQuantile, longest: TailQuantile) -> tuple[float, float, float]:
    """Return short / longest − 1 with its interval.

    Squares of the distances to the ends that matter add up (Zou & Donner 2008), on a log scale where all are positive.
    """
    if min(short.value, longest.value) <= 0:
        return (short.value / longest.value - 1 if longest.value else math.nan), -1.0, math.inf
    gap = math.log(short.value / longest.value)
    down = math.hypot(_log_ratio(short.value, short.low), _log_ratio(longest.high, longest.value))
    up = math.hypot(_log_ratio(short.high, short.value), _log_ratio(longest.value, longest.low))
    return math.expm1(gap), math.expm1(gap - down), math.expm1(gap + up)


def _log_ratio(above: float, below: float) -> float:
    return math.log(above / below) if below > 0 and above < math.inf else math.inf


def _warnings(pooled: TailQuantile, bias: tuple[float, float, float]) -> list[str]:
    value, low, high = bias
    notes = []
    if low > 0 or high < 0:
        notes.append(f"biased: {100 * value:+.0f} % [{100 * low:+.0f}, {100 * high:+.0f}] against the longest")
    if pooled.trials < FEWEST_TRIALS:
        notes.append(f"only {pooled.trials} trials")
    return [*notes, pooled.warning] if pooled.warning else notes
