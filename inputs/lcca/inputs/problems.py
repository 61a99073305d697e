"""What is wrong with a configuration, and where."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lcca.inputs.errors import InputError

Keys = tuple[str | int, ...]
"""The way from the root of a document to a value: mapping keys and list indices."""


@dataclass(frozen=True)
class Place:
    """Where a value was written: a file and its line (from 1), or `--set` without a line."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


@dataclass(frozen=True)
class Problem:
    """One thing to mend; prints as `file:line: dotted.key: text`."""

    place: Place
    keys: Keys
    text: str

    def __str__(self) -> str:
        dotted = ".".join(map(str, self.keys))
        return ": ".join(part for part in (str(self.place), dotted, self.text) if part)


class ConfigError(InputError):
    """A configuration cannot be used; lists every problem found, one a line.

    Attributes:
        problems: the problems, by file and line.
    """

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: Sequence[Problem] = (
            (problems,) if isinstance(problems, Problem) else tuple(dict.fromkeys(problems))
        )
        super().__init__("\n".join(map(str, self.problems)))
