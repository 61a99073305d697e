"""Tables in CSV files that users write: columns by name, and every problem with its file, line and column."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lcca.inputs.errors import ConfigError, Place, Problem, nearest, shown
from lcca.inputs.files import read_limited

Parse = Callable[[str], Any]
"""Turns the text of a cell into its value; raises ValueError with what it must be."""

RowProblem = tuple[int, str, str]
"""Row (from 0), column and what is wrong there."""


@dataclass(frozen=True)
class Table:
    """The cells of a CSV file.

    Attributes:
        path: the file.
        columns: values by column; those that the file lacks are left out.
        lines: the line, from 1, of each row.
    """

    path: str
    columns: Mapping[str, list[Any]]
    lines: Sequence[int]

    def rows(self, order: Sequence[int]) -> Table:
        """Return some of its rows, in this order."""
        columns = {name: [values[row] for row in order] for name, values in self.columns.items()}
        return Table(self.path, columns, [self.lines[row] for row in order])

    def require(self, problems: Iterable[RowProblem]) -> None:
        """Raise the problems of rows, if there are any.

        Raises:
            ConfigError: each as `file:line: column: problem`.
        """
        found = [Problem(Place(self.path, self.lines[row]), (column,), text) for row, column, text in problems]
        if found:
            raise ConfigError(found)


def read_table(path: str | os.PathLike[str], required: Mapping[str, Parse], optional: Mapping[str, Parse]) -> Table:
    """Read a CSV file whose first line names its columns; columns of other names are skipped.

    Raises:
        InputError: it cannot be read, lacks a column or has a cell that is no such value: every problem with its line.
    """
    name = os.fspath(path)
    rows = _rows(name, read_limited(path))
    header = [cell.strip() for cell in rows[0][1]] if rows else []
    if missing := [column for column in required if column not in header]:
        expected = ",".join([*required, *(f"[{column}]" for column in optional)])
        hint = nearest(missing[0], header)
        text = f"column {missing[0]!r} is missing{hint}; the first line must name the columns {expected}"
        raise ConfigError(Problem(Place(name, 1), (), text))
    wanted = {column: parse for column, parse in {**required, **optional}.items() if column in header}
    return _parsed(name, rows[1:], header, wanted)


def _rows(name: str, data: bytes) -> list[tuple[int, list[str]]]:
    """Return the rows that are not empty, each with its line."""
    try:
        reader = csv.reader(data.decode("utf-8-sig").splitlines(), strict=True)
        return [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError(Problem(Place(name, line), (), "not UTF-8 text; save the file as UTF-8")) from None
    except csv.Error as error:
        raise ConfigError(Problem(Place(name, reader.line_num), (), f"not CSV: {error}")) from None


def _parsed(name: str, rows: list[tuple[int, list[str]]], header: list[str], wanted: Mapping[str, Parse]) -> Table:
    columns: dict[str, list[Any]] = {column: [] for column in wanted}
    problems: list[Problem] = []
    for line, cells in rows:
        if len(cells) != len(header):
            text = f"must have {len(header)} cells as the first line has, found {len(cells)}"
            problems.append(Problem(Place(name, line), (), text))
            continue
        for column, parse in wanted.items():
            try:
                columns[column].append(parse(cells[header.index(column)].strip()))
            except ValueError as error:
                problems.append(Problem(Place(name, line), (column,), str(error)))
    if problems:
        raise ConfigError(problems)
    return Table(name, columns, [line for line, _ in rows])


def whole(least: int, most: int = 2**31 - 1) -> Parse:
    """Return a parser of whole numbers from `least` to `most`; `1e6` is one."""

    def parse(text: str) -> int:
        try:
            value = int(text) if text.isascii() and text.lstrip("-").isdigit() and len(text) < 20 else float(text)
        except ValueError:
            value = math.nan
        if not (least <= value <= most and value == int(value)):
            raise ValueError(f"must be a whole number from {least} to {most}, found {shown(text)}")
        return int(value)

    return parse


def number(words: str, holds: Callable[[float], bool]) -> Parse:
    """Return a parser of finite numbers that satisfy a rule, which `words` tell."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and holds(value)):
            raise ValueError(f"must be {words}, found {shown(text)}")
        return value

    return parse
