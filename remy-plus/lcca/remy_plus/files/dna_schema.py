"""Our description of what a rule table needs of Remy's and R+'s ``.dna`` protobufs, built in code.

A ``.dna`` file is one serialised ``Tree`` without a header. Field numbers and types are those of the files
(protobuf 2); the names are ours. Fields that are not described here (the configuration and the networks
that a table was trained on) are skipped by the parser.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

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

_PACKAGE = "lcca.dna"
_SCALARS = {
    "double": descriptor_pb2.FieldDescriptorProto.TYPE_DOUBLE,
    "sint32": descriptor_pb2.FieldDescriptorProto.TYPE_SINT32,
    "int32": descriptor_pb2.FieldDescriptorProto.TYPE_INT32,
}
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


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name="lcca/dna.proto", package=_PACKAGE, syntax="proto2")
    for message, fields in _MESSAGES.items():
        described = file.message_type.add(name=message)
        for number, name, kind in fields:
            _add_field(described, number, name, kind)
    return file


def _add_field(message: descriptor_pb2.DescriptorProto, number: int, name: str, kind: str) -> None:
    field = message.field.add(name=name, number=number)
    field.label = field.LABEL_REPEATED if kind.endswith("*") else field.LABEL_OPTIONAL
    kind = kind.rstrip("*")
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type = field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{kind}"


def _tree_class() -> type[Any]:
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(_file().SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.Tree"))


Tree: type[Any] = _tree_class()
"""Message class of a whole ``.dna`` file, and of each node in it."""
