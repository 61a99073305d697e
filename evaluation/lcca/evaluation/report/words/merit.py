"""The figure of merit of contenders on a fabric as a table; what it and other measures say beside a score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from lcca.evaluation.fabric.merit import DECADES, MEASURES, PERCENTILES, starved
from lcca.evaluation.report.words.statements import NO_BREAK, capital, number, percent, with_interval
from lcca.evaluation.report.words.table import Columns, Table

Json = dict[str, Any]

NOTE = (
    "Figure of merit: one number for flows of all sizes, the larger the better; 0 bits: none takes longer than alone, "
    "−1 bit: twice as long. It is the mean over sizes of −log2 of the p50 and of the p99 of the slowdowns of all "
    "trials' flows; in brackets 95 % intervals over trials, differences over the same trials."
)


def merit_table(rows: Sequence[Mapping[str, Any]], whose: str = "") -> Table:
    """Return a row per contender, of what `lcca.evaluation.fabric.summary.summary` has: the mean and its numbers."""
    sizes = [size_words(each["size_from"], each["size_to"]) for each in rows[0]["merit"]["decades"]]
    columns: Columns = {
        "Contender": "id",
        "Merit, bits": lambda row: with_interval(row["merit"]["merit_bits"], "value", "{:.3f}"),
        f"− {rows[0]['merit']['against']}": lambda row: with_interval(row["merit"]["difference_bits"], "value"),
        **{words: partial(_percentiles, at=at) for at, words in enumerate(sizes)},
        "": lambda row: starved(row["merit"]),
    }
    out = [words for ends in DECADES if (words := size_words(*ends)) not in sizes]
    caption = capital(f"{whose}figure of merit, and −log2 of {' / '.join(PERCENTILES)} by size")
    return Table.of(caption + (f"; left out, without flows: {', '.join(out)}" if out else ""), rows, columns)


def _percentiles(row: Json, at: int) -> str:
    return " / ".join(number(row["merit"]["decades"][at][f"{name}_bits"]["value"]) for name in PERCENTILES)


def size_words(low: float, high: float | None) -> str:
    """Return from what size on flows are, and below what."""
    if high is None or math.isinf(high):
        return f"from {_bytes(low)}"
    return f"below {_bytes(high)}" if low == 0 else f"{_bytes(low)} to {_bytes(high)}"


def _bytes(value: float) -> str:
    return f"{value / 1e6:g} MB" if value >= 1e6 else f"{value / 1e3:g} kB"


BADGES = {"pays": "better", "does not pay": "worse", "open": "not settled"}
"""Verdicts whose colours and markers decisions have."""

SETTLED = {"pays", "does not pay"}


def beside_score(row: Json) -> str:
    """Return what the other measures say of a header, and where they disagree with the score; empty without any."""
    found = row.get("measures", {})
    said = "; ".join(f"by the {MEASURES[name]} {decided(each)}" for name, each in found.items())
    return "".join(f" {each}." for each in (capital(said), *disagreements([row])) if each)


def disagreements(rows: Sequence[Json]) -> list[str]:
    """Return where another measure settles the opposite of what the score settles."""
    pairs = [(row, MEASURES[name], each) for row in rows for name, each in row.get("measures", {}).items()]
    return [
        f"{row['header']}: score and {name} disagree: {row['decision']} by the one, {each['decision']} by the other"
        for row, name, each in pairs
        if {each["decision"], row["decision"]} == SETTLED
    ]


def decided(row: Json | None) -> str:
    """Return a decision with its difference and interval; empty where there is none."""
    return f"{row['decision']} {net_percent(row['net_set'])}" if row else ""


def net_percent(net: Json) -> str:
    """Return a difference in per cent with its interval, if it has one."""
    ends: Mapping[str, float | None] = net["throughput_equivalent_percent"]
    low, high = ends["low"], ends["high"]
    if low is None or high is None:
        return percent_of(net)
    return f"{percent_of(net)} [{percent(low).removesuffix(NO_BREAK + '%')}, {percent(high)}]"


def percent_of(net: Json) -> str:
    """Return a difference in per cent, "unknown" without one."""
    value = net["throughput_equivalent_percent"]["difference"]
    return "unknown" if value is None else percent(value)


def bytes_words(count: int) -> str:
    """Return such as "2 bytes"."""
    return f"{count}{NO_BREAK}byte{'' if count == 1 else 's'}"
