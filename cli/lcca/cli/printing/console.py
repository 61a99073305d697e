"""Where results are printed: tables with lines in a terminal that has room, and plain columns elsewhere."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape, render
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

from lcca.evaluation.report.words.statements import MINUS, NO_BREAK
from lcca.evaluation.report.words.table import Table as Contents
from lcca.evaluation.report.words.table import flat
from lcca.inputs.errors import visible

PLAIN = str.maketrans({MINUS: "-", NO_BREAK: " "})
"""Numbers as other programs read them."""

LINES = 3
"""Characters of a line between columns and the room beside it."""


class ResultConsole(Console):
    """Prints results: in a pipe or file no lines are drawn, and no word is ever broken in a narrow terminal.

    A table that is too wide for the terminal has its heads wrapped at words; where that is not enough, each row becomes
    lines of its own.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Print objects as `rich.console.Console` does, tables so that they fit."""
        super().print(*(self._fitted(each) if isinstance(each, Table) else each for each in objects), **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return what a text of a table or line looks like: control characters of names are not for the terminal."""
        return super().render_str(visible(text), **options)

    def _fitted(self, table: Table) -> Table | Text:
        if not self.is_terminal:
            return _plain(table)
        if Measurement.get(self, self.options.update(width=10_000), table).maximum <= self.width:
            return table
        widths = [_least(self, column) for column in table.columns]
        if sum(widths) + LINES * len(widths) + 1 > self.width:
            return _stacked(table)
        for column, width in zip(table.columns, widths, strict=True):
            column.width = width
        return table


def _plain(table: Table) -> Table:
    """Return a table without lines: columns that are two spaces apart."""
    table.box, table.show_edge, table.pad_edge = None, False, False
    table.padding, table.title_justify = (0, 2, 0, 0), "left"
    return table


def _least(console: Console, column: Column) -> int:
    """Return the least width of a column in which no cell is wrapped and no word of its head broken."""
    words = _text(column.header).split() or [""]
    cells = [Measurement.get(console, console.options.update(width=10_000), cell).maximum for cell in column.cells]
    return max([*map(len, words), *cells], default=1)


def _stacked(table: Table) -> Text:
    """Return a table as text: a line per cell, under the first cell of its row."""
    heads = [_text(column.header) for column in table.columns]
    width = max(map(len, heads[1:]), default=0)
    lines = [_text(table.title)] if table.title else []
    for row in zip(*(list(column.cells) for column in table.columns), strict=True):
        first, *others = (_text(cell) for cell in row)
        lines += [first, *(f"  {head:<{width}}  {cell}" for head, cell in zip(heads[1:], others, strict=True) if cell)]
    return Text(visible("\n".join(lines)))


def _text(cell: Any) -> str:
    return render(cell).plain if isinstance(cell, str) else str(cell)


def print_table(table: Contents, *notes: str) -> None:
    """Print a table, and notes below it."""
    shown = Table(title=escape(table.caption) or None)
    for column, name in enumerate(table.head):
        shown.add_column(escape(name), justify="left" if table.is_left(column) else "right", overflow="fold")
    for row in table.rows:
        shown.add_row(*(escape(flat(cell).translate(PLAIN)) for cell in row))
    console = wide_console()
    console.print(shown)
    for note in filter(None, (table.note, *notes)):
        console.print(note, style="dim", markup=False)


def wide_console() -> ResultConsole:
    """Return a console for results: piped output is not cut to a terminal's width."""
    console = ResultConsole(highlight=False)
    return console if console.is_terminal else ResultConsole(highlight=False, width=max(console.width, 400))
