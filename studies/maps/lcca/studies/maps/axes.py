"""The ground of a map: parameters with their levels, points that fill them, and points where the map is drawn.

Curves are smooth in coordinates from 0 to 1: in the logarithm of a parameter that spans a factor of `DECADE` or more,
else in the parameter itself. Shares are of the space, whose levels are all equally likely.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

DECADE = 8
"""The factor between ends from which a parameter's logarithm is its coordinate."""

SIDE = {1: 64, 2: 24}
"""Levels of each of so many parameters at which a map is drawn, at most."""

DRAWN = 1024
"""Points at which a map of more parameters is drawn."""


@dataclass(frozen=True)
class Axis:
    """A parameter of a map.

    Attributes:
        name: of the parameter.
        levels: rising, all equally likely.
    """

    name: str
    levels: tuple[float, ...]

    @property
    def logarithmic(self) -> bool:
        """Whether its coordinate is its logarithm."""
        return self.levels[0] > 0 and self.levels[-1] >= DECADE * self.levels[0]

    def coordinates(self, values: ArrayLike) -> Floats:
        """Return where values lie, from 0 at the first level to 1 at the last."""
        x = np.asarray(values, dtype=np.float64)
        low, high = self.levels[0], self.levels[-1]
        if self.logarithmic:
            return np.array([math.log(each / low) / math.log(high / low) for each in x.ravel()]).reshape(x.shape)
        return (x - low) / (high - low)

    @cached_property
    def places(self) -> Floats:
        """The coordinates of its levels."""
        return self.coordinates(self.levels)

    def nearest(self, coordinates: Floats) -> Floats:
        """Return the levels that are nearest to coordinates."""
        middles = (self.places[1:] + self.places[:-1]) / 2
        return np.asarray(self.levels)[np.searchsorted(middles, coordinates)]

    def thinned(self, count: int) -> Floats:
        """Return at most so many levels, each of which stands for equally many."""
        own = len(self.levels)
        steps = min(count, own)
        return np.asarray(self.levels)[[(2 * i + 1) * own // (2 * steps) for i in range(steps)]]


def coordinates(axes: Sequence[Axis], values: Floats) -> Floats:
    """Return where points lie; both arrays are (points, axes)."""
    return np.column_stack([axis.coordinates(column) for axis, column in zip(axes, values.T, strict=True)])


def filling(axes: Sequence[Axis], seed: int, first: int, count: int) -> Floats:
    """Return points first … first + count − 1 of a design that fills the coordinates evenly, at levels of the axes.

    They are Sobol's, moved by a shift that the seed decides (Cranley & Patterson 1976).

    Returns:
        (count, axes) values of the parameters.
    """
    words = (f"{seed}/{axis}".encode() for axis in range(len(axes)))
    hashes = (blake2b(each, digest_size=8, person=b"lcca-maps").digest() for each in words)
    shift = np.array([int.from_bytes(each, "big") / 2**64 for each in hashes])
    unit = (sobol(len(axes), first, count) + shift) % 1
    return np.column_stack([axis.nearest(column) for axis, column in zip(axes, unit.T, strict=True)])


def sobol(dimensions: int, first: int, count: int) -> Floats:
    """Return points of Sobol's sequence as (count, dimensions) numbers below 1."""
    from scipy.stats.qmc import Sobol  # SciPy's statistics take a second, which every command would wait for

    sequence = Sobol(dimensions, scramble=False)
    return np.asarray(sequence.fast_forward(first).random(count) if first else sequence.random(count))


def drawn(axes: Sequence[Axis]) -> Floats:
    """Return the points at which a map is drawn, each standing for an equal share of the space.

    That is a grid of levels for one or two parameters, else points of Sobol's sequence at equally likely levels.
    """
    if len(axes) in SIDE:
        sides = [axis.thinned(SIDE[len(axes)]) for axis in axes]
        return np.stack([each.ravel() for each in np.meshgrid(*sides, indexing="ij")], axis=1)
    unit = sobol(len(axes), 0, DRAWN)
    columns = zip(axes, unit.T, strict=True)
    return np.column_stack([np.asarray(axis.levels)[(u * len(axis.levels)).astype(int)] for axis, u in columns])
