"""Pydantic's errors as problems of a document: the keys that a user wrote, and the words of the command line.

Pydantic puts the member of a union that it tried between the keys; such steps are not in the file and are dropped.
"""

import re
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from lcca.inputs.errors import Keys, did_you_mean, nearest, shown

_BOUNDS = {
    "greater_than": ("gt", "must be > "),
    "greater_than_equal": ("ge", "must be >= "),
    "less_than": ("lt", "must be < "),
    "less_than_equal": ("le", "must be <= "),
    "multiple_of": ("multiple_of", "must be a multiple of "),
}
_SIZES = {
    "too_short": ("min_length", "at least", "item"),
    "too_long": ("max_length", "at most", "item"),
    "string_too_short": ("min_length", "at least", "character"),
    "string_too_long": ("max_length", "at most", "character"),
}
_TYPES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), "a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "keys with values"),
}


class _Location(NamedTuple):
    """A place in a document.

    Attributes:
        keys: the way from the root, as written in the file.
        siblings: names that the model knows beside the last key; empty where no model is known.
        tags: the values of `kind` (or another discriminator), where the last key is one.
    """

    keys: Keys
    siblings: tuple[str, ...]
    tags: tuple[str, ...]


def problem_texts(errors: Iterable[ErrorDetails], shape: Any, data: Any) -> dict[Keys, str]:
    """Return what is wrong by where it is; several errors at one place are the alternatives of a union.

    Args:
        errors: of pydantic.
        shape: the type that the document was checked against.
        data: the document's plain values.
    """
    texts: dict[Keys, dict[str, None]] = {}
    for details in errors:
        # A list may be "too short" only because some of its items are wrong, which is an error by itself.
        if details["type"] == "too_short" and len(details["input"]) >= details["ctx"]["min_length"]:
            continue
        keys, missing = details["loc"], details["type"] == "missing"
        if details["type"] in ("union_tag_invalid", "union_tag_not_found"):
            keys, missing = (*keys, details["ctx"]["discriminator"].strip("'")), True
        location = _locate(shape, data, keys, missing)
        texts.setdefault(location.keys, {})[_describe(details, location)] = None
    return {keys: ", or ".join(alternatives) for keys, alternatives in texts.items()}


# --- types


def members(shape: Any, metadata: tuple[Any, ...] = ()) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield the members of a union but None, or the type itself if it is no union, each with its annotations."""
    while get_origin(shape) is Annotated:
        shape, *more = get_args(shape)
        metadata = (*metadata, *more)
    shape = getattr(shape, "__value__", shape)  # a `type` alias
    if get_origin(shape) in (Union, types.UnionType):
        for member in get_args(shape):
            yield from members(member, metadata)
    elif shape is not types.NoneType:
        yield shape, metadata


def below(shape: Any, step: str | int) -> Any:
    """Return the type of what is at `step` in a value of type `shape`; None if that cannot be known."""
    if _is_model(shape):
        for name, info in shape.model_fields.items():
            if step in (name, info.alias):
                return Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
        return None
    origin, args = get_origin(shape), get_args(shape)
    if not isinstance(origin, type) or not args:
        return None
    if issubclass(origin, Mapping):
        return args[1] if isinstance(step, str) else None
    if not isinstance(step, int) or not issubclass(origin, Iterable):
        return None
    if issubclass(origin, tuple) and Ellipsis not in args:
        return args[step] if step < len(args) else None
    return args[0]


def _is_model(shape: Any) -> bool:
    return isinstance(shape, type) and issubclass(shape, BaseModel)


# --- where


def _locate(shape: Any, data: Any, loc: Sequence[str | int], missing: bool) -> _Location:
    """Return the written way of an error; `missing` tells whether its last step is not in the document."""
    keys: list[str | int] = []
    siblings: tuple[str, ...] = ()
    union: list[Any] = []
    for at, step in enumerate(loc):
        union = [member for member, _ in members(shape)]
        expected = missing and at == len(loc) - 1
        if len(union) > 1 and not expected:  # the step may name the member that was tried
            chosen = next((member for member in union if step in _tags(member)), None)
            if chosen is not None:
                shape = chosen
                continue
        fields = [each for member in union if _is_model(member) for each in member.model_fields.items()]
        names = tuple(dict.fromkeys(info.alias or name for name, info in fields))
        if not (expected or _holds(data, step) or step in names):
            continue
        keys.append(step)
        siblings = names
        shape = below(union[0] if len(union) == 1 else None, step)
        data = data[step] if _holds(data, step) else None
    return _Location(tuple(keys), siblings, _discriminating(union, str(loc[-1])) if missing else ())


def _tags(member: Any) -> set[str]:
    """Return what pydantic may call a member of a union: its class, or a literal field of it."""
    tags = {str(getattr(member, "__name__", member))}
    if _is_model(member):
        for info in member.model_fields.values():
            tags |= set(_literals(info.annotation))
    return tags


def _discriminating(union: list[Any], key: str) -> tuple[str, ...]:
    fields = (member.model_fields.get(key) for member in union if _is_model(member))
    return tuple(tag for info in fields if info is not None for tag in _literals(info.annotation))


def _literals(annotation: Any) -> tuple[str, ...]:
    return tuple(map(str, get_args(annotation))) if get_origin(annotation) is Literal else ()


def _holds(data: Any, step: str | int) -> bool:
    if isinstance(data, list):
        return isinstance(step, int) and step < len(data)
    return isinstance(data, dict) and step in data


# --- words


def _describe(details: ErrorDetails, location: _Location) -> str:
    """Return what is wrong, what was found and, where a name is mistyped, which one was probably meant."""
    kind, value = details["type"], details["input"]
    context: dict[str, Any] = details.get("ctx", {})
    match kind:
        case "missing":
            return "required key is missing"
        case "extra_forbidden":
            known = location.siblings
            return "unknown key" + (did_you_mean(str(location.keys[-1]), known) if known else "")
        case "literal_error" | "enum":
            return _choice(value, str(context["expected"]))
        case "union_tag_invalid":
            return _choice(context["tag"], str(context["expected_tags"]))
        case "union_tag_not_found":
            return "required key is missing" + (f"; one of {', '.join(location.tags)}" if location.tags else "")
        case "value_error" | "assertion_error":
            return str(context["error"])
    return _expectation(kind, context, details["msg"]) + f", found {shown(value)}"


def _expectation(kind: str, context: dict[str, Any], message: str) -> str:
    if kind in _BOUNDS:
        name, text = _BOUNDS[kind]
        return text + f"{context[name]:g}"
    if kind in _SIZES:
        name, text, unit = _SIZES[kind]
        return f"must have {text} {context[name]} {unit}" + ("" if context[name] == 1 else "s")
    if kind in _TYPES:
        return "must be " + _TYPES[kind]
    if kind == "string_pattern_mismatch":
        return f"must match {context['pattern']}"
    return message.replace("Input should be", "must be").replace("Input should", "must")


def _choice(value: Any, listed: str) -> str:
    near = nearest(value, re.findall(r"'([^']*)'", listed)) if isinstance(value, str) else ""  # all are listed anyway
    one_of = "one of " if "," in listed or " or " in listed else ""
    return f"must be {one_of}{listed}, found {shown(value)}{near}"
