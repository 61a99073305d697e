"""Tables of Markdown, and numbers in them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MINUS = str.maketrans("-", "−")

Row = Mapping[str, Any]


def bits(low: float, high: float, middle: float | None = None) -> str:
    """Return an interval in bits, with its middle."""
    text = f"[{low:+.3f}, {high:+.3f}]"
    return (text if middle is None else f"{middle:+.3f} {text}").translate(MINUS)


def worth(row: Row) -> str:
    """Return a difference in bits with its interval."""
    return bits(row["low"], row["high"], row["difference"])


def table(heads: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
