"""A look at a map: curves, bands, verdicts, shares and regions of one difference, and where new points should go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from lcca.evaluation.settling.judgement import Verdict, judge
from lcca.evaluation.settling.spending import spent
from lcca.studies.maps.axes import Axis, coordinates, drawn, filling
from lcca.studies.maps.bands import Band, critical_value, independent_parts, largest_t
from lcca.studies.maps.regions import Family, Region, inside
from lcca.studies.maps.smoothing import Spectra

Floats = NDArray[np.float64]

BINS = 16
"""Levels of a parameter in its effect curve, at most."""

ANYWHERE = 4
"""Of so many new points one goes anywhere: it shows where the curves are wrong."""

TRIED = 64
"""Points that are looked at for each new one: where less than that is open, fewer are new."""

ROUNDED_OFF = 1.5
"""Allowance for smoothing, in standard deviations of what it rounds off of processes such as were estimated: the truth
may have steps, which these have not (`benchmark.py` beside this)."""


@dataclass(frozen=True, eq=False)
class Ground:
    """Where a map is drawn.

    Attributes:
        axes: its parameters.
        mix: (points, axes) of a mix of traffic, perhaps none.
    """

    axes: tuple[Axis, ...]
    mix: Floats

    @cached_property
    def values(self) -> Floats:
        """(points, axes) where it is drawn, each for an equal share of the space."""
        return drawn(self.axes)

    @cached_property
    def family(self) -> Family:
        """Its regions."""
        return Family(self.axes, self.values)

    @cached_property
    def places(self) -> Floats:
        """The coordinates of these points, and of those of the mix."""
        return coordinates(self.axes, np.vstack([self.values, self.mix]))

    @cached_property
    def bins(self) -> list[list[float]]:
        """By axis, the last level of each bin of its effect curve."""
        return [sorted({float(each) for each in axis.nearest((np.arange(BINS) + 1) / BINS)}) for axis in self.axes]

    @cached_property
    def curves(self) -> list[tuple[int, float, float, Floats]]:
        """Axis, least and largest value and weights of each bin of each effect curve; empty ones are left out."""
        found = []
        for number, ends in enumerate(self.bins):
            own = self.values[:, number]
            places = np.searchsorted(ends, own)
            for place in range(len(ends)):
                if (points := places == place).any():
                    found.append((number, float(own[points].min()), float(own[points].max()), points / points.sum()))
        return found

    @cached_property
    def means(self) -> Floats:
        """The weights of all rows of a band: points, those of the mix, regions, curves."""
        count = len(self.values)
        rows = np.vstack([self.family.means, *(weights for *_, weights in self.curves)])
        return np.vstack([np.eye(len(self.places)), np.pad(rows, ((0, 0), (0, len(self.places) - count)))])


@dataclass(frozen=True, eq=False)
class Look:
    """What a map says of one difference after so many points.

    Attributes:
        ground: where it is drawn.
        band: of all rows of `Ground.means`.
        last: critical value that the last look will have if curves stay as rough.
        margin: the difference that does not matter.
        lengths: of the curves, by axis.
        ratio: of noise.
    """

    ground: Ground
    band: Band
    last: float
    margin: float
    lengths: tuple[float, ...]
    ratio: float

    def verdicts(self, rows: slice, critical: float = 0.0) -> list[Verdict]:
        """Return verdicts of rows of the band; at another critical value if one is given."""
        band = Band(self.band.mean[rows], self.band.error[rows], critical or self.band.critical)
        return [judge(low, high, self.margin) for low, high in zip(band.low.tolist(), band.high.tolist(), strict=True)]

    @property
    def points(self) -> slice:
        """The rows of the points of the space."""
        return slice(0, len(self.ground.values))

    @property
    def mixed(self) -> slice:
        """The rows of the points of the mix."""
        return slice(len(self.ground.values), len(self.ground.places))

    def shares(self, rows: slice) -> dict[str, float]:
        """Return the share of rows with each verdict."""
        names = [each.name for each in self.verdicts(rows)]
        return {name: names.count(name) / len(names) for name in ("better", "worse", "equivalent", "not settled")}

    @property
    def settled(self) -> bool:
        """Whether nothing of the space or the mix is open."""
        return all(each.settled for each in self.verdicts(slice(0, self.mixed.stop)))

    @cached_property
    def regions(self) -> list[tuple[Region, float, int]]:
        """Regions that tell most apart, the best first: each with its share of the space and its row of the band."""
        first, family = self.mixed.stop, self.ground.family
        leaves = family.tree(self.band.mean[self.points])
        rows = [first + family.number(leaf) for leaf in leaves]
        shares = [float((self.ground.means[row] > 0).sum() / len(self.ground.values)) for row in rows]
        return sorted(zip(leaves, shares, rows, strict=True), key=lambda each: -float(self.band.mean[each[2]]))

    def mix_share(self, region: Region) -> float | None:
        """Return a region's share of the mix of traffic; None without one."""
        mix = self.ground.mix
        return float(inside(region, mix).mean()) if len(mix) else None

    @property
    def curves(self) -> list[tuple[int, float, float, int]]:
        """Axis, least and largest value and row of each bin of each effect curve."""
        first = self.mixed.stop + len(self.ground.family.regions)
        return [(axis, low, high, first + i) for i, (axis, low, high, _) in enumerate(self.ground.curves)]

    @property
    def open_at_last(self) -> NDArray[np.bool_]:
        """Tell for each point of the space whether it would be open at the last look if nothing changed."""
        return np.array([not each.settled for each in self.verdicts(self.points, self.last)])


def look(
    ground: Ground, spectra: Spectra, differences: Floats, margin: float, alpha: float, before: float, now: float
) -> Look:
    """Look at one difference.

    Args:
        ground: where it is drawn.
        spectra: of the points.
        differences: (points, training seeds).
        margin: the difference that does not matter.
        alpha: error rate of all looks together; the increments of its spending add up (Bonferroni).
        before: fraction of the points at the look before, 0 at the first.
        now: fraction of the points.
    """
    smoother = spectra.smoother(differences.mean(axis=1, keepdims=True))
    seeds = differences.shape[1]
    plain = smoother.operator(ground.places)
    operator = ground.means @ plain
    curves = operator @ differences
    bias = smoother.bias_variance(ground.places, operator, ground.means)
    error = np.sqrt(curves.var(axis=1, ddof=1) / seeds + ROUNDED_OFF**2 * bias)
    largest = largest_t(independent_parts(spectra, operator, differences), seeds)
    step = spent(now, alpha) - (spent(before, alpha) if before else 0.0)
    critical = critical_value(largest, step)
    last = critical if now == 1 else critical_value(largest, alpha - spent(now, alpha))
    return Look(ground, Band(curves.mean(axis=1), error, critical), last, margin, smoother.lengths, smoother.ratio)


def new_points(axes: Sequence[Axis], looks: Sequence[Look], seed: int, first: int, count: int) -> Floats:
    """Return points for the next look: where any of the maps is open, and every fourth anywhere.

    Args:
        axes: of the maps.
        looks: at all of them, on the same ground.
        seed: of the design.
        first: points so far.
        count: new ones.

    Returns:
        (count, axes) values of the parameters.
    """
    ground = looks[0].ground
    open_ = np.logical_or.reduce([each.open_at_last for each in looks])
    tried = filling(axes, seed, first * TRIED, count * TRIED)
    nearest = KDTree(ground.places[: len(ground.values)]).query(coordinates(axes, tried))[1]
    wanted = open_[nearest] | (np.arange(len(tried)) % (TRIED * ANYWHERE) == 0)
    chosen = np.concatenate([np.flatnonzero(wanted), np.flatnonzero(~wanted)])[:count]
    points: Floats = tried[np.sort(chosen)]
    return points
