"""Estimates in words."""

from __future__ import annotations

from lcca.evaluation.report.words.headline import Json, estimated


def headline(summary: Json) -> str:
    """Return the estimates of a run in one line."""
    return "; ".join(map(estimate_words, summary["estimates"]))


def estimate_words(row: Json) -> str:
    """Return an estimate with its interval, such as ``completion time p99 31.2 [30.8, 31.6] ms``."""
    name, unit, scale = estimated(row)
    ends = ("unbounded" if row[end] is None else f"{row[end] / scale:.4g}" for end in ("low", "high"))
    return f"{name} {row['estimate'] / scale:.4g} [{', '.join(ends)}] {unit}".rstrip()
