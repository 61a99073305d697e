"""Tables of Markdown, and differences in them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lcca.evaluation.report.words.statements import interval
from lcca.evaluation.report.words.table import Table

Row = Mapping[str, Any]


def worth(row: Row, middle: str = "difference") -> str:
    """Return a difference in bits with its interval."""
    return interval(row[middle], row["low"], row["high"], "{:+.3f}")


def table(heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table of Markdown; nothing without rows."""
    return Table("", heads, [list(map(str, row)) for row in rows]).markdown()
