"""All settling rules, as a campaign's file may name them: `settle: {kind: group-sequential, ...}`."""

from typing import Annotated, Any, get_args

from pydantic import BeforeValidator, Discriminator

from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.group_sequential import GroupSequentialRule
from lcca.evaluation.settling.verdict import SettlingRule

Rules = SettlingRule | GroupSequentialRule
BY_KIND: dict[str, type[Rule]] = {rule.model_fields["kind"].default: rule for rule in get_args(Rules)}


def _default_kind(value: Any) -> Any:
    return {"kind": "t-mixture", **value} if isinstance(value, dict) else value


AnyRule = Annotated[Rules, Discriminator("kind"), BeforeValidator(_default_kind)]
"""A rule by its `kind`; the t-mixture where none is named. Type of a field: `settle: AnyRule = SettlingRule()`."""
