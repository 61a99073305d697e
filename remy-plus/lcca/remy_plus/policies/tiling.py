"""Do the boxes of a rule table cover the whole domain exactly once?

Two tests that are exact together: no two boxes share volume, and the volumes add up to the domain's. Volumes
are computed in whole numbers (every float is a whole multiple of a power of two): nothing is lost to
rounding.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError
from lcca.remy_plus.core.signals import SIGNAL_CEILING
from lcca.remy_plus.policies.rules import Array, RuleTable, describe_point

Integers: TypeAlias = NDArray[Any]
"""Arrays of Python's unbounded integers (dtype object)."""

_SMALL = 256  # boxes that are compared pair by pair at once
_LARGEST = 10_000  # boxes that no cut pulls apart: more would take minutes
_VISITS = 40  # how often a box may be looked at, on average, while the set is pulled apart
_CELLS = 4_000_000  # pairs per block of comparisons


def tiling(table: RuleTable) -> None:
    """Check that the boxes with volume tile [0, `SIGNAL_CEILING`)^k.

    Raises:
        InputError: names two rules that overlap and a point in both, or a point that no rule holds.
    """
    live = np.flatnonzero(table.live)
    lower, upper = table.lower[live], table.upper[live]
    pair = _overlap(lower, upper)
    if pair is not None:
        point = np.maximum(lower[pair[0]], lower[pair[1]])
        first, second = sorted(int(live[i]) for i in pair)
        raise InputError(f"rules {first} and {second} overlap at {describe_point(table.signals, point)}")
    hole = _hole(lower, upper)
    if hole is not None:
        raise InputError(f"no rule holds {describe_point(table.signals, hole)}: the boxes leave a gap there")


def _overlap(lower: Array, upper: Array) -> tuple[int, int] | None:
    """Return two boxes that share volume, or None. Cuts the set in two as long as that saves comparisons."""
    pending = [np.arange(len(lower))]
    visits = 0
    while pending:
        group = pending.pop()
        visits += len(group)
        if visits > _VISITS * len(lower):
            raise InputError(f"{len(lower):,} boxes are too entangled to check that none overlap")
        halves = _halves(lower[group], upper[group]) if len(group) > _SMALL else None
        if halves is not None:
            pending += [group[half] for half in halves]
            continue
        pair = _pair(lower[group], upper[group])
        if pair is not None:
            return int(group[pair[0]]), int(group[pair[1]])
    return None


def _halves(lower: Array, upper: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Return the boxes below and above the edge that saves most comparisons; None if no edge helps."""
    n, k = lower.shape
    fewest, axis, cut = 0.98 * n * n, -1, 0.0
    for j in range(k):
        edges, ends = np.sort(lower[:, j]), np.sort(upper[:, j])
        below = np.searchsorted(edges, edges, side="left").astype(np.float64)
        above = n - np.searchsorted(ends, edges, side="right").astype(np.float64)
        comparisons = below * below + above * above
        i = int(comparisons.argmin())
        if comparisons[i] < fewest:
            fewest, axis, cut = float(comparisons[i]), j, float(edges[i])
    return (lower[:, axis] < cut, upper[:, axis] > cut) if axis >= 0 else None


def _pair(lower: Array, upper: Array) -> tuple[int, int] | None:
    n, k = lower.shape
    if n > _LARGEST:
        raise InputError(f"{n:,} boxes are too entangled to check that none overlap")
    step = max(1, _CELLS // n)
    for start in range(0, n, step):
        rows = slice(start, min(n, start + step))
        shared = np.tri(rows.stop - start, n, start - 1, dtype=np.bool_)  # each pair once, no box with itself
        for j in range(k):
            shared &= lower[rows, j, None] < upper[None, :, j]
            shared &= lower[None, :, j] < upper[rows, j, None]
        hits = np.argwhere(shared)
        if len(hits):
            return int(hits[0][0]) + start, int(hits[0][1])
    return None


def _hole(lower: Array, upper: Array) -> list[float] | None:
    """Return a point in none of the boxes, which do not overlap; None when they fill the domain."""
    columns = [_whole(lower[:, j], upper[:, j]) for j in range(lower.shape[1])]
    low = np.array([column[0] for column in columns], dtype=object).T
    high = np.array([column[1] for column in columns], dtype=object).T
    scales = [column[2] for column in columns]
    floor = np.array([0] * len(scales), dtype=object)
    ceiling = np.array([int(SIGNAL_CEILING) * scale for scale in scales], dtype=object)
    if not _missing(low, high, floor, ceiling):
        return None
    corner = _descend(low, high, floor, ceiling)
    return [int(value) / scale for value, scale in zip(corner, scales, strict=True)]


def _descend(low: Integers, high: Integers, floor: Integers, ceiling: Integers) -> Integers:
    """Halve the cell that is not full until no box reaches into it; return its lower corner."""
    while len(low):
        axis, cut = _middle_edge(low, high, floor, ceiling)
        left_ceiling, right_floor = ceiling.copy(), floor.copy()
        left_ceiling[axis] = right_floor[axis] = cut
        left = low[:, axis] < cut
        if _missing(low[left], high[left], floor, left_ceiling):
            low, high, ceiling = low[left], high[left], left_ceiling
        else:
            right = high[:, axis] > cut
            low, high, floor = low[right], high[right], right_floor
    return floor


def _missing(low: Integers, high: Integers, floor: Integers, ceiling: Integers) -> int:
    """Return the volume of the cell that the boxes leave free."""
    if not len(low):
        return int(np.prod(ceiling - floor))
    widths = np.minimum(high, ceiling) - np.maximum(low, floor)
    return int(np.prod(ceiling - floor) - np.prod(widths, axis=1).sum())


def _middle_edge(low: Integers, high: Integers, floor: Integers, ceiling: Integers) -> tuple[int, int]:
    """Return the axis with the most box edges inside the cell, and the middle one of them."""
    inside = [sorted({e for e in (*low[:, j], *high[:, j]) if floor[j] < e < ceiling[j]}) for j in range(len(floor))]
    axis = max(range(len(inside)), key=lambda j: len(inside[j]))
    return axis, inside[axis][len(inside[axis]) // 2]


def _whole(lower: Array, upper: Array) -> tuple[list[int], list[int], int]:
    """Return both columns in whole multiples of 1/scale, and the scale."""
    ratios = [value.as_integer_ratio() for value in [*lower.tolist(), *upper.tolist()]]
    scale = max(denominator for _, denominator in ratios)
    whole = [numerator * (scale // denominator) for numerator, denominator in ratios]
    return whole[: len(lower)], whole[len(lower) :], scale
