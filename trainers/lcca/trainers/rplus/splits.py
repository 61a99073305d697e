"""Splits of rules along one signal, and what each would gain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus.policies.rules import RuleTable, bisect

Floats = NDArray[np.float64]

OUTLIERS = 3.0
"""Half differences beyond so many medians are cut: one starved flow must not outweigh all other pairs."""


class Split(NamedTuple):
    """A rule's box cut in two along one axis, at a value."""

    rule: int
    axis: int
    cut: float


def split(table: RuleTable, splits: Iterable[Split]) -> RuleTable:
    """Return the table with these rules in two parts each, which act as before: the lower one first, then the upper.

    Each rule may be split once.
    """
    for rule, axis, cut in sorted(splits, reverse=True):  # from the last rule on, so that numbers stay right
        cuts = np.full(len(table.signals), np.nan)
        cuts[axis] = cut
        table = bisect(table, rule, cuts)
    return table


def contrasts(splits: Sequence[Split], directions: Floats, rules: int) -> Floats:
    """Return how all rules move where the two parts of each split rule move apart.

    Args:
        splits: in rising order of their rules.
        directions: (pairs, splits, fields) of the lower parts; the upper ones move the opposite way.
        rules: of the table after the splits.

    Returns:
        (pairs, rules, fields)
    """
    moved = np.zeros((len(directions), rules, directions.shape[2]))
    low = parts(splits)
    moved[:, low], moved[:, low + 1] = directions, -directions
    return moved


def parts(splits: Sequence[Split]) -> NDArray[np.intp]:
    """Return which rule each split's lower part is, after the splits; the upper part is the next one."""
    return np.array([each.rule + before for before, each in enumerate(splits)], dtype=np.intp)


def half_differences(above: Floats, below: Floats) -> Floats:
    """Return (pairs,) half differences between mirrored scores, outliers cut."""
    halves = (above - below) / 2
    bound = OUTLIERS * float(np.median(np.abs(halves)))
    return np.clip(halves, -bound, bound)


def gains(halves: Floats, used: NDArray[np.bool_], directions: Floats) -> Floats:
    """Estimate what each split would gain, up to a factor: the squared slope along which its parts move apart.

    A table that is polished has no slope where both parts move together, so the first gain of a split is along their
    contrast. The squared estimate is too large by its variance, which is taken off: a split that gains nothing has
    mean zero.

    Args:
        halves: (pairs,) half differences of mirrored scores.
        used: (pairs, splits) whether either trial of a pair looked a split rule up.
        directions: (pairs, splits, fields) of the lower parts.

    Returns:
        (splits,) gains, not negative.
    """
    each = halves[:, None, None] * used[:, :, None] * directions
    variance = each.var(axis=0, ddof=1) / len(each)
    return np.asarray(np.maximum(each.mean(axis=0) ** 2 - variance, 0).sum(axis=1))


def best(gained: Sequence[tuple[float, Split]], at_most: int) -> list[Split]:
    """Return the splits with the largest gains, at most one of each rule and only such with a gain."""
    chosen: dict[int, Split] = {}
    for gain, each in sorted(gained, key=lambda pair: -pair[0]):
        if gain > 0 and len(chosen) < at_most:
            chosen.setdefault(each.rule, each)
    return sorted(chosen.values())
