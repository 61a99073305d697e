"""Actions of a rule, and the candidates that a search tries around one.

Limits and steps are R+'s (and Remy's for absolute pacing).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from lcca.remy_plus.policies.rules import Pacing, RuleTable

Field: TypeAlias = Literal["increment", "multiple", "pacing"]
FIELDS: tuple[Field, ...] = ("increment", "multiple", "pacing")

MOST_CANDIDATES = 343
"""R+ aims at no more candidates than this, whatever the number of fields that are optimised."""


class Action(NamedTuple):
    """What a sender does: window ← window · multiple + increment (packets); pacing as the table's kind says."""

    increment: float
    multiple: float
    pacing: float


@dataclass(frozen=True)
class Limits:
    """Range of one field, its smallest and largest step, and the factor between steps."""

    low: float
    high: float
    first_step: float
    largest_step: float
    factor: float = 4.0

    def steps(self) -> list[float]:
        """Return the steps: the first, then times the factor, up to the largest."""
        count = int(math.log(self.largest_step / self.first_step, self.factor) + 1e-9) + 1
        return [self.first_step * self.factor**i for i in range(count)]

    def alternatives(self, value: float, most: int) -> list[float]:
        """Return the value and its neighbours inside the range, nearest first, at most `most` of them."""
        found = [value]
        for step in self.steps():
            found += [v for v in (value + step, value - step) if self.low <= v <= self.high]
        return found[:most]


RELATIVE: dict[Field, Limits] = {
    "increment": Limits(0, 256, 1, 32),
    "multiple": Limits(0, 1, 0.01, 0.5),
    "pacing": Limits(0.1, 3, 0.05, 1),
}
ABSOLUTE: dict[Field, Limits] = RELATIVE | {"pacing": Limits(0.25, 3, 0.05, 1)}


def action_of(table: RuleTable, rule: int) -> Action:
    """Return the action of one rule."""
    return Action(float(table.increment[rule]), float(table.multiple[rule]), float(table.pacing[rule]))


def candidates(action: Action, pacing_kind: Pacing, fields: tuple[Field, ...] = FIELDS) -> list[Action]:
    """Return the grid of actions around one: every combination of its fields' alternatives, itself first.

    Fields that are not optimised keep their value. Multiple and pacing are cut to four decimals, as R+ does, so that
    a climb meets the same candidate again instead of one that differs in its last bit.
    """
    limits = RELATIVE if pacing_kind == "relative" else ABSOLUTE
    most = round(MOST_CANDIDATES ** (1 / len(fields)))
    choices = [
        limits[field].alternatives(value, most) if field in fields else [value]
        for field, value in zip(FIELDS, action, strict=True)
    ]
    grid = [Action(i, _four_decimals(m), _four_decimals(p)) for i, m, p in itertools.product(*choices)]
    return list(dict.fromkeys([action, *grid[1:]]))


def _four_decimals(value: float) -> float:
    return math.floor(value * 10_000 + 1e-6) / 10_000
