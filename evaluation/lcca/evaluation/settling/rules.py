"""All settling rules, as a campaign's file may name them: `settle: {kind: group-sequential, ...}`.

The default, the t-mixture confidence sequence, is here. What all rules share is in `base.py`.
"""

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Discriminator

from lcca.evaluation.settling.base import Forecast, Rule, Settling, forecast_blocks
from lcca.evaluation.settling.group_sequential import GroupSequentialRule
from lcca.evaluation.settling.sequence import half_width, pairs_until


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


Rules = SettlingRule | GroupSequentialRule
BY_KIND: dict[str, type[Rule]] = {rule.model_fields["kind"].default: rule for rule in get_args(Rules)}


def _default_kind(value: Any) -> Any:
    return {"kind": "t-mixture", **value} if isinstance(value, dict) else value


AnyRule = Annotated[Rules, Discriminator("kind"), BeforeValidator(_default_kind)]
"""A rule by its `kind`; the t-mixture where none is named. Type of a field: `settle: AnyRule = SettlingRule()`."""
