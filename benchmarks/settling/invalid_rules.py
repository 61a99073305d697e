"""Two settling rules to contrast with the valid ones: the t-test repeated at every look, and CCEval's.

CCEval (§4.2) runs trials until the confidence interval of one policy's metric is narrow enough and says
nothing about when two policies differ; readers compare the finished intervals. Here the same is done
with the difference: trials are added until its t interval has the accuracy asked for, and that interval
is judged. Nothing is decided before, however clear it looks, which is what it costs. Student's t stands
in place of the paper's normal quantile (Eq. 2), and an accuracy relative to the metric's mean is one of
a log-ratio or of bits.
"""

import math
from dataclasses import replace
from typing import Literal

from pydantic import Field

from lcca.evaluation.settling.base import Forecast, Rule, Settling, forecast_blocks, spread_range
from lcca.evaluation.settling.intervals import t_quantile
from lcca.evaluation.settling.judgement import NOT_SETTLED
from lcca.evaluation.settling.sequence import first_reached


class RepeatedTRule(Rule):
    """Student's t interval, judged at every look as if it were the only one."""

    kind: Literal["repeated-t"] = "repeated-t"

    def start(self, margin: float | None = None) -> "RepeatedTSettling":
        """Return a comparison without any differences yet; the margin is in bits unless given."""
        return RepeatedTSettling(self, self.margin_bits() if margin is None else margin)


class RepeatedTSettling(Settling):
    """A comparison by repeated t-tests."""

    rule: RepeatedTRule

    def _forecast(self) -> Forecast:
        """Forecast the blocks to settle from the last look."""

        def until(target: float, spread: float) -> int:
            return t_pairs_until(target, spread, self.rule.alpha, self.state.n)

        return forecast_blocks(self.state, self.margin, until)

    def _half_width(self, n: int, spread: float) -> float:
        return t_half_width(n, spread, self.rule.alpha)


def t_half_width(n: int, spread: float, alpha: float) -> float:
    """Return half the width of Student's t interval for the mean of n >= 2 differences."""
    return t_quantile(n - 1, alpha) * spread / math.sqrt(n)


def t_pairs_until(target: float, spread: float, alpha: float, start: int) -> int:
    """Return the first n >= start whose t interval has a half-width of at most `target` > 0."""
    return first_reached(lambda n: t_half_width(n, spread, alpha) <= target, start)


class CCEvalRule(Rule):
    """Student's t interval, judged when it is as accurate as asked, or at the ceiling.

    Attributes:
        accuracy_percent: throughput-equivalent percent that half the interval's width must not exceed; the
            default is an eighth of a margin of 3 %.
    """

    kind: Literal["cceval"] = "cceval"
    accuracy_percent: float = Field(default=0.37, gt=0)

    def accuracy(self, margin: float) -> float:
        """Return the accuracy in the unit in which the margin is `margin`."""
        return margin * math.log1p(self.accuracy_percent / 100) / math.log1p(self.margin_percent / 100)

    def start(self, margin: float | None = None) -> "CCEvalSettling":
        """Return a comparison without any differences yet; the margin is in bits unless given."""
        return CCEvalSettling(self, self.margin_bits() if margin is None else margin)


class CCEvalSettling(Settling):
    """A comparison by CCEval's rule."""

    rule: CCEvalRule

    def _forecast(self) -> Forecast:
        """Forecast the blocks to the accuracy (Eq. 3), by the χ² interval of the spread."""
        n, spread = self.state.n, self.state.spread
        target = self.rule.accuracy(self.margin)
        kind, unkind = (t_pairs_until(target, s, self.rule.alpha, n) for s in spread_range(n, spread, 0.9))
        return Forecast(kind, unkind, unkind)

    def _half_width(self, n: int, spread: float) -> float:
        return t_half_width(n, spread, self.rule.alpha)

    @property
    def accurate(self) -> bool:
        """Whether the last look is settled: it is judged when it is accurate."""
        return self.state.verdict.settled

    def _look(self) -> None:
        super()._look()
        look = self.state
        if look.n != self.rule.ceiling and not (look.high - look.low) / 2 <= self.rule.accuracy(self.margin):
            self.looks[-1] = replace(look, verdict=NOT_SETTLED)
