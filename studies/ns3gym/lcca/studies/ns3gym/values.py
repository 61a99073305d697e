"""Gymnasium spaces and their values to and from ns3-gym's descriptions and containers.

A description says less than a space: a box has one lower and one upper bound, in single precision, and its numbers are
int, uint (32 bits on the wire), float or double.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from lcca.inputs.errors import InputError
from lcca.studies.ns3gym import schema
from lcca.studies.ns3gym.schema import Number, ProtocolError, SpaceKind

AnySpace = spaces.Space[Any]

MAX_NUMBERS = 1 << 20
"""A peer's space may have this many numbers at most, in all of its boxes."""

MAX_PARTS = 1024
"""A peer's space may consist of this many spaces at most, those that hold others included."""

MAX_DIMENSIONS = 32
"""Of a box; NumPy 1 has no more."""

MAX_DESCRIPTION = 1 << 20
"""Bytes of a peer's description of a space."""

MAX_DEPTH = 32
"""Tuples and dicts may be nested this deep."""

_MAX_N = 2**31 - 1
_FIELDS: dict[Number, tuple[str, np.dtype[Any]]] = {
    Number.INT: ("intData", np.dtype(np.int32)),
    Number.UINT: ("uintData", np.dtype(np.uint32)),
    Number.FLOAT: ("floatData", np.dtype(np.float32)),
    Number.DOUBLE: ("doubleData", np.dtype(np.float64)),
}
_NUMBERS = {"i": Number.INT, "u": Number.UINT}


def number_of(dtype: np.dtype[Any], where: str) -> Number:
    """Return what the protocol calls numbers of this type.

    Raises:
        InputError: it has no name for them.
    """
    if dtype.kind in _NUMBERS:
        return _NUMBERS[dtype.kind]
    if dtype.kind == "f":
        return Number.FLOAT if dtype.itemsize <= 4 else Number.DOUBLE
    raise InputError(f"{where}: ns3-gym has no boxes of {dtype}; use integers or floats")


def describe(space: AnySpace, where: str, name: str = "", depth: int = 0) -> Any:
    """Return the description of a space, a ``SpaceDescription``.

    Args:
        space: Box, Discrete, Tuple or Dict; a Dict's keys are strings, and its elements are sorted by them. A box whose
            bounds differ by element is described by its least and its greatest bound.
        where: how messages of errors call it.
        name: its key, within a Dict.
        depth: how deep it is nested.

    Raises:
        InputError: the protocol cannot express it.
    """
    if depth > MAX_DEPTH:
        raise InputError(f"{where}: nested deeper than {MAX_DEPTH}")
    if isinstance(space, spaces.Discrete):
        if space.n > _MAX_N:
            raise InputError(f"{where}: Discrete({space.n}) has more than {_MAX_N} values")
        kind, body = SpaceKind.DISCRETE, schema.new("DiscreteSpace", n=int(space.n))
    elif isinstance(space, spaces.Box):
        kind, body = SpaceKind.BOX, _describe_box(space, where)
    elif isinstance(space, spaces.Tuple):
        inner = [describe(s, f"{where}[{i}]", depth=depth + 1) for i, s in enumerate(space.spaces)]
        kind, body = SpaceKind.TUPLE, schema.new("TupleSpace", element=inner)
    elif isinstance(space, spaces.Dict):
        inner = [describe(space[key], f"{where}[{key!r}]", key, depth + 1) for key in keys_of(space, where)]
        kind, body = SpaceKind.DICT, schema.new("DictSpace", element=inner)
    else:
        raise InputError(f"{where}: ns3-gym has no {type(space).__name__}; use Box, Discrete, Tuple or Dict")
    return schema.new("SpaceDescription", type=kind, space=schema.pack(f"{kind.name.title()}Space", body), name=name)


def keys_of(space: spaces.Dict, where: str) -> list[str]:
    """Return the keys of a Dict in the order of the wire."""
    keys = list(space.spaces)
    if not all(isinstance(key, str) for key in keys):
        raise InputError(f"{where}: keys of a Dict must be strings")
    return sorted(keys)


def _describe_box(space: spaces.Box, where: str) -> Any:
    number = number_of(space.dtype, where)
    with np.errstate(over="ignore"):
        low = np.float32(space.low.min()) if space.low.size else np.float32(-math.inf)
        high = np.float32(space.high.max()) if space.high.size else np.float32(math.inf)
    return schema.new("BoxSpace", low=float(low), high=float(high), dtype=number, shape=space.shape)


def read_space(description: Any, where: str) -> AnySpace | None:
    """Return the space that a ``SpaceDescription`` describes, or None where there is none.

    Numbers are int32, uint32, float32 or float64. A box with both bounds 0 is read as unbounded: ns3-gym sends that for
    boxes that were made with a vector of bounds.

    Raises:
        ProtocolError: it describes no space, or one that is too large.
    """
    if description.ByteSize() > MAX_DESCRIPTION:
        raise ProtocolError(f"{where}: its description has more than {MAX_DESCRIPTION} bytes")
    if description.type == SpaceKind.NONE and not description.space.ByteSize():
        return None
    return _Reader(where).read(description, where, 0)


class _Reader:
    """Reads the description of a space, and counts what it is made of."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._parts = self._numbers = 0

    def read(self, description: Any, where: str, depth: int) -> AnySpace:
        if depth > MAX_DEPTH:
            raise ProtocolError(f"{where}: nested deeper than {MAX_DEPTH}")
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise ProtocolError(f"{self._where}: more than {MAX_PARTS} spaces")
        kind = description.type
        if kind == SpaceKind.NONE and not description.space.ByteSize():
            raise ProtocolError(f"{where}: a part of a space is missing")
        if kind == SpaceKind.DISCRETE:
            count = schema.unpack("DiscreteSpace", description.space, where).n
            if count < 1:
                raise ProtocolError(f"{where}: a discrete space of {count} values")
            return spaces.Discrete(count)
        if kind == SpaceKind.BOX:
            return self._box(schema.unpack("BoxSpace", description.space, where), where)
        if kind == SpaceKind.TUPLE:
            elements = schema.unpack("TupleSpace", description.space, where).element
            return spaces.Tuple([self.read(e, f"{where}[{i}]", depth + 1) for i, e in enumerate(elements)])
        if kind == SpaceKind.DICT:
            elements = schema.unpack("DictSpace", description.space, where).element
            unique_names(elements, where)
            return spaces.Dict({e.name: self.read(e, f"{where}[{e.name!r}]", depth + 1) for e in elements})
        raise ProtocolError(f"{where}: no kind of space has the number {kind}")

    def _box(self, body: Any, where: str) -> AnySpace:
        if body.dtype not in _FIELDS:
            raise ProtocolError(f"{where}: no kind of number has the number {body.dtype}")
        if len(body.shape) > MAX_DIMENSIONS:
            raise ProtocolError(f"{where}: a box of {len(body.shape)} dimensions; {MAX_DIMENSIONS} are allowed")
        shape = tuple(body.shape)
        self._numbers += math.prod(max(length, 1) for length in shape)
        if self._numbers > MAX_NUMBERS:
            raise ProtocolError(f"{where}: with a box of shape {shape} more than {MAX_NUMBERS} numbers")
        dtype = _FIELDS[Number(body.dtype)][1]
        low, high = _bounds(body.low, body.high, dtype, where)
        return spaces.Box(np.full(shape, low, dtype), np.full(shape, high, dtype), dtype=dtype.type)


def unique_names(elements: Iterable[Any], where: str) -> list[str]:
    """Return the names of a Dict's elements.

    Raises:
        ProtocolError: one is there twice.
    """
    names = [element.name for element in elements]
    if len(set(names)) < len(names):
        raise ProtocolError(f"{where}: two elements have the same name")
    return names


def _bounds(low: float, high: float, dtype: np.dtype[Any], where: str) -> tuple[float, float]:
    """Return the bounds, within what the type of number holds."""
    if not low <= high:
        raise ProtocolError(f"{where}: bounds [{low}, {high}] hold nothing")
    if low == high == 0:
        low, high = -math.inf, math.inf
    if dtype.kind == "f":
        return low, high
    limits = np.iinfo(dtype)
    least, most = max(low, limits.min), min(high, limits.max)
    if math.ceil(least) > math.floor(most):
        raise ProtocolError(f"{where}: bounds [{low}, {high}] hold no {dtype}")
    return math.ceil(least), math.floor(most)


def clipped(space: spaces.Box, value: NDArray[Any]) -> NDArray[Any]:
    """Return the nearest value within the bounds of a box."""
    return np.asarray(np.clip(value, space.low, space.high))


def neutral(space: AnySpace) -> Any:
    """Return the value that stands for one that is missing: 0 or the nearest to it, in every part of the space."""
    if isinstance(space, spaces.Box):
        return clipped(space, np.zeros(space.shape, space.dtype))
    if isinstance(space, spaces.Discrete):
        return np.int64(space.start)
    if isinstance(space, spaces.Tuple):
        return tuple(neutral(inner) for inner in space.spaces)
    assert isinstance(space, spaces.Dict)
    return {key: neutral(inner) for key, inner in space.spaces.items()}


def encode(space: AnySpace, value: Any, where: str, doubles_as_floats: bool = False, name: str = "") -> Any:
    """Return a value of a space as a ``DataContainer``.

    Args:
        space: Box, Discrete, Tuple or Dict.
        value: of that space; numbers may have another type where nothing is lost but precision. Bounds are not checked.
        where: how messages of errors call it.
        doubles_as_floats: send double boxes as float ones, as ns3-gym's own agent does.
        name: its key, within a Dict.

    Raises:
        InputError: the value is not of that space, a NaN, or an integer that does not fit the 32 bits of the wire.
    """
    if isinstance(space, spaces.Discrete):
        kind, body = SpaceKind.DISCRETE, _encode_discrete(space, value, where)
    elif isinstance(space, spaces.Box):
        kind, body = SpaceKind.BOX, _encode_box(space, value, where, doubles_as_floats)
    elif isinstance(space, spaces.Tuple):
        kind, body = SpaceKind.TUPLE, _encode_tuple(space, value, where, doubles_as_floats)
    elif isinstance(space, spaces.Dict):
        kind, body = SpaceKind.DICT, _encode_dict(space, value, where, doubles_as_floats)
    else:
        raise InputError(f"{where}: ns3-gym has no {type(space).__name__}; use Box, Discrete, Tuple or Dict")
    wrapped = schema.pack(f"{kind.name.title()}DataContainer", body)
    return schema.new("DataContainer", type=kind, data=wrapped, name=name)


def _encode_discrete(space: spaces.Discrete, value: Any, where: str) -> Any:
    array = _cast(_array(value, 1, where), np.dtype(np.int64), where, InputError)
    number = int(array.flat[0])
    if not 0 <= number - space.start < space.n:
        raise InputError(f"{where}: {number} is not in {space}")
    return schema.new("DiscreteDataContainer", data=number - int(space.start))


def _encode_box(space: spaces.Box, value: Any, where: str, doubles_as_floats: bool) -> Any:
    array = _array(value, math.prod(space.shape), where)
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InputError(f"{where}: not a number")
    number = number_of(space.dtype, where)
    if number is Number.DOUBLE and doubles_as_floats:
        number = Number.FLOAT
    field, dtype = _FIELDS[number]
    numbers = _cast(array, dtype, where, InputError).ravel().tolist()
    return schema.new("BoxDataContainer", dtype=number, shape=space.shape, **{field: numbers})


def _encode_tuple(space: spaces.Tuple[Any], value: Any, where: str, doubles_as_floats: bool) -> Any:
    if not isinstance(value, Sequence) or len(value) != len(space.spaces):
        raise InputError(f"{where}: expected a tuple of {len(space.spaces)}, got {value!r:.100}")
    parts = [
        encode(inner, part, f"{where}[{i}]", doubles_as_floats)
        for i, (inner, part) in enumerate(zip(space.spaces, value, strict=True))
    ]
    return schema.new("TupleDataContainer", element=parts)


def _encode_dict(space: spaces.Dict, value: Any, where: str, doubles_as_floats: bool) -> Any:
    keys = keys_of(space, where)
    if not isinstance(value, Mapping) or sorted(value) != keys:
        raise InputError(f"{where}: expected a dict with the keys {keys}, got {value!r:.100}")
    parts = [encode(space[key], value[key], f"{where}[{key!r}]", doubles_as_floats, key) for key in keys]
    return schema.new("DictDataContainer", element=parts)


def decode(space: AnySpace, container: Any, where: str) -> Any:
    """Return the value in a ``DataContainer``, of the space's type and shape.

    The shape that comes with a box is not looked at (many senders flatten it, and ns3-gym never reads it), and its
    numbers may be of any of the four kinds where nothing is lost but precision. Bounds of boxes are not checked.

    Raises:
        ProtocolError: the data are not of that space.
    """
    if isinstance(space, spaces.Discrete):
        return _decode_discrete(space, _body(container, SpaceKind.DISCRETE, where), where)
    if isinstance(space, spaces.Box):
        return _decode_box(space, _body(container, SpaceKind.BOX, where), where)
    if isinstance(space, spaces.Tuple):
        return _decode_tuple(space, _body(container, SpaceKind.TUPLE, where).element, where)
    assert isinstance(space, spaces.Dict)
    return _decode_dict(space, _body(container, SpaceKind.DICT, where).element, where)


def is_empty(container: Any) -> bool:
    """Whether a container says nothing, as an absent one does."""
    return container.type == SpaceKind.NONE and not container.data.ByteSize()


def _body(container: Any, kind: SpaceKind, where: str) -> Any:
    if container.type != kind:
        known = container.type in list(SpaceKind)
        got = SpaceKind(container.type).name.lower() if known else f"kind {container.type}"
        raise ProtocolError(f"{where}: expected data of a {kind.name.lower()} space, got {got}")
    return schema.unpack(f"{kind.name.title()}DataContainer", container.data, where)


def _decode_discrete(space: spaces.Discrete, body: Any, where: str) -> np.int64:
    if not 0 <= body.data < space.n:
        raise ProtocolError(f"{where}: {body.data} is not in 0..{space.n - 1}")
    return np.int64(space.start + body.data)


def _decode_box(space: spaces.Box, body: Any, where: str) -> NDArray[Any]:
    filled = [number for number, (field, _) in _FIELDS.items() if len(getattr(body, field))]
    if len(filled) > 1:
        raise ProtocolError(f"{where}: a box with numbers of {len(filled)} kinds")
    field, dtype = _FIELDS[filled[0] if filled else Number.DOUBLE]
    found = getattr(body, field)
    if len(found) != math.prod(space.shape):
        raise ProtocolError(f"{where}: expected {math.prod(space.shape)} numbers, got {len(found)}")
    numbers = np.array(list(found), dtype=dtype)
    return _cast(numbers, space.dtype, where, ProtocolError).reshape(space.shape)


def _decode_tuple(space: spaces.Tuple[Any], elements: Any, where: str) -> tuple[Any, ...]:
    if len(elements) != len(space.spaces):
        raise ProtocolError(f"{where}: expected {len(space.spaces)} elements, got {len(elements)}")
    pairs = zip(space.spaces, elements, strict=True)
    return tuple(decode(inner, element, f"{where}[{i}]") for i, (inner, element) in enumerate(pairs))


def _decode_dict(space: spaces.Dict, elements: Any, where: str) -> dict[str, Any]:
    named = dict(zip(unique_names(elements, where), elements, strict=True))
    if sorted(named) != sorted(space.spaces):
        raise ProtocolError(f"{where}: expected elements {sorted(space.spaces)}, got {sorted(named)}")
    return {key: decode(inner, named[key], f"{where}[{key!r}]") for key, inner in space.spaces.items()}


def _array(value: Any, size: int, where: str) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(f"{where}: {value!r:.100} is no array") from None
    if array.size != size:
        raise InputError(f"{where}: expected {size} numbers, got shape {array.shape}")
    return array


def _cast(array: NDArray[Any], dtype: np.dtype[Any], where: str, error: type[Exception]) -> NDArray[Any]:
    """Return the numbers in another type: floats are rounded, integers must stay what they are."""
    if array.dtype.kind not in "biuf":
        raise error(f"{where}: expected numbers, got {array.dtype}")
    with np.errstate(over="ignore", invalid="ignore"):
        cast = array.astype(dtype)
    changed = cast != array
    if dtype.kind in "iu" and changed.any():
        raise error(f"{where}: {array[changed].flat[0]} is no {dtype} (integers have 32 bits in ns3-gym)")
    return cast
