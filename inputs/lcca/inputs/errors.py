"""The one base class of errors about what a user gave, and the hint that goes with a mistyped name."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """Bad input: the message names file, key and mend in one piece. The command line exits with 2."""


@contextmanager
def about(what: str | os.PathLike[str]) -> Iterator[None]:
    """Put the name of a file or of a part of one before the message of an `InputError` raised inside."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{os.fspath(what)}: {error}") from error


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the nearest choice, or the list of choices when none is near.

    Examples:
        >>> did_you_mean("rtt_rato", ["rtt_ratio", "queue"])
        " (did you mean 'rtt_ratio'?)"
    """
    known = list(choices)
    near = difflib.get_close_matches(name[:100], known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else f" (known: {', '.join(known)})"
