"""The group-sequential rule: a few looks within a budget fixed beforehand, which cannot be extended afterwards.

A look's interval is mean ± c·s/√n with the critical value c of the spending function (`spending.py`, by
the same tail chance from Student's t): repeated confidence intervals, which hold together over all looks
(Jennison & Turnbull 1989). They are judged like any other interval, so that equivalence is two
one-sided tests, each with α/2 spent over the looks in the same way.

Information is n/ceiling: K looks at equal parts of the ceiling, but for those before `first_look`. So comparisons of
one run look at the same blocks, whatever their spreads.
"""

import math
from typing import Literal

from pydantic import Field
from scipy.special import ndtr, stdtrit

from lcca.evaluation.settling.base import Forecast, Rule, Settling, forecast_blocks
from lcca.evaluation.settling.spending import Boundary, last_critical_value
from lcca.inputs.errors import InputError


class GroupSequentialRule(Rule):
    """Lan-DeMets spending of the O'Brien-Fleming kind (`kind: group-sequential`).

    Attributes:
        looks: K, how many looks the budget has at most.
        ceiling: blocks of the budget; a campaign or command gives it where a file does not.
    """

    kind: Literal["group-sequential"] = "group-sequential"
    looks: int = Field(default=10, ge=1, le=100)

    def start(self, margin: float | None = None) -> "GroupSequentialSettling":
        """Return a comparison without any differences yet; the margin is in bits unless given.

        Raises:
            InputError: there is no ceiling.
        """
        if self.ceiling is None:
            raise InputError("the rule group-sequential needs a ceiling: its budget is fixed beforehand")
        return GroupSequentialSettling(self, self.margin_bits() if margin is None else margin)


class GroupSequentialSettling(Settling):
    """A comparison by the group-sequential rule."""

    rule: GroupSequentialRule

    def __init__(self, rule: GroupSequentialRule, margin: float) -> None:
        """Start without differences; `margin` is in their unit and must be > 0."""
        super().__init__(rule, margin)
        self._boundary = Boundary(rule.alpha)
        self._budget = rule.ceiling or 0
        self.next_look = self._after(rule.first_look - 1)

    def _after(self, n: int) -> int:
        """Return the first of the equal parts of the budget that ends after n."""
        looks = self.rule.looks
        return next((end for k in range(1, looks) if (end := math.ceil(k * self._budget / looks)) > n), self._budget)

    def _forecast(self) -> Forecast:
        """Forecast the blocks to settle from the last look."""
        return forecast_blocks(self.state, self.margin, self._blocks_until)

    def _blocks_until(self, target: float, spread: float) -> int:
        """The critical value at fraction t is about that at 1 over √t, so a half-width falls as 1/n."""
        part = last_critical_value(self.rule.looks, self.rule.alpha) * spread / math.sqrt(self._budget) / target
        return max(self.state.n, self._after(math.ceil(min(part, 1.0) * self._budget - 1e-9) - 1))

    def _half_width(self, n: int, spread: float) -> float:
        critical = self._boundary.next(n / self._budget)
        return -float(stdtrit(n - 1, ndtr(-critical))) * spread / math.sqrt(n)
