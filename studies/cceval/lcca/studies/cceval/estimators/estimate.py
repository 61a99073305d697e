"""How large a metric is, to a set accuracy: CCEval's model-free estimation (§4.2), and how many trials it will take.

Trials are added until half the interval's width is at most ε times the estimate (Eq. 2), with Student's t in
place of the normal quantile, which is too short at 20 trials. The estimate is a mean over trials, or a
tail quantile of their flows. Its state is a function of the first n trials alone.

Stopping by the spread costs a little: coverage is 93 to 95 % at nominal 95 % for moderate tails. Where single
trials are rare and huge (Pareto), it is 73 to 90 %, and the truth is then above the interval.
"""

import math
from array import array
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator
from scipy.special import chdtri

from lcca.evaluation.settling.intervals import t_interval, t_quantile
from lcca.evaluation.settling.quantiles import excesses, tail_quantile, tail_warning
from lcca.evaluation.settling.sequence import HORIZON
from lcca.evaluation.trials.metrics import statistic
from lcca.inputs.json_values import finite_values
from lcca.inputs.model import Model

Floats = NDArray[np.float64]
TailTarget = Literal["pooled", "mean-of-trials"]

ARBITRARY_ZERO = frozenset({"score_bits"})
FORECAST_CONFIDENCE = 0.9


def mean_over_trials(values: ArrayLike, confidence: float) -> tuple[float, float, float]:
    """Return the mean of a value per trial with its Student's t interval, which has no ends with a single trial."""
    value, low, high = t_interval(values, 1 - confidence)
    return (value, low, high) if math.isfinite(low) else (value, -math.inf, math.inf)


class EstimateConfig(Model):
    """What to estimate, and how well.

    Attributes:
        metric: a column of the trials table, or the name of what flows are measured by.
        quantile: which quantile of the trials' flows; None for the mean of a value per trial.
        target: with a quantile, of all flows pooled, or the mean of the trials' own (CCEval's).
        accuracy_percent: half the interval's width must be at most this much of the estimate.
        accuracy: or at most this, in the metric's unit. Needed for a metric with an arbitrary zero.
        confidence: of the interval.
        floor: trials before anything is said.
        every: trials from there to the next look; with a quantile at least 2 % of those seen.
        ceiling: trials at which to stop, accurate or not; None for no limit.
    """

    metric: str = Field(min_length=1)
    quantile: float | None = Field(default=None, gt=0, lt=1)
    target: TailTarget = "pooled"
    accuracy_percent: float = Field(default=1.0, gt=0)
    accuracy: float | None = Field(default=None, gt=0)
    confidence: float = Field(default=0.95, gt=0, lt=1)
    floor: int = Field(default=20, ge=2)
    every: int = Field(default=10, ge=1)
    ceiling: int | None = Field(default=None, ge=2)

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.ceiling is not None and self.ceiling < self.floor:
            raise ValueError(f"ceiling must be at least floor ({self.floor}), got {self.ceiling}")
        if self.metric in ARBITRARY_ZERO and self.accuracy is None:
            raise ValueError(f"{self.metric} has an arbitrary zero: give accuracy, in bits, not a per cent of it")
        return self

    @property
    def words(self) -> str:
        """How the estimate is made, in a few words."""
        if self.quantile is None:
            return "model-free: mean over trials, Student's t"
        if self.target == "pooled":
            return "model-free: pooled quantile, cluster-Woodruff"
        return "model-free: mean of the trials' quantiles, Student's t"

    def required(self, estimate: float) -> float:
        """Return the half-width that is accurate enough."""
        return self.accuracy if self.accuracy is not None else abs(estimate) * self.accuracy_percent / 100


@dataclass(frozen=True)
class EstimateLook:
    """What was seen after n trials, for the plot of convergence.

    Attributes:
        n: trials.
        estimate: the mean or quantile.
        low: lower end of its interval.
        high: upper end.
        required: the half-width asked for.
        forecast_low: trials that the accuracy will take, if chance is kind.
        forecast_high: the same, if it is unkind.
    """

    n: int
    estimate: float
    low: float
    high: float
    required: float
    forecast_low: int
    forecast_high: int

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    @property
    def accurate(self) -> bool:
        """Whether the interval is as narrow as asked."""
        return self.half_width <= self.required


@dataclass(frozen=True)
class Estimate:
    """The result of an estimation.

    Attributes:
        estimate: the mean or quantile, in the metric's unit; NaN before the floor.
        low: lower end of the interval.
        high: upper end.
        confidence: of the interval.
        trials: trials that it rests on.
        forecast_low: forecast of those trials: the first one if the accuracy was reached, so that it can
            be held against `trials`, and of one of several metrics; otherwise the latest. 0 before the floor.
        forecast_high: its upper end.
        method: in a few words.
    """

    estimate: float
    low: float
    high: float
    confidence: float
    trials: int
    forecast_low: int
    forecast_high: int
    method: str

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values; what is unknown or infinite becomes null."""
        return finite_values(asdict(self))


class Estimating:
    """An estimation on its way; frozen where the ceiling is reached or, unless it goes on, the accuracy.

    Args:
        config: what is asked for.
        goes_on: whether it takes trials beyond the accuracy asked for, since others still need them.
    """

    def __init__(self, config: EstimateConfig, *, goes_on: bool = False) -> None:
        self.config = config
        self.goes_on = goes_on
        self.looks: list[EstimateLook] = []
        self.next_look = config.floor
        self.warning = ""
        self.first_parts: Floats = np.array([])  # that the first look rests on, see `forecast_trials`
        self._n = 0  # trials
        self._numbers = array("d")  # the value of each trial that has one: itself, or the quantile of its flows
        self._flows: list[Floats] = []  # of each trial, for a quantile

    @property
    def trials(self) -> int:
        """How many were taken."""
        return self._n

    @property
    def finished(self) -> bool:
        """Whether further trials would change nothing."""
        ceiling = self.config.ceiling
        return (self.accurate and not self.goes_on) or (ceiling is not None and self._n >= ceiling)

    @property
    def accurate(self) -> bool:
        """Whether the accuracy was reached."""
        return bool(self.looks and self.looks[-1].accurate)

    def feed(self, trials: Iterable[ArrayLike]) -> Estimate:
        """Take the next trials in order and return the state.

        Args:
            trials: a number per trial, or with a quantile the values of its flows.

        Raises:
            ValueError: if a value is not finite, or a trial is not one number where a mean is wanted.
        """
        for trial in trials:
            if self.finished:
                break
            self._take(trial)
            if self._n == self.next_look:
                self._look()
        return self.state

    def look_again(self) -> None:
        """Look at all trials so far, unless that has been done or they are fewer than the floor."""
        if self.looks and self.looks[-1].n < self._n:
            self._look()

    @property
    def first_accurate(self) -> EstimateLook | None:
        """The first look that was accurate enough."""
        return next((look for look in self.looks if look.accurate), None)

    @property
    def state(self) -> Estimate:
        """The last look as a result."""
        config = self.config
        if not self.looks:
            return Estimate(math.nan, -math.inf, math.inf, config.confidence, 0, 0, 0, config.words)
        last = self.looks[-1]
        told = self.looks[0] if last.accurate or self.goes_on else last
        ends = (last.estimate, last.low, last.high, config.confidence, last.n)
        return Estimate(*ends, told.forecast_low, told.forecast_high, config.words)

    @property
    def values(self) -> Floats:
        """A value for each trial: itself, or with a quantile that of its own flows (trials without flows left out)."""
        return np.array(self._numbers)

    def _take(self, trial: ArrayLike) -> None:
        if (p := self.config.quantile) is not None:
            flows = self._finite(trial)
            self._flows.append(flows)
            if flows.size:
                self._numbers.append(statistic(flows, p))
        else:
            value = self._number(trial)
            if not math.isfinite(value):
                raise ValueError(f"trial {self._n + 1} has a value that is not finite")
            self._numbers.append(value)
        self._n += 1

    def _finite(self, trial: ArrayLike) -> Floats:
        values = np.asarray(trial, dtype=np.float64).ravel()
        if not np.all(np.isfinite(values)):
            raise ValueError(f"trial {self._n + 1} has a value that is not finite")
        return values

    def _number(self, trial: Any) -> float:
        if isinstance(trial, float):
            return trial
        values = np.asarray(trial, dtype=np.float64).ravel()
        if values.size != 1:
            raise ValueError(f"trial {self._n + 1} must be one number for a mean over trials, got {values.size}")
        return float(values[0])

    def _look(self) -> None:
        n, config = self._n, self.config
        estimate, low, high, parts = self._interval()
        required = config.required(estimate)
        ahead = forecast_trials(parts, estimate, (high - low) / 2, config)
        if not self.looks:
            self.first_parts = parts
        self.looks.append(EstimateLook(n, estimate, low, high, required, *ahead))
        following = n + max(config.every, 0 if config.quantile is None else n // 50)
        self.next_look = following if config.ceiling is None else min(following, config.ceiling)

    def _interval(self) -> tuple[float, float, float, Floats]:
        """Return the estimate, the ends of its interval, and what each trial adds to its error."""
        config = self.config
        if config.quantile is None or config.target == "mean-of-trials":
            return self._mean()
        found = tail_quantile(self._flows, config.quantile, confidence=config.confidence)
        self.warning = found.warning
        flows = [x for x in self._flows if x.size]
        return found.value, found.low, found.high, excesses(flows, config.quantile, found.value)

    def _mean(self) -> tuple[float, float, float, Floats]:
        """Return the mean over trials, the ends of its interval, and the values."""
        if not len(self._numbers):
            raise ValueError("no trial has a flow")
        values = self.values
        found = mean_over_trials(values, self.config.confidence)
        if self.config.quantile is not None:
            self.warning = tail_warning(sum(int(np.count_nonzero(x > found[0])) for x in self._flows))
        return *found, values


def forecast_trials(parts: Floats, estimate: float, half_width: float, config: EstimateConfig) -> tuple[int, int]:
    """Forecast how many trials the accuracy will take (Eq. 3), as a range.

    Half-widths fall as 1/√n, so n·(half-width / required)² are needed. The range moves the spread that
    the half-width rests on over its χ² interval, with fewer degrees of freedom the heavier the tails, and
    an estimate that the accuracy is relative to over its own interval, both at 90 %.

    Args:
        parts: what each trial adds to the error of the estimate.
        estimate: the mean or quantile.
        half_width: of its interval at present.
        config: the accuracy asked for.
    """
    n = parts.size
    if n < 2 or not math.isfinite(half_width):
        return HORIZON, HORIZON
    tail = (1 - FORECAST_CONFIDENCE) / 2
    degrees = spread_degrees(parts)
    kind, unkind = (degrees / float(chdtri(degrees, p)) for p in (tail, 1 - tail))
    reach = half_width * t_quantile(n - 1, 2 * tail) / t_quantile(n - 1, 1 - config.confidence)
    low = n * kind * _squared_ratio(half_width, config.required(abs(estimate) + reach))
    high = n * unkind * _squared_ratio(half_width, config.required(max(abs(estimate) - reach, 0.0)))
    return _trials(low, config.floor), _trials(high, config.floor)


def spread_degrees(values: Floats) -> float:
    """Return the degrees of freedom that the variance of these values is worth: n − 1 for normal ones.

    From var(s²) = σ⁴·(kurtosis − 1)/n, with the sample's kurtosis where it is above the normal one's 3.
    """
    centred = values - values.mean()
    variance = float((centred**2).mean())
    kurtosis = float((centred**4).mean()) / variance**2 if variance > 0 else 3.0
    return max(2 * (values.size - 1) / (max(kurtosis, 3.0) - 1), 1.0)


def _squared_ratio(width: float, required: float) -> float:
    if width == 0:
        return 0.0
    ratio = width / required if required > 0 else math.inf
    return ratio * ratio  # a power of floats raises where this is infinite


def _trials(number: float, floor: int) -> int:
    return HORIZON if number >= HORIZON else max(math.ceil(number), floor)
