"""Nodes of MLCommons Chakra's execution traces, as `et_def.proto` of mlcommons/chakra @21585d8 has them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lcca.evaluation.fabric.formats.lines import Line
from lcca.evaluation.fabric.formats.protobuf import Value, fields, numbers, signed, unpacked, varint
from lcca.inputs.errors import ConfigError, InputError, Place, Problem, require
from lcca.inputs.files import LARGEST_FILE, read_limited

METADATA, COMPUTE, SEND, RECEIVE, COLLECTIVE = 1, 4, 5, 6, 7
"""Types of nodes; 2 and 3 are loads and stores."""

LARGEST_UNPACKED = 8 * LARGEST_FILE


@dataclass(frozen=True)
class Node(Line):
    """A node; mistakes name it, by its id, in place of a line.

    Attributes:
        type: of the node.
        before: ids of nodes that it depends on.
        micros: how long it takes.
        attributes: by name; those of other types than numbers, texts and lists of truth values are None.
    """

    type: int = 0
    before: tuple[int, ...] = ()
    micros: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def wrong(self, word: str, text: str) -> ConfigError:
        """Return the error that something is wrong with an attribute."""
        return ConfigError(Problem(Place(self.path), (f"node {self.number}", *((word,) if word else ())), text))

    def count(self, name: str, least: int = 0, usual: int | None = None) -> int:
        """Return an attribute that is a whole number."""
        value = self.attributes.get(name, usual)
        if value is None:
            raise self.wrong(name, "is missing; write the trace with it")
        if isinstance(value, bool | str | list) or not least <= value < 2**53 or value != int(value):
            raise self.wrong(name, f"must be a whole number of at least {least}, found {value!r}")
        return int(value)


def read_nodes(path: Path) -> Iterator[Node]:
    """Yield the nodes of a file, after its global metadata."""
    data = read_limited(path)
    if data[:2] == b"\x1f\x8b":
        try:
            unpacker = zlib.decompressobj(31)
            data = unpacker.decompress(data, LARGEST_UNPACKED)
            require(not unpacker.unconsumed_tail, f"{path}: larger than {LARGEST_UNPACKED >> 20} MiB once unpacked")
        except zlib.error as error:
            raise InputError(f"{path}: cannot be unpacked: {error}; is it whole?") from None
    at, place, seen = 0, 0, set[int]()
    while at < len(data):
        try:
            size, at = varint(data, at)
            if at + size > len(data):
                raise ValueError("ends within a message")
            found = _node(str(path), data[at : at + size]) if place else None
            list(fields(data[at : at + size]))
        except (ValueError, OverflowError) as error:
            raise InputError(f"{path}: message {place}: {error}; is it a Chakra trace, and whole?") from None
        at, place = at + size, place + 1
        if found is not None:
            if not 0 < found.type <= COLLECTIVE:
                raise found.wrong("type", f"{found.type} is no type of Chakra's nodes; is it a newer trace?")
            if found.number in seen:
                raise found.wrong("id", "is another node's already; give each its own")
            seen.add(found.number)
            yield found


def _node(path: str, data: bytes) -> Node:
    single, before, attributes = dict[int, int](), list[int](), dict[str, Any]()
    for number, value in fields(data):
        if number in (4, 5):
            before += numbers(value)
        elif number == 10 and isinstance(value, bytes):
            name, found = _attribute(value)
            attributes[name] = found
        elif isinstance(value, int):
            single[number] = value
    return Node(path, single.get(1, 0), (), single.get(3, 0), tuple(before), single.get(7, 0), attributes)


def _attribute(data: bytes) -> tuple[str, Any]:
    name, found = "", None
    for number, value in fields(data):
        if number == 1 and isinstance(value, bytes):
            name = value.decode()
        elif number != 2:
            found = _value(number, value)
    return name, found


def _value(number: int, value: Value) -> Any:
    """Return an attribute's value by the number of its field; of lists those of truth values alone."""
    fixed = {3: "<d", 5: "<f", 19: "<I", 21: "<Q", 23: "<i", 25: "<q"}
    if number in fixed:
        return unpacked(value, fixed[number])
    if number == 29 and isinstance(value, bytes):
        return value.decode()
    if number == 28 and isinstance(value, bytes):
        return [bool(each) for _, own in fields(value) for each in numbers(own)]
    if isinstance(value, bytes):
        return None
    if number == 27:
        return bool(value)
    return (value >> 1) ^ -(value & 1) if number in (15, 17) else signed(value)
