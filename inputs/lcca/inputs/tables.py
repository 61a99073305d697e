"""Tables in CSV files that users write: columns by name, and every problem with its file, line and column."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lcca.inputs.errors import ConfigError, Place, Problem, nearest, shown
from lcca.inputs.files import LARGEST_FILE, read_limited
from lcca.inputs.numbers import real_or_nan
from lcca.inputs.units import TARGETS, plain_number, unit_of_key

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


def read_table(
    path: str | os.PathLike[str],
    required: Mapping[str, Parse],
    optional: Mapping[str, Parse] | None = None,
    aliases: Mapping[str, str] | None = None,
    limit: int = LARGEST_FILE,
) -> Table:
    """Read a CSV file whose first line names its columns, in any order; lines that begin with '#' may stand above it.

    A column whose name ends in its unit takes quantities such as `100 Gbps` too, as keys of YAML files do.

    Args:
        path: the file.
        required: columns that it must have.
        optional: columns that it may have; one of any other name is refused, so that nothing is dropped in silence.
        aliases: other names of columns.
        limit: bytes that it may have.

    Raises:
        InputError: it cannot be read, has other columns or a cell that is no such value: every problem with its line.
    """
    name, known = os.fspath(path), {**required, **(optional or {})}
    rows = _rows(name, read_limited(path, limit)) or [(1, [])]
    header = [(aliases or {}).get(cell.strip(), cell.strip()) for cell in rows[0][1]]
    listed = ",".join(column if column in required else f"[{column}]" for column in known)
    if text := _header_problem(header, required, known):
        raise ConfigError(
            Problem(Place(name, rows[0][0]), (), f"{text}; the first line must name the columns {listed}")
        )
    return _parsed(name, rows[1:], header, known)


def _header_problem(header: Sequence[str], required: Iterable[str], known: Iterable[str]) -> str:
    """Return what is wrong with the names of columns; empty if nothing."""
    if len(header) == 1 and (marks := [each for each in header[0] if each in ";\t|"]):
        return f"columns are separated by {marks[0]!r}; separate them by commas, with points in decimals"
    others = [column for column in header if column not in known]
    if missing := [column for column in required if column not in header]:
        return f"column {missing[0]!r} is missing{nearest(missing[0], others)}"
    if others:
        at = header.index(others[0]) + 1
        return f"column {at}, {others[0][:60]!r}, is unknown{nearest(others[0], known)}; leave it out"
    twice = [column for column in known if header.count(column) > 1]
    return f"column {twice[0]!r} stands there twice" if twice else ""


def _rows(name: str, data: bytes) -> list[tuple[int, list[str]]]:
    """Return the rows that are not empty, each with its line."""
    try:
        reader = csv.reader(data.decode("utf-8-sig").splitlines(), strict=True)
        rows = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError(Problem(Place(name, line), (), "not UTF-8 text; save the file as UTF-8")) from None
    except csv.Error as error:
        raise ConfigError(Problem(Place(name, reader.line_num), (), f"not CSV: {error}")) from None
    comments = [cells[0].lstrip().startswith("#") for _, cells in rows]
    first = comments.index(False) if False in comments else len(rows)
    if True in comments[first:]:
        text = "begins with '#'; CSV has no comments but above its first line: leave the line out"
        raise ConfigError(Problem(Place(name, rows[comments.index(True, first)][0]), (), text))
    return rows[first:]


def _parsed(name: str, rows: list[tuple[int, list[str]]], header: list[str], known: Mapping[str, Parse]) -> Table:
    columns: dict[str, list[Any]] = {column: [] for column in header}
    parsers = {column: _with_units(column, known[column]) for column in header}
    problems: list[Problem] = []
    for line, cells in rows:
        if len(cells) != len(header):
            text = f"must have {len(header)} cells as the first line has, found {len(cells)}"
            text += "; decimals take a point" if len(cells) > len(header) else ""
            problems.append(Problem(Place(name, line), (), text))
            continue
        for column, cell in zip(header, cells, strict=True):
            try:
                columns[column].append(parsers[column](cell.strip()))
            except ValueError as error:
                problems.append(Problem(Place(name, line), (column,), str(error)))
    if problems:
        raise ConfigError(problems)
    return Table(name, columns, [line for line, _ in rows])


def _with_units(column: str, parse: Parse) -> Parse:
    """Return a parser that takes quantities too, where the name of the column says what it counts in."""
    if (unit := unit_of_key(column)) is None:
        return parse
    target = TARGETS[unit]
    return lambda text: parse(str(plain_number(text, target)) if text[-1:].isalpha() else text)


def whole(least: int, most: int = 2**31 - 1, advice: str = "") -> Parse:
    """Return a parser of whole numbers from `least` to `most`; `1e6` is one. The advice ends the error."""

    def parse(text: str) -> int:
        digits = text.isascii() and text.lstrip("-").isdigit() and len(text) < 20
        value = int(text) if digits and text.count("-") < 2 else real_or_nan(text)
        if not (least <= value <= most and value == int(value)):
            raise ValueError(f"must be a whole number from {least} to {most}, found {shown(text)}{advice}")
        return int(value)

    return parse


def number(words: str, holds: Callable[[float], bool]) -> Parse:
    """Return a parser of finite numbers that satisfy a rule, which `words` tell."""

    def parse(text: str) -> float:
        value = real_or_nan(text)
        if not (math.isfinite(value) and holds(value)):
            raise ValueError(f"must be {words}, found {shown(text)}")
        return value

    return parse
