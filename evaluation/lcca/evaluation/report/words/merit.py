"""The figure of merit of contenders on a fabric as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lcca.evaluation.fabric.merit import DECADES, PERCENTILES, starved
from lcca.evaluation.report.words.statements import capital, interval, number
from lcca.evaluation.report.words.table import Table

NOTE = (
    "Figure of merit: mean over sizes of −log2 of the p50 and of the p99 of the slowdowns of all trials' flows; in "
    "brackets 95 % intervals over trials, differences over the same trials."
)


def merit_table(rows: Sequence[Mapping[str, Any]], whose: str = "") -> Table:
    """Return a row per contender, of what `lcca.evaluation.fabric.summary.summary` has: the mean and its numbers."""
    sizes = [size_words(each["size_from"], each["size_to"]) for each in rows[0]["merit"]["decades"]]
    head = ["Contender", "Merit, bits", f"− {rows[0]['merit']['against']}", *sizes, ""]
    body = [
        (
            *(
                row["id"],
                _bits(row["merit"]["merit_bits"], "{:.3f}"),
                _bits(row["merit"]["difference_bits"], "{:+.3f}"),
            ),
            *(
                " / ".join(number(each[f"{name}_bits"]["mean"]) for name in PERCENTILES)
                for each in row["merit"]["decades"]
            ),
            starved(row["merit"]),
        )
        for row in rows
    ]
    out = [words for ends in DECADES if (words := size_words(*ends)) not in sizes]
    caption = capital(f"{whose}figure of merit, and −log2 of {' / '.join(PERCENTILES)} by size")
    return Table(caption + (f"; left out, without flows: {', '.join(out)}" if out else ""), head, body)


def _bits(value: Mapping[str, float], form: str) -> str:
    return interval(value["mean"], value["low"], value["high"], form)


def size_words(low: float, high: float | None) -> str:
    """Return from what size on flows are, and below what."""
    if high is None or math.isinf(high):
        return f"from {_bytes(low)}"
    return f"below {_bytes(high)}" if low == 0 else f"{_bytes(low)} to {_bytes(high)}"


def _bytes(value: float) -> str:
    return f"{value / 1e6:g} MB" if value >= 1e6 else f"{value / 1e3:g} kB"
