"""The tree inside a ``.dna`` file: its bytes looked through, parsed, and flattened into boxes.

A ``.dna`` file is one serialised ``Tree`` without a header. Field numbers and types are those of the files of Remy and
R+ (protobuf 2); the names are ours. Fields that are not described here (the configuration and the networks that a table
was trained on) are skipped by the parser. It gets the bytes after a look at depth, number and damage: it would take a
few bytes per hostile node and answer with gigabytes, and its errors say nothing.

A node matches where the signals on its own active axes lie in its own box, and only if its parents matched too: a
leaf's box is the intersection of the boxes from the root down to it. (A rule carries a copy of its leaf's box as well;
like R+, we do not look at it.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from lcca.inputs.errors import InputError, require
from lcca.remy_plus.core.signals import SIGNAL_CEILING
from lcca.remy_plus.files.protobuf import message_classes
from lcca.remy_plus.policies.rules import MOST_RULES

R_PLUS_AXES = (
    "send_ewma",
    "receive_ewma",
    "rtt_ratio",
    "slow_receive_ewma",
    "rtt_difference",
    "queueing_delay",
    "loss",
    "queue_ewma",
    "link_ewma",
)
"""R+'s signals by the number that a file's ``active_axis`` holds. Remy has the first six."""

DEFAULT_AXES = (0, 1, 2, 3)
"""The axes of a node that lists none."""

# message: (number, name, type), where "*" marks a repeated field
_MESSAGES: dict[str, tuple[tuple[int, str, str], ...]] = {
    "Point": tuple((21 + i, name, "double") for i, name in enumerate(R_PLUS_AXES)),
    "Box": ((11, "lower", "Point"), (12, "upper", "Point"), (13, "active_axis", "int32*")),
    "Rule": (
        (31, "increment", "sint32"),
        (32, "multiple", "double"),
        (33, "pacing", "double"),
        (34, "box", "Box"),
    ),
    "Steps": tuple(
        (41 + i, name, "double")
        for i, name in enumerate(("lowest", "highest", "smallest_step", "largest_step", "step_factor", "start"))
    ),
    "Search": ((51, "increment", "Steps"), (52, "multiple", "Steps"), (53, "pacing", "Steps")),
    "Tree": ((1, "box", "Box"), (2, "children", "Tree*"), (3, "rule", "Rule"), (5, "search", "Search")),
}

Tree: type[Any] = message_classes("lcca.dna", "proto2", _MESSAGES)["Tree"]
"""Message class of a whole ``.dna`` file, and of each node in it."""

_AXES = range(len(R_PLUS_AXES))

DEEPEST = 90
"""Levels of a tree; protobuf parsers stop at 100 nested messages."""

_MOST_FIELDS = 10 * MOST_RULES
_CHILD = 2  # field number of a node's children
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

Bounds: TypeAlias = list[float]


def scan(data: bytes) -> None:
    """Walk over the nodes of the tree, skipping everything else by its length.

    Raises:
        InputError: not protobuf, cut short, nested too deep, or more nodes and fields than 100,000 rules
            need.
    """
    ends = [len(data)]
    position = fields = nodes = 0
    while ends:
        if position == ends[-1]:
            ends.pop()
            continue
        fields += 1
        tag, position = _varint(data, position, ends[-1])
        if tag < 8:
            raise InputError(f"not a .dna file: byte {position - 1} is no field of a protobuf")
        size, position = _size(data, position, ends[-1], tag & 7)
        if size > ends[-1] - position:
            raise InputError(f"damaged or cut short at byte {position}: a field goes beyond the end")
        if tag == _CHILD << 3 | _BYTES:
            nodes += 1
            ends.append(position + size)
        else:
            position += size
        require(len(ends) <= DEEPEST, f"nested deeper than {DEEPEST} levels; no search makes such a tree")
        require(nodes <= 2 * MOST_RULES and fields <= _MOST_FIELDS, f"more than {MOST_RULES:,} rules")


def _size(data: bytes, position: int, end: int, wire_type: int) -> tuple[int, int]:
    """Return the length of a field's content and where it begins."""
    if wire_type == _VARINT:
        return 0, _varint(data, position, end)[1]
    if wire_type == _BYTES:
        return _varint(data, position, end)
    if wire_type in (_FIXED64, _FIXED32):
        return (8 if wire_type == _FIXED64 else 4), position
    raise InputError(f"not a .dna file: byte {position} is no field of a protobuf")


def _varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= end:
            raise InputError(f"damaged or cut short at byte {position}")
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
    raise InputError(f"not a .dna file: byte {position} is no field of a protobuf")


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
    pending = [root]
    while pending:
        node = pending.pop()
        pending += reversed(node.children)
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
