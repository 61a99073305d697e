"""The tree inside a ``.dna`` file, flattened into boxes.

A node matches where the signals on its own active axes lie in its own box, and only if its parents matched
too: a leaf's box is the intersection of the boxes from the root down to it. (A rule carries a copy of its
leaf's box as well; like R+, we do not look at it.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from lcca.inputs.errors import InputError
from lcca.remy_plus.core.signals import SIGNAL_CEILING
from lcca.remy_plus.files.dna_schema import DEFAULT_AXES, R_PLUS_AXES
from lcca.remy_plus.policies.rules import MOST_RULES

Bounds: TypeAlias = list[float]

_AXES = range(len(R_PLUS_AXES))


@dataclass(frozen=True)
class Leaf:
    """A rule message and its bounds on each of R+'s nine axes."""

    lower: Bounds
    upper: Bounds
    rule: Any


def leaves(root: Any) -> list[Leaf]:
    """Return the leaves depth first in stored order.

    Raises:
        InputError: bounds or axes that cannot be, a node that is both or neither of leaf and branch, too
            many rules.
    """
    found: list[Leaf] = []
    pending = [(root, [0.0] * len(_AXES), [SIGNAL_CEILING] * len(_AXES))]
    while pending:
        node, lower, upper = pending.pop()
        lower, upper = _cut(node.box, lower, upper, len(found))
        if bool(node.children) == node.HasField("rule"):
            both = "both a rule and children" if node.children else "neither a rule nor children"
            raise InputError(f"the node after {len(found)} rules has {both}")
        pending += [(child, lower, upper) for child in reversed(node.children)]
        if not node.children:
            found.append(Leaf(lower, upper, node.rule))
        if len(found) > MOST_RULES:
            raise InputError(f"more than {MOST_RULES:,} rules")
    return found


def axes_in_use(root: Any) -> list[int]:
    """Return the axes as the nodes list them; the default ones of a node only if some node stores a bound."""
    found: dict[int, None] = {}
    for node in _nodes(root):
        listed = node.box.active_axis
        found.update(dict.fromkeys(listed or (axis for axis in DEFAULT_AXES if stores(node.box, axis))))
    return list(found) or list(DEFAULT_AXES)


def stores(box: Any, axis: int) -> bool:
    """Tell whether the box has a bound on the axis."""
    return bool(box.lower.HasField(R_PLUS_AXES[axis]) or box.upper.HasField(R_PLUS_AXES[axis]))


def widen(root: Any, found: Sequence[Leaf]) -> list[str]:
    """Move leaves that reach the root's upper bound up to the ceiling; return a note for each axis."""
    notes = []
    for axis in _active(root.box):
        end = _bound(root.box.upper, axis, SIGNAL_CEILING, 0)
        if end == SIGNAL_CEILING:
            continue
        for leaf in found:
            if leaf.lower[axis] < leaf.upper[axis] == end:
                leaf.upper[axis] = SIGNAL_CEILING
        notes.append(f"{R_PLUS_AXES[axis]} widened from {end:g} to {SIGNAL_CEILING:g}")
    return notes


def _nodes(root: Any) -> Iterator[Any]:
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(node.children)


def _cut(box: Any, lower: Bounds, upper: Bounds, count: int) -> tuple[Bounds, Bounds]:
    """Return the bounds cut by the node's own box: an empty box inside them where nothing is left."""
    lower, upper = lower.copy(), upper.copy()
    for axis in _active(box):
        low, high = _bound(box.lower, axis, 0.0, count), _bound(box.upper, axis, SIGNAL_CEILING, count)
        lower[axis] = min(max(lower[axis], low), upper[axis])
        upper[axis] = max(min(upper[axis], high), lower[axis])
    return lower, upper


def _active(box: Any) -> Sequence[int]:
    listed = tuple(box.active_axis[: len(_AXES) + 1])
    if len(listed) > len(_AXES) or len(set(listed)) < len(listed) or not set(listed) <= set(_AXES):
        raise InputError(f"active axes {list(listed)}: only 0 to {len(_AXES) - 1} exist, and each once")
    return listed or DEFAULT_AXES


def _bound(point: Any, axis: int, missing: float, count: int) -> float:
    name = R_PLUS_AXES[axis]
    value = float(getattr(point, name)) if point.HasField(name) else missing
    if math.isnan(value) or not 0 <= value <= SIGNAL_CEILING:
        where = f"the node after {count} rules: bound {value:g} of {name}"
        raise InputError(f"{where} is outside 0 to {SIGNAL_CEILING:g}")
    return value
