"""The actions of a whole table as a point, for searches that move all of them at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus.core.elementary import exp, log
from lcca.remy_plus.policies.pacing import Pacing
from lcca.remy_plus.policies.rules import RuleTable
from lcca.trainers.rplus.actions import FIELDS, Field, limits

Floats = NDArray[np.float64]


def actions_of(table: RuleTable) -> Floats:
    """Return (rules, 3) increments, multiples and pacings."""
    return np.stack([table.increment, table.multiple, table.pacing], axis=1)


def with_actions(table: RuleTable, actions: Floats) -> RuleTable:
    """Return a table with other actions, (rules, 3), for the same boxes."""
    increment, multiple, pacing = actions.T
    return replace(table, increment=increment, multiple=multiple, pacing=pacing)


@dataclass(frozen=True)
class Coordinates:
    """Coordinates of the fields that are optimised, in units of each field's scale (`actions.Limits`).

    A field with `ratio` has the logarithm of its value as coordinate.

    Attributes:
        pacing_kind: what the pacing of the tables means.
        fields: that are optimised; the others keep their values.
    """

    pacing_kind: Pacing
    fields: tuple[Field, ...] = FIELDS

    def point(self, actions: Floats) -> Floats:
        """Return (…, rules, fields) coordinates of (…, rules, 3) actions, moved into the ranges."""
        inside = np.clip(actions[..., self._at], self._low, self._high)
        return np.where(self._ratio, log(np.where(self._ratio, inside, 1)), inside) / self._scale

    def inside(self, point: Floats) -> Floats:
        """Return the nearest point whose values are inside the ranges."""
        return np.clip(point, self._edge(self._low), self._edge(self._high))

    def actions(self, point: Floats, others: Floats) -> Floats:
        """Return (…, rules, 3) actions: increments whole, all inside the ranges.

        Args:
            point: (…, rules, fields) coordinates.
            others: (rules, 3) actions, which fields that are not optimised keep.
        """
        along = self.inside(point) * self._scale
        values = np.clip(np.where(self._ratio, exp(np.where(self._ratio, along, 0)), along), self._low, self._high)
        found = np.broadcast_to(others, (*point.shape[:-1], len(FIELDS))).copy()
        found[..., self._at] = values
        found[..., 0] = np.rint(found[..., 0])
        return found

    def _edge(self, values: Floats) -> Floats:
        return np.where(self._ratio, log(np.where(self._ratio, values, 1)), values) / self._scale

    @property
    def _at(self) -> list[int]:
        return [FIELDS.index(field) for field in self.fields]

    def _each(self, name: str) -> Floats:
        return np.array([getattr(limits(self.pacing_kind)[field], name) for field in self.fields])

    @property
    def _low(self) -> Floats:
        return self._each("low")

    @property
    def _high(self) -> Floats:
        return self._each("high")

    @property
    def _scale(self) -> Floats:
        return self._each("scale")

    @property
    def _ratio(self) -> NDArray[np.bool_]:
        return self._each("ratio").astype(bool)
