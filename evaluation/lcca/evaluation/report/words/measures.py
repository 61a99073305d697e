"""What measures say of a header, beside its score: decisions with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lcca.evaluation.fabric.merit import MEASURES
from lcca.evaluation.report.words.statements import NO_BREAK, capital, percent

Json = dict[str, Any]

BADGES = {"pays": "better", "does not pay": "worse", "open": "not settled"}
"""Verdicts whose colours and markers decisions have."""

SETTLED = {"pays", "does not pay"}


def beside_score(row: Json) -> str:
    """Return what the other measures say of a header, and where they disagree with the score; empty without any."""
    found = row.get("measures", {})
    said = "; ".join(f"by the {MEASURES[name]} {decided(each)}" for name, each in found.items())
    return "".join(f" {capital(each)}." for each in (said, *disagreements([row])) if each)


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
