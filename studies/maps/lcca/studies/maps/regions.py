"""Regions of a map in words: a tree of few splits, whose leaves are of a family that is known beforehand.

The family has every region with at most `MOST` bounds, each bound at one of few levels of a parameter. The means over
all of them are rows of the map's band, so that they hold together, whichever the tree picks by the same differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lcca.studies.maps.axes import Axis

Floats = NDArray[np.float64]
Inside = NDArray[np.bool_]

MOST = 2
"""Bounds of a region."""

CUTS = 7
"""Levels of a parameter at which a bound may be."""

LEAST_SHARE = 0.05
"""Of the space, in a region."""

WORTH_SPLITTING = 0.05
"""Of what the curve varies over the space: a split that explains less is none."""


@dataclass(frozen=True, order=True)
class Bound:
    """A bound of a region: at most a level of a parameter, or above it."""

    axis: int
    cut: float
    above: bool

    def holds(self, values: Floats) -> Inside:
        """Tell for each point, (points, axes), whether it lies inside."""
        inside: Inside = (values[:, self.axis] > self.cut) == self.above
        return inside


Region = frozenset[Bound]
"""Points inside of all bounds; everywhere without any."""


def inside(region: Region, values: Floats) -> Inside:
    """Tell for each point, (points, axes), whether it lies in a region."""
    found = np.ones(len(values), dtype=bool)
    for bound in region:
        found &= bound.holds(values)
    return found


@dataclass(frozen=True, eq=False)
class Family:
    """All regions that a tree may have.

    Attributes:
        axes: of the map.
        values: (points, axes) where it is drawn, each for an equal share of the space.
    """

    axes: tuple[Axis, ...]
    values: Floats

    @cached_property
    def bounds(self) -> list[Bound]:
        """Every bound."""
        return [
            Bound(number, float(cut), above)
            for number, axis in enumerate(self.axes)
            for cut in _cuts(axis)
            for above in (False, True)
        ]

    @cached_property
    def regions(self) -> dict[Region, Inside]:
        """Every region, with the points inside: those of no other region, and `LEAST_SHARE` of all at least."""
        found: dict[bytes, tuple[Region, Inside]] = {}
        for count in range(MOST + 1):
            for some in combinations(self.bounds, count):
                points = inside(frozenset(some), self.values)
                if points.mean() >= LEAST_SHARE:
                    found.setdefault(points.tobytes(), (frozenset(some), points))
        return dict(found.values())

    @cached_property
    def means(self) -> Floats:
        """The weights of the mean over each region, (regions, points)."""
        return np.array([points / points.sum() for points in self.regions.values()])

    def tree(self, curve: Floats) -> list[Region]:
        """Return the regions that tell the values of a curve best apart, each point in one of them."""
        everywhere: Region = frozenset()
        whole = float(np.var(curve)) * len(curve)
        return self._split(everywhere, curve, whole)

    def _split(self, region: Region, curve: Floats, whole: float) -> list[Region]:
        points, gained, chosen = inside(region, self.values), WORTH_SPLITTING * whole, list[Region]()
        for bound in self.bounds if len(region) < MOST and whole > 0 else ():
            if bound.above:
                continue
            sides = [region | {Bound(bound.axis, bound.cut, above)} for above in (False, True)]
            parts = [inside(side, self.values) for side in sides]
            if min(part.mean() for part in parts) >= LEAST_SHARE:
                gain = _squares(curve[points]) - sum(_squares(curve[part]) for part in parts)
                if gain > gained:
                    gained, chosen = gain, sides
        return [leaf for side in chosen for leaf in self._split(side, curve, whole)] or [region]

    def number(self, region: Region) -> int:
        """Return the row of a region in `means`."""
        points = inside(region, self.values)
        return next(i for i, each in enumerate(self.regions.values()) if np.array_equal(each, points))


def _squares(values: Floats) -> float:
    return float(((values - values.mean()) ** 2).sum())


def _cuts(axis: Axis) -> list[float]:
    """Return levels, the last one left out, that share the others out evenly in coordinates and by their number."""
    own = np.asarray(axis.levels)
    even = axis.nearest(np.arange(1, CUTS + 1) / (CUTS + 1))
    return sorted({float(each) for each in even if each < own[-1]})


def words(region: Region, axes: Sequence[Axis], units: Sequence[str]) -> str:
    """Return a region in words, such as "senders ≤ 3 and rtt > 26 µs"."""
    parts = []
    for number, (axis, unit) in enumerate(zip(axes, units, strict=True)):
        own = [bound for bound in region if bound.axis == number]
        low = max((bound.cut for bound in own if bound.above), default=None)
        high = min((bound.cut for bound in own if not bound.above), default=None)
        if own:
            first = f"{low:,.4g} < " if low is not None and high is not None else ""
            last = f" > {low:,.4g}" if high is None else f" ≤ {high:,.4g}"
            parts.append(f"{first}{axis.name}{last}{unit and ' ' + unit}")
    return " and ".join(parts) or "everywhere"
