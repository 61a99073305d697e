"""The messages of ns3-gym as protobuf classes, described in code.

Only what two programs must agree on is here: names and numbers of fields and kinds. There is no envelope: the order of
messages alone says what a message is, so `read` checks that the bytes can be the message that is expected. Strings
that are for people (``info``) are described as bytes, the same on the wire, so that an odd character ends no episode.
What can go wrong between the two ends, apart from bad input of our own user (`InputError`), is a `Ns3GymError`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from lcca.remy_plus.files.protobuf import message_classes


class Ns3GymError(RuntimeError):
    """The conversation with the other end failed; the episode is over, and the next reset starts afresh."""


class ProtocolError(Ns3GymError):
    """The other end sent something that the protocol does not allow here."""


class PeerLost(Ns3GymError, TimeoutError):
    """The other end said nothing in time, closed its connection, or its process ended."""


class ConnectionClosed(PeerLost):
    """The other end closed its connection."""


class SpaceKind(IntEnum):
    """What a space or a datum is."""

    NONE = 0
    DISCRETE = 1
    BOX = 2
    TUPLE = 3
    DICT = 4


class Number(IntEnum):
    """What a box holds."""

    NONE = 0
    INT = 1
    UINT = 2
    FLOAT = 3
    DOUBLE = 4


class Reason(IntEnum):
    """Why a simulation is over."""

    SIMULATION_END = 0
    GAME_OVER = 1


_PACKAGE = "ns3opengym"
_TYPE_URL = f"type.googleapis.com/{_PACKAGE}."
# message: (name, type) of its fields, numbered from 1; "*" marks a repeated field; enumerations travel as int32 does
_MESSAGES: dict[str, tuple[tuple[str, str], ...]] = {
    "Any": (("type_url", "string"), ("value", "bytes")),
    "SimInitMsg": (
        ("simProcessId", "uint64"),
        ("wafShellProcessId", "uint64"),
        ("obsSpace", "SpaceDescription"),
        ("actSpace", "SpaceDescription"),
    ),
    "SimInitAck": (("done", "bool"), ("stopSimReq", "bool")),
    "EnvStateMsg": (
        ("obsData", "DataContainer"),
        ("reward", "float"),
        ("isGameOver", "bool"),
        ("reason", "int32"),
        ("info", "bytes"),
    ),
    "EnvActMsg": (("actData", "DataContainer"), ("stopSimReq", "bool")),
    "SpaceDescription": (("type", "int32"), ("space", "Any"), ("name", "string")),
    "DiscreteSpace": (("n", "int32"),),
    "BoxSpace": (("low", "float"), ("high", "float"), ("dtype", "int32"), ("shape", "uint32*")),
    "TupleSpace": (("element", "SpaceDescription*"),),
    "DictSpace": (("element", "SpaceDescription*"),),
    "DataContainer": (("type", "int32"), ("data", "Any"), ("name", "string")),
    "DiscreteDataContainer": (("data", "int32"),),
    "BoxDataContainer": (
        ("dtype", "int32"),
        ("shape", "uint32*"),
        ("intData", "int32*"),
        ("uintData", "uint32*"),
        ("floatData", "float*"),
        ("doubleData", "double*"),
    ),
    "TupleDataContainer": (("element", "DataContainer*"),),
    "DictDataContainer": (("element", "DataContainer*"),),
}

_CLASSES = message_classes(
    _PACKAGE,
    "proto3",
    {message: [(at, *field) for at, field in enumerate(fields, 1)] for message, fields in _MESSAGES.items()},
)


def new(kind: str, **fields: Any) -> Any:
    """Return a message by its name."""
    return _CLASSES[kind](**fields)


def read(kind: str, data: bytes) -> Any:
    """Read bytes as the message of that name.

    Raises:
        ProtocolError: the bytes are no protobuf, or a field has the wire type of another message's.
    """
    try:
        message = _CLASSES[kind].FromString(data)
    except DecodeError as error:
        raise ProtocolError(f"expected {kind}, got {len(data)} bytes that are none ({error})") from None
    ours, unknown = range(1, len(_MESSAGES[kind]) + 1), UnknownFieldSet(message)  # set aside: of another wire type
    if odd := sorted({n for i in range(len(unknown)) if (n := unknown[i].field_number) in ours}):
        raise ProtocolError(f"expected {kind}, got another message (field {', '.join(map(str, odd))} does not fit)")
    return message


def pack(kind: str, message: Any) -> Any:
    """Wrap a message with its name."""
    return new("Any", type_url=_TYPE_URL + kind, value=message.SerializeToString())


def unpack(kind: str, wrapped: Any, where: str) -> Any:
    """Unwrap a message that must be of that kind.

    Raises:
        ProtocolError: it has another name or does not parse.
    """
    name = wrapped.type_url.rpartition("/")[2]
    if name != f"{_PACKAGE}.{kind}":
        raise ProtocolError(f"{where}: expected {_PACKAGE}.{kind}, got {name[:100]!r}")
    try:
        return read(kind, wrapped.value)
    except ProtocolError as error:
        raise ProtocolError(f"{where}: {error}") from None
