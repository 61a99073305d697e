"""What is wrong with a document, and where."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lcca.inputs.errors import InputError

Keys = tuple[str | int, ...]
"""The path from the root of a document to a value: mapping keys and list indices."""

_MOST_PROBLEMS = 40
_LONGEST_KEY = 60


@dataclass(frozen=True)
class Place:
    """Where a value was written: a file and its line (from 1), or `--set` without a line."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


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
