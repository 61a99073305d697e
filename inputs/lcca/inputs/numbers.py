"""Numbers in texts that users write: ASCII digits, a point before decimals, nothing between digits."""

from __future__ import annotations

import math

from lcca.inputs.errors import InputError


def real(text: str) -> float:
    """Return the number that a text is, also NaN or infinity, which most who ask refuse.

    Raises:
        ValueError: it is none: ``float`` takes digits of all scripts and underscores too.
    """
    if not text.isascii() or "_" in text:
        raise ValueError(f"{text[:60]!r} is no number in ASCII digits")
    return float(text)


def real_or_nan(text: str) -> float:
    """Return the number that a text is, NaN if it is none."""
    try:
        return real(text)
    except ValueError:
        return math.nan


def integer(text: str) -> int:
    """Return the whole number that a text is.

    Raises:
        ValueError: it is none, as `real` has it.
    """
    real(text)
    return int(text)


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
