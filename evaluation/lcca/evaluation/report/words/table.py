"""A table of text, whoever shows it: the report as HTML, a study as Markdown, commands on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from lcca.evaluation.report.words.statements import UNKNOWN, number, signs

Columns = Mapping[str, Callable[[Any], str] | str | tuple[str, int]]
"""By title what writes the cell of a record: a function, the key of a text or count, or key and digits of a number."""


@dataclass(frozen=True)
class Table:
    """A table of text.

    Attributes:
        caption: above it.
        head: names of the columns.
        rows: as many cells each; a page shows further lines of a cell below the first, others beside it.
        left: how many of the first columns are set to the left, or the names of those that are.
        verdicts: of each row, where it has one: its colour on a page.
        badge: the column whose words before a colon have that colour.
    """

    caption: str
    head: Sequence[str]
    rows: Collection[Sequence[str]]
    left: int | Collection[str] = 1
    verdicts: Sequence[str] = ()
    badge: str = ""

    @classmethod
    def of(cls, caption: str, rows: Iterable[Any], columns: Columns, left: Any = 1, badge: str = "") -> Table:
        """Return a table of records; of comparisons with their verdicts if a column has the badge."""
        found = list(rows)
        cells = [tuple(_cell(row, each) for each in columns.values()) for row in found]
        return cls(caption, [*columns], cells, left, [row["verdict"] for row in found] if badge else (), badge)

    def html(self) -> Iterator[list[Markup]]:
        """Yield the cells of each row for a page; lines below the first are small."""
        for row in self.rows:
            yield [_html(cell, name == self.badge != "") for name, cell in zip(self.head, row, strict=True)]

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
        rows = [[signs(flat(cell)).replace("|", "\\|") for cell in row] for row in (self.head, *self.rows)]
        lines = [rows[0], ["---"] * len(self.head), *rows[1:]] if self.rows else []
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(row: Any, column: Callable[[Any], str] | str | tuple[str, int]) -> str:
    if isinstance(column, tuple):
        return number(row[column[0]], column[1])
    return str(row[column]) if isinstance(column, str) else column(row)


def flat(cell: str) -> str:
    """Return the lines of a cell side by side."""
    return cell.replace("\n", " ")


def stacked(found: str) -> str:
    """Return a number with its interval below it."""
    return found.replace(" [", "\n[")


def _html(cell: str, badge: bool) -> Markup:
    first, *below = signs(cell).split("\n")
    if badge:
        first, *more = first.split(": ", 1)
        below = [*more, *below]
    whole = (Markup('<span class="badge">{}</span>') if badge else Markup("{}")).format(first)
    return whole + Markup("").join(Markup('<span class="ends">{}</span>').format(each) for each in below)
