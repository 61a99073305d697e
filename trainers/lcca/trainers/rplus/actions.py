"""Actions of a rule: the range of each field, and the candidates that a search tries around one.

Limits and steps are R+'s. Pacing that is not relative to the receive EWMA has a range of its own, in equal ratios:
sixteen senders on a link of 2 packets/µs need gaps of 8 µs and more, where R+ and Remy end at 3.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from lcca.remy_plus.policies.pacing import Pacing
from lcca.remy_plus.policies.rules import RuleTable

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
    """Range of one field, and how a search moves in it.

    Attributes:
        low: smallest value.
        high: largest value.
        first_step: smallest step.
        largest_step: no step is larger.
        scale: of a search that moves all fields at once: how far one standard deviation of 1 goes.
        factor: between two steps.
        ratio: steps and scale are of the logarithm: equal ratios in place of equal distances.
    """

    low: float
    high: float
    first_step: float
    largest_step: float
    scale: float
    factor: float = 4.0
    ratio: bool = False

    def steps(self) -> list[float]:
        """Return the steps: the first, then times the factor, up to the largest."""
        count = int(math.log(self.largest_step / self.first_step, self.factor) + 1e-9) + 1
        return [self.first_step * self.factor**i for i in range(count)]

    def alternatives(self, value: float, most: int) -> list[float]:
        """Return the value and its neighbours inside the range, nearest first, at most `most` of them.

        Neighbours in equal ratios are whole numbers of first steps away from 1, so that a climb meets them again.
        """
        found = [value]
        for step in self.steps():
            found += [v for v in self._neighbours(value, step) if self.low <= v <= self.high]
        return found[:most]

    def _neighbours(self, value: float, step: float) -> tuple[float, float]:
        if not self.ratio:
            return value + step, value - step
        place = round(math.log(max(value, self.low)) / self.first_step) * self.first_step
        return math.exp(place + step), math.exp(place - step)


RELATIVE: dict[Field, Limits] = {
    "increment": Limits(0, 256, 1, 32, 1),
    "multiple": Limits(0, 1, 0.01, 0.5, 0.06),
    "pacing": Limits(0.1, 3, 0.05, 1, 0.15),
}
ABSOLUTE: dict[Field, Limits] = RELATIVE | {"pacing": Limits(0.25, 64, 0.05, 1, 0.15, ratio=True)}
BY_SIGNAL: dict[Field, Limits] = RELATIVE | {"pacing": Limits(0.05, 64, 0.02, 1, 0.1, ratio=True)}
"""Of pacing in units of signals: a few per cent more than the unit itself matter, and its size is the user's."""


def limits(pacing_kind: Pacing) -> dict[Field, Limits]:
    """Return the limits of each field of tables with this kind of pacing."""
    return {"relative": RELATIVE, "absolute": ABSOLUTE}.get(pacing_kind, BY_SIGNAL)


def action_of(table: RuleTable, rule: int) -> Action:
    """Return the action of one rule."""
    return Action(float(table.increment[rule]), float(table.multiple[rule]), float(table.pacing[rule]))


def candidates(action: Action, pacing_kind: Pacing, fields: tuple[Field, ...] = FIELDS) -> list[Action]:
    """Return the grid of actions around one: every combination of its fields' alternatives, itself first.

    Fields that are not optimised keep their value. Multiple and pacing are cut to four decimals, as R+ does, so that
    a climb meets the same candidate again instead of one that differs in its last bit.
    """
    within = limits(pacing_kind)
    most = round(MOST_CANDIDATES ** (1 / len(fields)))
    choices = [
        within[field].alternatives(value, most) if field in fields else [value]
        for field, value in zip(FIELDS, action, strict=True)
    ]
    grid = [Action(i, _four_decimals(m), _four_decimals(p)) for i, m, p in itertools.product(*choices)]
    return list(dict.fromkeys([action, *grid[1:]]))


def _four_decimals(value: float) -> float:
    return math.floor(value * 10_000 + 1e-6) / 10_000
