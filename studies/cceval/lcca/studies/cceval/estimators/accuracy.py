"""How many trials an accuracy takes, forecast after the first look and needed (CCEval, Fig. 10); spread (Fig. 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtr

from lcca.evaluation.settling.intervals import t_quantile
from lcca.studies.cceval.estimators.estimate import EstimateLook, Estimating, forecast_trials

PERCENTS = (20.0, 10.0, 5.0, 3.0, 2.0, 1.0, 0.5)
"""Accuracies, in per cent of the estimate."""


@dataclass(frozen=True)
class AccuracyRow:
    """The trials that one accuracy takes.

    Attributes:
        percent: half the interval's width in per cent of the estimate.
        needed: trials at the first look that was so accurate (CCEval's real trial count), None if none was. To stop
            there is a rule that looks at the data: see `lcca.studies.cceval.estimators.estimate` for its coverage.
        forecast: after the first look, by Eq. 3 (CCEval's estimated trial count).
        forecast_low: lower end of its 90 % range.
        forecast_high: upper end.
        forecast_last: the same by Eq. 3 with all trials.
    """

    percent: float
    needed: int | None
    forecast: float
    forecast_low: int
    forecast_high: int
    forecast_last: float


def accuracy_rows(going: Estimating, percents: Sequence[float] = PERCENTS) -> list[AccuracyRow]:
    """Return a row per accuracy; none before the first look, or where accuracy is not relative."""
    if not going.looks or going.config.accuracy is not None:
        return []
    return [_row(going, percent) for percent in percents]


def _row(going: Estimating, percent: float) -> AccuracyRow:
    first, last = going.looks[0], going.looks[-1]
    asked = going.config.model_copy(update={"accuracy_percent": percent})
    needed = next((look.n for look in going.looks if look.half_width <= asked.required(look.estimate)), None)
    ahead = forecast_trials(going.first_parts, first.estimate, first.half_width, asked)
    ways = (by_eq_3(look, percent, asked.confidence) for look in (first, last))
    forecast, again = ways
    return AccuracyRow(percent, needed, forecast, *ahead, again)


def by_eq_3(look: EstimateLook, percent: float, confidence: float) -> float:
    """Return the trials that so many per cent of the estimate take, as one look has it."""
    return trials_by_eq_3(look.n, look.estimate, look.half_width, percent, confidence)


def trials_by_eq_3(n: int, estimate: float, half_width: float, percent: float, confidence: float) -> float:
    """Return N = (z·s / ε·mean)², CCEval's Eq. 3.

    Args:
        n: trials so far.
        estimate: the mean.
        half_width: of its interval, t·s/√n.
        percent: ε.
        confidence: of both.
    """
    half = percent / 100 * abs(estimate)
    if half == 0 or not math.isfinite(half_width) or n < 2:
        return math.inf
    z, t = float(ndtri((1 + confidence) / 2)), t_quantile(n - 1, 1 - confidence)
    return n * (half_width * z / t / half) ** 2


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over trials, which papers report, beside what they say of the mean.

    Attributes:
        mean: over trials of their own values.
        sd: standard deviation of them.
        sd_holds: chance that mean ± sd holds the mean of all trials there could be, for normal values: not 68 %, that
            of a single trial's value, but near 1 from ten trials on.
    """

    mean: float
    sd: float
    sd_holds: float


def spread(going: Estimating) -> Spread:
    """Return the spread of the trials' own values; NaN with fewer than two."""
    values = going.values
    if values.size < 2:
        return Spread(float(values[0]) if values.size else math.nan, math.nan, math.nan)
    holds = 2 * float(stdtr(values.size - 1, math.sqrt(values.size))) - 1
    return Spread(float(values.mean()), float(np.std(values, ddof=1)), holds)
