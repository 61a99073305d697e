"""What every settling rule has in common: its fields, and the run of one comparison under it.

The unit of every rule is a block: what it is fed are means of differences over blocks of networks (`units`), one per
stratum, and all its numbers count blocks. Single networks are no units: the few with one or two senders carry the tail
of the differences, and before one of them is met a sample is tight, symmetric and wrong (measured by
`benchmarks/settling/null.py --plain`).

A `Rule` is a value that can stand in a campaign's file. `rule.start()` returns a `Settling`, which is fed differences
in order and looks at them when the rule says so. Its state is that of the last look, on everything that was fed: a
rule tells when it is safe to stop, and what was run after that still counts. The state is a function of the first n
differences alone: it does not matter when anybody looked, nor how they were cut into batches.

A new rule is one file with two small classes, the rule and its run, its place in `rules`, and a subclass of the
conformance suite in `tests/evaluation/settling/settling_conformance.py`, which also measures its error rates.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator
from scipy.special import chdtri, stdtrit

from lcca.evaluation.settling.judgement import Look, judge
from lcca.evaluation.settling.sequence import Moments, log_e_value, mixture_scale
from lcca.inputs.model import Model

FEWEST_ALIKE = 7
"""Blocks before differences that were all the same may settle anything. Policies that differ on few networks look alike
at first; after 7 blocks of 16 equal pairs fewer than 3 % of networks differ (95 %, the rule of three)."""

ACCURATE = 1 / 8
"""Half-width of the interval, in margins, at which a run ends: its size is then known as well as its sign."""

UNFINISHED_PERCENT = 1.0
"""So much may be unfinished of what a utility scores: a p99 is then known, and a mean nearly."""


class Rule(Model, ABC):
    """When a comparison is settled.

    Attributes:
        kind: how a campaign's file names the rule.
        margin_percent: throughput-equivalent percent that does not matter.
        alpha: error rate of one comparison over all its looks.
        arms: paired: trial i of A and of B met the same traffic, as all do here.
        first_look: blocks before anything is said.
        every: blocks from there to the next look, and so on.
        skew_limit: |skewness| of the blocks above which a reader is warned.
        ceiling: blocks at which to stop, settled or not; the last look is there. None for no limit.
        unfinished_percent: of what the utility scores, flows or rounds, so much may be unfinished under either policy;
            with more there is no verdict.
    """

    kind: str
    margin_percent: float = Field(default=3.0, gt=0)
    alpha: float = Field(default=0.05, gt=0, lt=1)
    arms: Literal["paired"] = "paired"
    first_look: int = Field(default=6, ge=2)
    every: int = Field(default=1, ge=1)
    skew_limit: float = Field(default=2.0, gt=0)
    ceiling: int | None = Field(default=None, ge=2)
    unfinished_percent: float = Field(default=UNFINISHED_PERCENT, ge=0, le=100)

    @model_serializer(mode="wrap")
    def _written(self, content: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what may be unfinished where it is the usual share."""
        usual = self.unfinished_percent == UNFINISHED_PERCENT
        return {key: value for key, value in content(self).items() if key != "unfinished_percent" or not usual}

    @model_validator(mode="after")
    def _ceiling_allows_a_look(self) -> Self:
        if self.ceiling is not None and self.ceiling < self.first_look:
            raise ValueError(f"ceiling must be at least first_look ({self.first_look}), got {self.ceiling}")
        return self

    def margin_bits(self) -> float:
        """Return the margin in bits of a score that counts one bit per doubling of throughput."""
        return math.log2(1 + self.margin_percent / 100)

    def shared_among(self, comparisons: int) -> Self:
        """Return the rule with α divided by the number of comparisons (Bonferroni)."""
        return self.model_copy(update={"alpha": self.alpha / max(comparisons, 1)})

    def ending_at(self, most: int) -> Self:
        """Return the rule with its last look at `most` blocks at the latest, but for its first look."""
        return self.model_copy(update={"ceiling": max(min(self.ceiling or most, most), self.first_look)})

    def looks_until(self, most: int) -> list[int]:
        """Return the numbers of blocks at which it looks, up to `most`: they do not depend on what is seen."""
        run = self.ending_at(most).start(1.0)
        run.feed([0.0] * most)
        return [look.n for look in run.looks]

    @abstractmethod
    def start(self, margin: float | None = None) -> "Settling":
        """Return a comparison without any differences yet; the margin is in bits unless given."""


@dataclass(frozen=True)
class Forecast:
    """How many blocks a comparison will take until it is settled, judged from those seen.

    Attributes:
        likely_low: blocks at the optimistic end of the 90 % forecast interval.
        likely_high: blocks at its other end, at most `ceiling`.
        ceiling: blocks after which the interval is no wider than the margin, so that some verdict must
            have been reached, if the noise stays as it is.
    """

    likely_low: int
    likely_high: int
    ceiling: int


class Settling(ABC):
    """A comparison on its way to a verdict, by one rule. Interval and verdict are those of the last look."""

    rule: Rule

    def __init__(self, rule: Rule, margin: float) -> None:
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
        """Whether the rule takes no more: it is at its ceiling."""
        return self.rule.ceiling is not None and self._moments.n >= self.rule.ceiling

    @property
    def accurate(self) -> bool:
        """Whether the last look is settled and knows the difference as well as a run is to know it."""
        return self.state.verdict.settled and (self.state.high - self.state.low) / 2 <= ACCURATE * self.margin

    def feed(self, differences: Iterable[float]) -> Look:
        """Take the next differences in order and return the state.

        Raises:
            ValueError: if a difference is not finite.
        """
        values, at = list(differences), 0
        while at < len(values) and not self.finished:
            until = at + self._until_look
            self._take(values[at:until])
            at = until
        return self.state

    def forecast(self) -> Forecast | None:
        """Forecast the blocks to settle from the last look; None before the first."""
        if not self.looks:
            return None
        if self.state.spread == 0:  # nothing is known of the noise; if it stays so, these many settle it
            alike = max(FEWEST_ALIKE, self.state.n)
            return Forecast(alike, alike, alike)
        return self._forecast()

    @abstractmethod
    def _forecast(self) -> Forecast:
        """Forecast the blocks to settle from the last look, which saw a spread > 0."""

    @abstractmethod
    def _half_width(self, n: int, spread: float) -> float:
        """Return half the width of the interval at a look after `n` differences of this spread > 0."""

    def _after(self, n: int) -> int:
        """Return where the look after the one at n is; there is one at the ceiling in any case."""
        return n + self.rule.every

    @property
    def _until_look(self) -> int:
        ceiling = self.next_look if self.rule.ceiling is None else self.rule.ceiling
        return min(self.next_look, ceiling) - self._moments.n

    def _take(self, differences: Sequence[float]) -> None:
        """Take differences, at most up to the next look, and look if it has come."""
        if not all(map(math.isfinite, differences)):
            at, wrong = next((i, d) for i, d in enumerate(differences, start=1) if not math.isfinite(d))
            raise ValueError(f"difference {self._moments.n + at} is not finite: {wrong}")
        self._moments.extend(differences)
        n, ceiling = self._moments.n, self.rule.ceiling
        if n < (self.next_look if ceiling is None else min(self.next_look, ceiling)):
            return
        self._look()
        following = self._after(n)
        self.next_look = following if ceiling is None else min(following, ceiling)

    def _look(self) -> None:
        n, mean, spread = self._moments.n, self._moments.mean, self._moments.spread
        if not self.looks:
            self._g = mixture_scale(spread, self.margin, self.rule.alpha)
        if spread > 0:
            width = self._half_width(n, spread)
        else:
            width = 0.0 if n >= FEWEST_ALIKE else math.inf
        low, high = mean - width, mean + width
        evidence = log_e_value(n, mean, spread, self._g)
        self.looks.append(
            Look(n, mean, low, high, spread, self._moments.skewness, evidence, judge(low, high, self.margin))
        )


def spread_range(n: int, spread: float, confidence: float) -> tuple[float, float]:
    """Return the χ² interval for the standard deviation of normal numbers of which n had this spread."""
    tail, squares = (1 - confidence) / 2, (n - 1) * spread**2
    low, high = (math.sqrt(squares / float(chdtri(n - 1, p))) for p in (tail, 1 - tail))
    return low, high


def forecast_blocks(
    look: Look, margin: float, until: Callable[[float, float], int], confidence: float = 0.9
) -> Forecast:
    """Forecast the blocks to settle, with a range for what the blocks seen tell about mean and spread.

    The point forecast is the first n whose half-width is at most max(|mean|, margin − |mean|). The
    range moves the mean over its t interval and the spread over its χ² interval at `confidence`.

    Args:
        look: the last look.
        margin: the difference that does not matter.
        until: gives the first n at which the half-width is at most its first argument (a difference)
            if the spread is its second.
        confidence: of both intervals.
    """
    n, mean, spread = look.n, abs(look.mean), look.spread
    optimistic, pessimistic = spread_range(n, spread, confidence)
    reach = float(stdtrit(n - 1, (1 + confidence) / 2)) * spread / math.sqrt(n)
    near, far = max(mean - reach, 0.0), mean + reach
    widest = max(far, margin - near)
    narrowest = margin / 2 if near <= margin / 2 <= far else min(max(x, margin - x) for x in (near, far))
    ceiling = until(margin / 2, spread)
    likely_low = min(until(widest, optimistic), ceiling)
    likely_high = min(until(narrowest, pessimistic), ceiling)
    return Forecast(likely_low, max(likely_low, likely_high), ceiling)
