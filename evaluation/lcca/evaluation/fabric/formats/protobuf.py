"""Messages of Protocol Buffers as they are stored, without their schema."""

from __future__ import annotations

import struct
from collections.abc import Iterator

Value = int | bytes
"""Of a field: a number, or bytes of a text or a message; numbers with a point are the 4 or 8 bytes that they take."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length, and where it ends.

    Raises:
        ValueError: there is none.
    """
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value & 2**64 - 1, at
    raise ValueError("ends within a number")


def fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """Yield number and value of each field of a message.

    Raises:
        ValueError: it is no message.
    """
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
            yield key >> 3, value
            continue
        size = {1: 8, 5: 4}.get(kind, 0)
        if kind == 2:
            size, at = varint(data, at)
        if not (kind in (1, 2, 5) and at + size <= len(data)):
            raise ValueError("ends within a field")
        yield key >> 3, data[at : at + size]
        at += size


def numbers(value: Value) -> list[int]:
    """Return the numbers of a repeated field, packed or one alone."""
    if isinstance(value, int):
        return [value]
    found, at = list[int](), 0
    while at < len(value):
        number, at = varint(value, at)
        found.append(number)
    return found


def signed(value: int) -> int:
    """Return a number of 64 bits with its sign."""
    return value - 2**64 if value >= 2**63 else value


def unpacked(value: Value, form: str) -> float:
    """Return a number of fixed length; the form is one of `struct`."""
    if isinstance(value, int) or len(value) != struct.calcsize(form):
        raise ValueError("has a number of another length")
    return float(struct.unpack(form, value)[0])
