"""The t-test repeated at every look, for teaching: its error rate does not hold under looking."""

import math
from typing import ClassVar, Literal

from lcca.evaluation.settling.base import Forecast, Guarantee, Rule, Settling, forecast_blocks
from lcca.evaluation.settling.intervals import t_quantile
from lcca.evaluation.settling.sequence import first_reached


class RepeatedTRule(Rule):
    """Student's t interval, judged at every look as if it were the only one (`kind: repeated-t`)."""

    guarantee: ClassVar[Guarantee] = "none"
    caution: ClassVar[str] = (
        "a t-test repeated at every look is invalid: it finds a winner in about 3 of 10 comparisons without any"
    )

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
