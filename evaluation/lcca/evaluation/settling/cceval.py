"""CCEval's rule, carried over to comparisons: measure to a set accuracy, then judge once.

CCEval (§4.2) runs trials until the confidence interval of one policy's metric is narrow enough and says
nothing about when two policies differ; readers compare the finished intervals. Here the same is done
with the difference: trials are added until its t interval has the accuracy asked for, and that interval
is judged. Nothing is decided before, however clear it looks, which is what it costs. Student's t stands
in place of the paper's normal quantile (Eq. 2), and an accuracy relative to the metric's mean is one of
a log-ratio or of bits. When to stop depends on the spread alone, so it hardly favours any verdict; a run of
several comparisons that ends when the last of them is accurate enough judges the others later, on more.
"""

import math
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from lcca.evaluation.settling.base import Forecast, Guarantee, Rule, Settling, spread_range
from lcca.evaluation.settling.repeated_t import t_half_width, t_pairs_until


class CCEvalRule(Rule):
    """Student's t interval, judged when it is as accurate as asked, or at the ceiling (`kind: cceval`).

    Attributes:
        accuracy_percent: throughput-equivalent percent that half the interval's width must not exceed; at
            most half the margin, so that the judgement is a verdict. The default is an eighth of a margin of 3 %: with
            few blocks the spread is at times too small by chance, and the interval covers less than it says.
    """

    guarantee: ClassVar[Guarantee] = "at its one judgement"
    caution: ClassVar[str] = (
        "judged as soon as the spread seems small enough: where few blocks are, a 95 % interval covers 93 % of truths"
    )

    kind: Literal["cceval"] = "cceval"
    accuracy_percent: float = Field(default=0.37, gt=0)

    @model_validator(mode="after")
    def _accurate_enough_for_a_verdict(self) -> Self:
        if self.accuracy(1.0) > 0.5:
            most = 100 * (math.sqrt(1 + self.margin_percent / 100) - 1)
            raise ValueError(
                f"accuracy_percent must be at most {math.floor(most * 1e3) / 1e3:g}, half of margin_percent "
                f"({self.margin_percent:g}) on a log scale, got {self.accuracy_percent:g}"
            )
        return self

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

    def _accuracy(self) -> float:
        return self.rule.accuracy(self.margin)

    def _decides(self, n: int, half_width: float) -> bool:
        return n == self.rule.ceiling or half_width <= self._accuracy()
