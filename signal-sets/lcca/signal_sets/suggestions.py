"""Suggestions for mistyped names, worded the same everywhere."""

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Returns ` (did you mean 'x'?)` for the known word closest to `word`, or "" if none is close."""
    by_lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1)
    return f" (did you mean '{by_lower[close[0]]}'?)" if close else ""
