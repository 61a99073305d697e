"""Errors about what a user gave: their one base class, the places of problems in a document, how values are shown."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

_SHOWN = 60
"""Longest value that an error repeats."""

LONGEST_NUMBER = 300
"""Digits of a whole number; those of more do not fit into floating-point numbers."""

_LONGEST_WORD = 200
_HIDDEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""What must not reach a terminal: control characters but the end of a line, and halves of surrogate pairs."""


Keys = tuple[str | int, ...]
"""The path from the root of a document to a value: mapping keys and list indices."""

_MOST_PROBLEMS = 40
_LONGEST_KEY = 60


class InputError(ValueError):
    """Bad input: the message names file, key and how to fix it in one piece. The command line exits with 2.

    Control characters in the message are escaped and words of more than 200 characters cut.
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


@dataclass(frozen=True)
class Place:
    """Where a value was written: a file and its line (from 1), or `--set` without a line."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


Places = dict[Keys, Place]
"""Where each value of a document was written; the root is under `()`."""


@dataclass(frozen=True)
class Problem:
    """One thing to fix; prints as `file:line: dotted.key: text`."""

    place: Place
    keys: Keys
    text: str

    def __str__(self) -> str:
        dotted = ".".join(str(key)[:_LONGEST_KEY] for key in self.keys)
        return ": ".join(part for part in (str(self.place), dotted, self.text) if part)


class ConfigError(InputError):
    """A document cannot be used; lists the problems found, one a line, at most 40.

    Attributes:
        problems: all problems, by file and line.
    """

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: Sequence[Problem] = (
            (problems,) if isinstance(problems, Problem) else tuple(dict.fromkeys(problems))
        )
        lines = [str(problem) for problem in self.problems[:_MOST_PROBLEMS]]
        if len(self.problems) > _MOST_PROBLEMS:
            lines.append(f"and {len(self.problems) - _MOST_PROBLEMS:,} more")
        super().__init__("\n".join(lines))


def printable(text: str) -> str:
    """Return a message without control characters and without words longer than 200 characters."""
    return re.sub(rf"\S{{{_LONGEST_WORD + 1},}}", lambda found: f"{found[0][:100]}…{found[0][-60:]}", visible(text))


def visible(text: str) -> str:
    """Return a text with its control characters escaped: a name may hold any, and a terminal would obey them."""
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)


def shown(value: Any) -> str:
    """Return a value as errors show it, in at most 60 characters.

    Examples:
        >>> shown([1, 2])
        'a list of 2'
    """
    if isinstance(value, dict | list | tuple):
        return "keys with values" if isinstance(value, dict) else f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return {True: "true", False: "false", None: "nothing"}[value]
    text = repr(value[: _SHOWN + 1] if isinstance(value, str | bytes) else value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


@contextmanager
def about(what: str | os.PathLike[str]) -> Iterator[None]:
    """Put the name of a file or of a part of one before each line of an `InputError` raised inside."""
    try:
        yield
    except InputError as error:
        lines = str(error).splitlines() or [""]
        raise InputError("\n".join(f"{os.fspath(what)}: {line}" for line in lines)) from error


def did_you_mean(name: object, choices: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the nearest choice, or the list of choices when none is near.

    Examples:
        >>> did_you_mean("rtt_rato", ["rtt_ratio", "queue"])
        " (did you mean 'rtt_ratio'?)"
    """
    known = list(choices)
    return nearest(name, known) or f" (known: {', '.join(known)})"


def nearest(name: object, choices: Iterable[str], what: str = "") -> str:
    """Return ``" (did you mean 'x'?)"`` for the nearest choice (`what` it is goes before), or nothing."""
    words, known = str(name)[:100].casefold(), {each.casefold(): each for each in choices}
    close = difflib.get_close_matches(words, known, n=1)
    longer = [each for each in [*close, *known] if len(words) > 2 and each.startswith(words)]
    shorter = [each for each in known if len(each) > 2 and words.startswith(each)]
    near = longer[:1] or close or shorter[-1:]
    return f" (did you mean {what}{known[near[0]]!r}?)" if near else ""


def require(condition: bool, message: str) -> None:
    """Raise `InputError` with this message unless the condition holds."""
    if not condition:
        raise InputError(message)
