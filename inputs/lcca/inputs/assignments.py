"""Names and values in texts that users write, as in ``gain=0.5,initial=4``."""

from __future__ import annotations

import math

from lcca.inputs.errors import InputError, about
from lcca.inputs.numbers import real_or_nan


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
