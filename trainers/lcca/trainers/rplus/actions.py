"""Actions of rules: the range of each field, the candidates around an action, and whole tables as points.

Limits and steps are R+'s. Pacing that is not relative to the receive EWMA has a range of its own, in equal ratios:
sixteen senders on a link of 2 packets/µs need gaps of 8 µs and more, where R+ and Remy end at 3.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus.core.elementary import exp, log
from lcca.remy_plus.policies.rules import Pacing, RuleTable

Floats = NDArray[np.float64]
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

    def alternatives(self, value: float, at_most: int) -> list[float]:
        """Return the value and its neighbours inside the range, nearest first, at most so many of them.

        Neighbours in equal ratios are whole numbers of first steps away from 1, so that a climb meets them again.
        """
        values = [value]
        for step in self.steps():
            neighbours = [value + step, value - step]
            if self.ratio:
                place = round(math.log(max(value, self.low)) / self.first_step) * self.first_step
                neighbours = [math.exp(place + step), math.exp(place - step)]
            values += [each for each in neighbours if self.low <= each <= self.high]
        return values[:at_most]


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
    at_most = round(MOST_CANDIDATES ** (1 / len(fields)))
    choices = [
        within[field].alternatives(value, at_most) if field in fields else [value]
        for field, value in zip(FIELDS, action, strict=True)
    ]
    grid = [Action(i, _four_decimals(m), _four_decimals(p)) for i, m, p in itertools.product(*choices)]
    return list(dict.fromkeys([action, *grid[1:]]))


def _four_decimals(value: float) -> float:
    return math.floor(value * 10_000 + 1e-6) / 10_000


def actions_of(table: RuleTable) -> Floats:
    """Return (rules, 3) increments, multiples and pacings."""
    return np.stack([table.increment, table.multiple, table.pacing], axis=1)


def with_actions(table: RuleTable, actions: Floats) -> RuleTable:
    """Return a table with other actions, (rules, 3), for the same boxes."""
    increment, multiple, pacing = actions.T
    return replace(table, increment=increment, multiple=multiple, pacing=pacing)


class Coordinates:
    """The actions of a whole table as a point, for searches that move all of them at once.

    Coordinates are in units of each field's scale (`Limits`); a field with `ratio` has the logarithm of its value.

    Args:
        pacing_kind: what the pacing of the tables means.
        fields: that are optimised; the others keep their values.
    """

    def __init__(self, pacing_kind: Pacing, fields: tuple[Field, ...] = FIELDS) -> None:
        within = [limits(pacing_kind)[field] for field in fields]
        self._at = [FIELDS.index(field) for field in fields]
        self._low, self._high, self._scale = (
            np.array([getattr(each, name) for each in within]) for name in ("low", "high", "scale")
        )
        self._ratio = np.array([each.ratio for each in within])

    def point(self, actions: Floats) -> Floats:
        """Return (…, rules, fields) coordinates of (…, rules, 3) actions, moved into the ranges."""
        return self._along(np.clip(actions[..., self._at], self._low, self._high))

    def inside(self, point: Floats) -> Floats:
        """Return the nearest point whose values are inside the ranges."""
        return np.clip(point, self._along(self._low), self._along(self._high))

    def actions(self, point: Floats, others: Floats) -> Floats:
        """Return (…, rules, 3) actions: increments whole, all inside the ranges.

        Args:
            point: (…, rules, fields) coordinates.
            others: (rules, 3) actions, which fields that are not optimised keep.
        """
        along = self.inside(point) * self._scale
        values = np.where(self._ratio, exp(np.where(self._ratio, along, 0)), along)
        actions = np.broadcast_to(others, (*point.shape[:-1], len(FIELDS))).copy()
        actions[..., self._at] = np.clip(values, self._low, self._high)
        actions[..., 0] = np.rint(actions[..., 0])
        return actions

    def _along(self, values: Floats) -> Floats:
        along: Floats = np.where(self._ratio, log(np.where(self._ratio, values, 1)), values) / self._scale
        return along
