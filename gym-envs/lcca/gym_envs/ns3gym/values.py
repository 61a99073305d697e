"""Values of Gymnasium spaces to and from ns3-gym's containers of data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from lcca.gym_envs.ns3gym import schema
from lcca.gym_envs.ns3gym.errors import ProtocolError
from lcca.gym_envs.ns3gym.schema import Number, SpaceKind
from lcca.gym_envs.ns3gym.spaces import AnySpace, keys_of, number_of, unique_names
from lcca.inputs.errors import InputError

_FIELDS: dict[Number, tuple[str, np.dtype[Any]]] = {
    Number.INT: ("intData", np.dtype(np.int32)),
    Number.UINT: ("uintData", np.dtype(np.uint32)),
    Number.FLOAT: ("floatData", np.dtype(np.float32)),
    Number.DOUBLE: ("doubleData", np.dtype(np.float64)),
}


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
