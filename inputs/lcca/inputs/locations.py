"""From a pydantic error location to the way that a user wrote.

Pydantic puts the member of a union that it tried between the keys; such steps are not in the file and are
dropped.
"""

import types
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from lcca.inputs.errors import Keys


@dataclass(frozen=True)
class Location:
    """A place in a document.

    Attributes:
        keys: the way from the root, as written in the file.
        siblings: names that the model knows beside the last key; empty where no model is known.
        tags: the values of `kind` (or another discriminator), where the last key is one.
    """

    keys: Keys
    siblings: tuple[str, ...] = field(default=(), compare=False)
    tags: tuple[str, ...] = field(default=(), compare=False)


def locate(shape: Any, data: Any, loc: Sequence[str | int], *, missing: bool) -> Location:
    """Finds the written way for an error.

    Args:
        shape: the type that the document was checked against.
        data: the document's plain values.
        loc: pydantic's location.
        missing: whether the last step of `loc` names something that is not in the document.
    """
    keys: list[str | int] = []
    siblings: tuple[str, ...] = ()
    members: list[Any] = []
    for at, step in enumerate(loc):
        members = list(_members(shape))
        expected = missing and at == len(loc) - 1
        if len(members) > 1 and not expected:  # the step may name the member that was tried
            chosen = next((member for member in members if step in _tags(member)), None)
            if chosen is not None:
                shape = chosen
                continue
        names = tuple(dict.fromkeys(name for member in members for name in _names(member)))
        if not (expected or _holds(data, step) or step in names):
            continue
        keys.append(step)
        siblings = names
        shape = _below(members[0] if len(members) == 1 else None, step)
        data = data[step] if _holds(data, step) else None
    return Location(tuple(keys), siblings, _discriminating(members, str(loc[-1])) if missing else ())


def _members(shape: Any) -> Iterator[Any]:
    """The members of a union but None, with annotations off; the type itself if it is no union."""
    while get_origin(shape) is Annotated:
        shape = get_args(shape)[0]
    shape = getattr(shape, "__value__", shape)  # a `type` alias
    if get_origin(shape) in (Union, types.UnionType):
        for member in get_args(shape):
            yield from _members(member)
    elif shape is not types.NoneType:
        yield shape


def _is_model(shape: Any) -> bool:
    return isinstance(shape, type) and issubclass(shape, BaseModel)


def _tags(member: Any) -> set[str]:
    """What pydantic may call a member of a union: its class, or a literal field of it."""
    tags = {str(getattr(member, "__name__", member))}
    if _is_model(member):
        for info in member.model_fields.values():
            tags |= set(_literals(info.annotation))
    return tags


def _literals(annotation: Any) -> tuple[str, ...]:
    return tuple(map(str, get_args(annotation))) if get_origin(annotation) is Literal else ()


def _discriminating(members: list[Any], key: str) -> tuple[str, ...]:
    fields = (member.model_fields.get(key) for member in members if _is_model(member))
    return tuple(tag for info in fields if info is not None for tag in _literals(info.annotation))


def _names(member: Any) -> tuple[str, ...]:
    if not _is_model(member):
        return ()
    return tuple(info.alias or name for name, info in member.model_fields.items())


def _below(shape: Any, step: str | int) -> Any:
    """The type of what is at `step` in a value of type `shape`; None if that cannot be told."""
    if _is_model(shape):
        for name, info in shape.model_fields.items():
            if step in (name, info.alias):
                return info.annotation
        return None
    origin, args = get_origin(shape), get_args(shape)
    if not isinstance(origin, type) or not args:
        return None
    if issubclass(origin, Mapping):
        return args[1]
    if issubclass(origin, tuple) and Ellipsis not in args:
        return args[step] if isinstance(step, int) and step < len(args) else None
    return args[0] if issubclass(origin, Sequence | AbstractSet) else None


def _holds(data: Any, step: str | int) -> bool:
    if isinstance(data, list):
        return isinstance(step, int) and step < len(data)
    return isinstance(data, dict) and step in data
