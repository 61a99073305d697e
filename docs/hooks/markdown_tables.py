"""Tables of Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lcca.evaluation.report.words.statements import with_interval
from lcca.evaluation.report.words.table import Table


def table(heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table of Markdown; nothing without rows."""
    return Table("", heads, [list(map(str, row)) for row in rows]).markdown()


def judged(row: Mapping[str, Any], key: str = "verdict") -> tuple[str, str]:
    """Return the cells of a difference with its interval and of its verdict."""
    return with_interval(row), f"**{row[key]}**"
