"""Actions of rules: where they begin, the range of each field, the candidates around one, and whole tables as points.

Limits and steps are R+'s. Pacing that is not relative to the receive EWMA has a range of its own, in equal ratios:
sixteen senders on a link of 2 packets/µs need gaps of 8 µs and more, where R+ and Remy end at 3.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus.core.elementary import exp, log
from lcca.remy_plus.core.signals import SIGNAL_CEILING
from lcca.remy_plus.policies.rules import Pacing, RuleTable, Windows, lifted, one_rule

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
        origin: where a signed logarithm is 0.
        knee: scale is of the signed logarithm of the distance d from the origin, ±ln(1 + |d| / knee): equal distances
            near it, equal ratios far from it. 0 for none.
    """

    low: float
    high: float
    first_step: float
    largest_step: float
    scale: float
    factor: float = 4.0
    ratio: bool = False
    origin: float = 0.0
    knee: float = 0.0

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


REAL: dict[Field, Limits] = {
    "increment": Limits(-1, 256, 0.01, 32, 0.5, knee=0.1),
    "multiple": Limits(0, 1, 0.01, 0.5, 0.5, origin=1, knee=0.02),
}
"""Of tables with real windows: hundredths of a packet an ACK matter as much as packets do, and so does 1 − multiple."""


def limits(pacing_kind: Pacing, windows: Windows = "whole") -> dict[Field, Limits]:
    """Return the limits of each field of tables with this kind of pacing and of windows."""
    within = {"relative": RELATIVE, "absolute": ABSOLUTE}.get(pacing_kind, BY_SIGNAL)
    return within if windows == "whole" else within | REAL


FIRST_PACING = 0.9
"""Of a first rule that is to be split, in receive EWMAs: gaps just short of binding. One rule is as good with any
shorter gap, so that a search lets it drift away, and rules that grow from there never find gaps again: two rules of E2E
then stay at 2.8 bits in place of 3.2 (`benchmarks/README.md`, Polish)."""

STAIRS = (
    (0.0, 8.0, 0.0),
    (0.5, 0.1, 1.0),
    (1.004, 0.1, 1.0),
    (1.015, 0.1, 0.995),
    (1.03, 0.1, 0.99),
    (1.06, 0.1, 0.985),
    (1.12, 0.1, 0.98),
    (1.25, 0.1, 0.95),
)
"""Rules that real windows begin with: from which RTT ratio on, increment and multiple. 8 packets where no RTT is known;
then a tenth of a packet more an ACK, and a share less that rises with the queue. Guessed, not tuned. A growth from one
rule does not come here: alone, it is best with a window that is pulled fast towards a fixed one, and its parts stay
fast; whole windows are then as good (`benchmarks/README.md`, Real windows)."""


def first_table(signals: Sequence[str], pacing_kind: Pacing, windows: Windows) -> RuleTable:
    """Return the table that a training begins with: one rule, or `STAIRS` of real windows if RTT ratios are seen."""
    one = one_rule(signals, pacing_kind, windows)
    if windows == "whole" or "rtt_ratio" not in signals:
        return one
    begins, increment, multiple = np.array(STAIRS).T
    gap = FIRST_PACING if pacing_kind == "relative" else one.pacing[0]
    lower, ends = begins[:, None], np.append(begins[1:], SIGNAL_CEILING)[:, None]
    pacing = np.full(len(STAIRS), gap)
    stairs = RuleTable(("rtt_ratio",), lower, ends, increment, multiple, pacing, pacing_kind, windows)
    return lifted(stairs, signals)


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

    Coordinates are in units of each field's scale (`Limits`); a field with `ratio` has the logarithm of its value, one
    with `knee` the signed logarithm.

    Args:
        pacing_kind: what the pacing of the tables means.
        fields: that are optimised; the others keep their values.
        windows: of the tables.
    """

    def __init__(self, pacing_kind: Pacing, fields: tuple[Field, ...] = FIELDS, windows: Windows = "whole") -> None:
        within = [limits(pacing_kind, windows)[field] for field in fields]
        self._at = [FIELDS.index(field) for field in fields]
        self._low, self._high, self._scale, self._origin, self._knee = (
            np.array([getattr(each, name) for each in within]) for name in ("low", "high", "scale", "origin", "knee")
        )
        self._ratio, self._whole = np.array([each.ratio for each in within]), windows == "whole"

    def point(self, actions: Floats) -> Floats:
        """Return (…, rules, fields) coordinates of (…, rules, 3) actions, moved into the ranges."""
        return self._along(np.clip(actions[..., self._at], self._low, self._high))

    def inside(self, point: Floats) -> Floats:
        """Return the nearest point whose values are inside the ranges."""
        return np.clip(point, self._along(self._low), self._along(self._high))

    def actions(self, point: Floats, others: Floats) -> Floats:
        """Return (…, rules, 3) actions: increments whole where windows are, all inside the ranges.

        Args:
            point: (…, rules, fields) coordinates.
            others: (rules, 3) actions, which fields that are not optimised keep.
        """
        along = self.inside(point) * self._scale
        values = np.where(self._ratio, exp(np.where(self._ratio, along, 0)), along)
        signed = self._knee > 0
        distance = self._knee * (exp(np.where(signed, np.abs(along), 0)) - 1)
        values = np.where(signed, self._origin + np.sign(along) * distance, values)
        actions = np.broadcast_to(others, (*point.shape[:-1], len(FIELDS))).copy()
        actions[..., self._at] = np.clip(values, self._low, self._high)
        if self._whole:
            actions[..., 0] = np.rint(actions[..., 0])
        return actions

    def _along(self, values: Floats) -> Floats:
        along = np.where(self._ratio, log(np.where(self._ratio, values, 1)), values)
        signed, distance = self._knee > 0, values - self._origin
        logarithm = log(1 + np.where(signed, np.abs(distance) / np.where(signed, self._knee, 1), 0))
        along = np.where(signed, np.sign(distance) * logarithm, along) / self._scale
        return np.asarray(along)
