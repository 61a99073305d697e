"""Protobuf messages built from tables of their fields, without generated code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

Fields = Iterable[tuple[int, str, str]]
"""Number, name and type of each; the type is a scalar's or a message's name, with "*" where the field is repeated."""


def message_classes(package: str, syntax: str, messages: Mapping[str, Fields]) -> dict[str, type[Any]]:
    """Return the classes of messages by their names, in a pool of their own: no clash with those of others."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax=syntax)
    for message, fields in messages.items():
        described = file.message_type.add(name=message)
        for number, name, kind in fields:
            _add_field(described, number, name, kind, package)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}")) for name in messages}


def _add_field(message: descriptor_pb2.DescriptorProto, number: int, name: str, kind: str, package: str) -> None:
    field = message.field.add(name=name, number=number)
    field.label = field.LABEL_REPEATED if kind.endswith("*") else field.LABEL_OPTIONAL
    kind = kind.rstrip("*")
    if hasattr(field, f"TYPE_{kind.upper()}"):
        field.type = getattr(field, f"TYPE_{kind.upper()}")
    else:
        field.type = field.TYPE_MESSAGE
        field.type_name = f".{package}.{kind}"
