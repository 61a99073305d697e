"""A table of text, whoever shows it: the report as HTML, a study as Markdown, commands on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lcca.evaluation.report.words.statements import UNKNOWN, signs


@dataclass(frozen=True)
class Table:
    """A table of text.

    Attributes:
        caption: above it.
        head: names of the columns.
        rows: as many cells each.
        left: how many of the first columns are set to the left, or the names of those that are.
    """

    caption: str
    head: Sequence[str]
    rows: Collection[Sequence[str]]
    left: int | Collection[str] = 1

    @classmethod
    def of(
        cls,
        caption: str,
        rows: Iterable[Any],
        columns: Mapping[str, Callable[[Any], str]],
        left: int | Collection[str] = 1,
    ) -> Table:
        """Return a table of records, from what writes the cells of each column."""
        cells = [tuple(write(row) for write in columns.values()) for row in rows]
        return cls(caption, [*columns], cells, left)

    def is_left(self, column: int) -> bool:
        """Return whether a column is set to the left."""
        return column < self.left if isinstance(self.left, int) else self.head[column] in self.left

    @property
    def note(self) -> str:
        """What an unknown end of an interval means, where a cell has one."""
        unknown = any(f"[{UNKNOWN}" in cell or f", {UNKNOWN}]" in cell for row in self.rows for cell in row)
        return f"{UNKNOWN} in brackets: too few trials or flows for this end of an interval" if unknown else ""

    def markdown(self) -> str:
        """Return it as Markdown, without the caption; nothing without rows."""
        lines = [self.head, ["---"] * len(self.head), *self.rows] if self.rows else []
        return "\n".join("| " + " | ".join(signs(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)
