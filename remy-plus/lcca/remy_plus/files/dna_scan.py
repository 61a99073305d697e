"""A look at the bytes of a ``.dna`` file before the protobuf parser gets them: depth, number, damage.

The parser would take a few bytes per hostile node and answer with gigabytes, and its errors say nothing.
"""

from __future__ import annotations

from lcca.inputs.errors import InputError
from lcca.remy_plus.policies.rules import MOST_RULES

DEEPEST = 90
"""Levels of a tree; protobuf parsers stop at 100 nested messages."""

_MOST_FIELDS = 10 * MOST_RULES
_CHILD = 2  # field number of a node's children
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


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
        _check_limits(len(ends), fields, nodes)


def _check_limits(depth: int, fields: int, nodes: int) -> None:
    if depth > DEEPEST:
        raise InputError(f"nested deeper than {DEEPEST} levels; no search makes such a tree")
    if nodes > 2 * MOST_RULES or fields > _MOST_FIELDS:
        raise InputError(f"more than {MOST_RULES:,} rules")


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
