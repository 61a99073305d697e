"""Numbers in texts that users write: ASCII digits, a point before decimals, nothing between digits."""

from __future__ import annotations

import math


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
