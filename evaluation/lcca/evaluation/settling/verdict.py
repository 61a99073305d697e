"""The default rule: the t-mixture confidence sequence, valid at every look.

What all rules share is in `base.py`, what an interval says in `judgement.py`.
"""

from typing import Literal

from lcca.evaluation.settling.base import FEWEST_ALIKE, Forecast, Rule, Settling, forecast_blocks
from lcca.evaluation.settling.judgement import Direction, Look, Verdict, VerdictName, judge
from lcca.evaluation.settling.sequence import half_width, pairs_until

__all__ = [
    "FEWEST_ALIKE", "Direction", "Forecast", "Look", "MixtureSettling", "Rule", "Settling", "SettlingRule", "Verdict",
    "VerdictName", "judge",
]  # fmt: skip


class SettlingRule(Rule):
    """The t-mixture confidence sequence (`kind: t-mixture`); the blocks of the first look also tune the mixture."""

    kind: Literal["t-mixture"] = "t-mixture"

    def start(self, margin: float | None = None) -> "MixtureSettling":
        """Return a comparison without any differences yet; the margin is in bits unless given."""
        return MixtureSettling(self, self.margin_bits() if margin is None else margin)


class MixtureSettling(Settling):
    """A comparison by the t-mixture."""

    rule: SettlingRule

    def _forecast(self) -> Forecast:
        """Forecast the blocks to settle from the last look."""

        def until(target: float, spread: float) -> int:
            return pairs_until(target, spread, self._g, self.rule.alpha, self.state.n)

        return forecast_blocks(self.state, self.margin, until)

    def _half_width(self, n: int, spread: float) -> float:
        return half_width(n, spread, self._g, self.rule.alpha)
