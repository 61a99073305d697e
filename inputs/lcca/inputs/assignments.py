"""Names and values in texts that users write, as in ``gain=0.5,initial=4``."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from lcca.inputs.errors import InputError, about, did_you_mean, require
from lcca.inputs.numbers import integer, real, real_or_nan


def assignments(text: str) -> list[tuple[str, str, str | None]]:
    """Return what a text such as ``gain=0.5,initial=4`` assigns: the words, the name, the value, None if there is none.

    Raises:
        InputError: a name is there twice, or digits stand in its place, as behind the comma of ``gain=0,5``.
    """
    found: list[tuple[str, str, str | None]] = []
    for item in filter(None, text.split(",")):
        name, equals, value = (part.strip() for part in item.partition("="))
        if found and found[-1][2] and name.isdecimal():
            raise InputError(f"'{found[-1][0]},{item}': decimals take a point: {found[-1][0]}.{item}")
        if any(name == known for _, known, _ in found):
            raise InputError(f"{name[:60]}: given twice")
        found.append((item, name, value if equals else None))
    return found


def named_numbers(text: str) -> tuple[str, dict[str, float]]:
    """Return the name and the numbers of a text such as ``dcqcn:increase_us=55`` or ``red:pmax=0.1``.

    Raises:
        InputError: a number that is none, or given twice.
    """
    name, _, rest = text.partition(":")
    with about(name):
        return name, {key: _number(key, value or "") for _, key, value in assignments(rest)}


def _number(key: str, text: str) -> float:
    value = real_or_nan(text)
    if not math.isfinite(value):
        raise InputError(f"{key}: must be a number, as in 'dcqcn:increase_us=55', got {text[:60]!r}")
    return value


def named_options(options: type[Any], what: str, text: str) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the fields of a dataclass that a text such as ``header_bytes=0,MinTh=5`` gives, and those with capitals.

    Raises:
        InputError: no such field, or a value that is no number.
    """
    types = {each.name: str(each.type) for each in fields(options) if each.name != "queue_attributes"}
    values: dict[str, Any] = {}
    attributes: list[tuple[str, str]] = []
    for item, name, value in assignments(text):
        if value is None:
            raise InputError(f"{what}: {item[:60]!r}: write name=value")
        if name[:1].isupper():
            attributes.append((name, value))
            continue
        require(name in types, f"{what}: unknown {name[:60]!r}{did_you_mean(name, types)}")
        try:
            values[name] = _value(types[name], value)
        except ValueError as error:
            raise InputError(f"{what}: {name}={value[:60]}: {error}") from None
    return values, attributes


def _value(kind: str, text: str) -> Any:
    if kind == "str":
        return text
    if kind == "bool":
        if text not in ("true", "false"):
            raise ValueError("must be true or false")
        return text == "true"
    try:
        return integer(text) if "int" in kind else real(text)
    except ValueError:
        raise ValueError("must be a number") from None
