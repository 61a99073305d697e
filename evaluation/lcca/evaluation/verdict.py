"""When a comparison is settled, and how: the rule, the verdict and the forecast.

A `SettlingRule` is a value that can stand in a campaign's file. `rule.start()` returns a `Settling`,
which is fed paired differences in order and looks at them on the rule's own schedule. Its state is a
function of the first n differences alone: it does not matter when anybody looked, nor how the
differences were cut into batches.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pydantic import Field, model_validator
from scipy.special import chdtri, stdtrit

from lcca.evaluation.sequence import Moments, half_width, log_e_value, mixture_scale, pairs_until
from lcca.signal_sets.model import Model

FEWEST_ALIKE = 100
"""Pairs before differences that were all the same may settle anything. Policies that differ on few networks look alike
at first; after 100 equal pairs fewer than 3 % of networks differ (95 %, the rule of three)."""

VerdictName = Literal["better", "worse", "equivalent", "not settled"]
Direction = Literal["+", "-", "0"]


@dataclass(frozen=True)
class Verdict:
    """What an interval says about B − A.

    Attributes:
        name: B is better than A, worse, equivalent (within the margin), or not settled.
        by_more_than_margin: the whole interval lies beyond the margin.
        direction: "+" if the interval lies above 0, "-" if below, "0" if it holds 0. An equivalent
            pair may have a direction: a difference that is real and does not matter.
    """

    name: VerdictName = "not settled"
    by_more_than_margin: bool = False
    direction: Direction = "0"

    @property
    def settled(self) -> bool:
        """Whether anything has been decided."""
        return self.name != "not settled"


def judge(low: float, high: float, margin: float) -> Verdict:
    """Return the verdict of an interval for B − A, where larger is better and ±margin does not matter.

    An interval no wider than the margin always settles: if it holds 0 it lies inside ±margin.
    """
    direction: Direction = "+" if low > 0 else "-" if high < 0 else "0"
    if -margin < low and high < margin:
        return Verdict("equivalent", direction=direction)
    if direction == "0":
        return Verdict()
    beyond = low > margin or high < -margin
    return Verdict("better" if direction == "+" else "worse", beyond, direction)


@dataclass(frozen=True)
class Forecast:
    """How many pairs a comparison will take, judged from those seen.

    Attributes:
        likely_low: pairs needed if the effect and the noise are as kind as they may well be.
        likely_high: pairs needed if they are as unkind, at most `ceiling`.
        ceiling: pairs after which the interval is no wider than the margin, so that some verdict must
            have been reached, if the noise stays as it is.
    """

    likely_low: int
    likely_high: int
    ceiling: int


def forecast(
    n: int, mean: float, spread: float, *, g: float, margin: float, alpha: float, confidence: float = 0.9
) -> Forecast:
    """Forecast the pairs to settle, with a range for what n pairs tell about mean and spread.

    The point forecast is the first n whose half-width is at most max(|mean|, margin − |mean|). The
    range moves the mean over its t interval and the spread over its χ² interval at `confidence`.
    """
    tail = (1 - confidence) / 2
    squares = (n - 1) * spread**2
    kind, unkind = (math.sqrt(squares / float(chdtri(n - 1, p))) for p in (tail, 1 - tail))
    reach = float(stdtrit(n - 1, 1 - tail)) * spread / math.sqrt(n)
    near, far = max(abs(mean) - reach, 0.0), abs(mean) + reach
    widest = max(far, margin - near)
    narrowest = margin / 2 if near <= margin / 2 <= far else min(max(x, margin - x) for x in (near, far))
    ceiling = pairs_until(margin / 2, spread, g, alpha, n)
    likely_low = min(pairs_until(widest, kind, g, alpha, n), ceiling)
    likely_high = min(pairs_until(narrowest, unkind, g, alpha, n), ceiling)
    return Forecast(likely_low, max(likely_low, likely_high), ceiling)


@dataclass(frozen=True)
class Look:
    """What was seen at one look: a function of the first n differences.

    Attributes:
        n: differences seen.
        mean: their mean; NaN before the first look.
        low: lower end of the confidence sequence, −inf before the first look.
        high: upper end.
        spread: their standard deviation.
        skewness: their skewness.
        log_e_value: natural logarithm of the e-value of "the mean difference is 0".
        verdict: what the interval says.
    """

    n: int = 0
    mean: float = math.nan
    low: float = -math.inf
    high: float = math.inf
    spread: float = math.nan
    skewness: float = math.nan
    log_e_value: float = 0.0
    verdict: Verdict = Verdict()

    @property
    def e_value(self) -> float:
        """Evidence against "the mean difference is 0", capped so that it stays finite."""
        return math.exp(min(self.log_e_value, 700.0))


class SettlingRule(Model):
    """The default rule: the t-mixture confidence sequence at a fixed schedule of looks.

    Attributes:
        margin_percent: throughput-equivalent percent that does not matter.
        alpha: error rate of one comparison over all its looks.
        first_look: pairs at the first look, which also tune the mixture.
        every: pairs between looks.
        every_skewed: pairs between looks while the differences are skewed.
        skew_limit: |skewness| above which they count as skewed.
        ceiling: pairs at which to stop, settled or not; the last look is there. None for no limit.
    """

    margin_percent: float = Field(default=3.0, gt=0)
    alpha: float = Field(default=0.05, gt=0, lt=1)
    first_look: int = Field(default=20, ge=2)
    every: int = Field(default=10, ge=1)
    every_skewed: int = Field(default=20, ge=1)
    skew_limit: float = Field(default=2.0, gt=0)
    ceiling: int | None = Field(default=None, ge=2)

    @model_validator(mode="after")
    def _ceiling_allows_a_look(self) -> "SettlingRule":
        if self.ceiling is not None and self.ceiling < self.first_look:
            raise ValueError(f"ceiling must be at least first_look ({self.first_look}), got {self.ceiling}")
        return self

    def margin_bits(self, throughput_weight: float = 1.0) -> float:
        """Return the margin in bits of a score that counts `throughput_weight` bits per doubling."""
        return throughput_weight * math.log2(1 + self.margin_percent / 100)

    def shared_among(self, comparisons: int) -> "SettlingRule":
        """Return the rule with α divided by the number of comparisons (Bonferroni)."""
        return self.model_copy(update={"alpha": self.alpha / max(comparisons, 1)})

    def start(self, margin: float | None = None) -> "Settling":
        """Return a comparison without any differences yet; the margin is in bits unless given."""
        return Settling(self, self.margin_bits() if margin is None else margin)


class Settling:
    """A comparison on its way to a verdict, by one `SettlingRule`.

    A verdict is frozen at the first look that reaches one: what is fed later changes nothing.
    """

    def __init__(self, rule: SettlingRule, margin: float) -> None:
        """Start without differences; `margin` is in their unit and must be > 0."""
        if not margin > 0:
            raise ValueError(f"margin must be > 0, got {margin}")
        self.rule = rule
        self.margin = margin
        self.looks: list[Look] = []
        self.next_look = rule.first_look
        self._moments = Moments()
        self._g = math.nan

    @property
    def state(self) -> Look:
        """The last look, or an empty one before the first."""
        return self.looks[-1] if self.looks else Look()

    @property
    def finished(self) -> bool:
        """Whether further differences would change nothing: settled, or at the rule's ceiling."""
        at_ceiling = self.rule.ceiling is not None and self._moments.n >= self.rule.ceiling
        return at_ceiling or self.state.verdict.settled

    def feed(self, differences: Iterable[float]) -> Look:
        """Take the next differences in order and return the state.

        Raises:
            ValueError: if a difference is not finite.
        """
        for difference in differences:
            if self.finished:
                break
            if not math.isfinite(difference):
                raise ValueError(f"difference {self._moments.n + 1} is not finite: {difference}")
            self._moments.push(float(difference))
            if self._moments.n == self.next_look:
                self._look()
        return self.state

    def forecast(self) -> Forecast | None:
        """Forecast the pairs to settle from the last look; None before the first."""
        seen = self.state
        if not self.looks:
            return None
        return forecast(seen.n, seen.mean, seen.spread, g=self._g, margin=self.margin, alpha=self.rule.alpha)

    def _look(self) -> None:
        seen, alpha = self._moments, self.rule.alpha
        if not self.looks:
            self._g = mixture_scale(seen.spread, self.margin, alpha)
        alike = seen.spread == 0 and seen.n < FEWEST_ALIKE
        width = math.inf if alike else half_width(seen.n, seen.spread, self._g, alpha)
        low, high = seen.mean - width, seen.mean + width
        verdict = judge(low, high, self.margin)
        evidence = log_e_value(seen.n, seen.mean, seen.spread, self._g)
        self.looks.append(Look(seen.n, seen.mean, low, high, seen.spread, seen.skewness, evidence, verdict))
        self.next_look = self._after(seen)

    def _after(self, seen: Moments) -> int:
        skewed = abs(seen.skewness) > self.rule.skew_limit
        following = seen.n + (self.rule.every_skewed if skewed else self.rule.every)
        return following if self.rule.ceiling is None else min(following, self.rule.ceiling)
