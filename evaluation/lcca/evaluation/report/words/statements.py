"""Numbers and intervals in words; what an interval says of a difference: its sign and its size, two statements."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from lcca.evaluation.settling.intervals import UNFINISHED

MINUS = "−"
NO_BREAK = "\u00a0"
SIGNS = {"+": "positive", "-": "negative", "0": "sign open"}
SIZES = {"larger": "larger than {}", "open": "size open", "smaller": "smaller than {}"}
NOT_SETTLED = "not settled"
UNKNOWN = "–"
"""Stands for an end of an interval for which there are too few units; tables say so once (`Table.note`)."""
FINDINGS = {"+": "missed this use of the signals", "-": "does better", "0": "is not distinguished from it"}


def rules_words(rules: int | None) -> str:
    """Return how many rules a policy has, "–" for what is no table; one rule acts the same whatever the signals say."""
    return "1, not learnt yet" if rules == 1 else str(rules or "–")


def sign_and_size(comparison: Mapping[str, Any], margin: str = "the margin") -> str:
    """Return such as "positive, smaller than the margin"; "not settled" where both are open, "the same policy" if so.

    Args:
        comparison: a record with `direction` and `size`.
        margin: how the margin is named.
    """
    if reason := void(comparison):
        return reason
    direction, size = comparison["direction"], comparison["size"]
    if (direction, size) == ("0", "open"):
        return NOT_SETTLED
    return f"{SIGNS[direction]}, {SIZES[size].format(margin)}"


def verdict_words(comparison: Mapping[str, Any]) -> str:
    """Return the verdict, and its two statements apart: the difference's sign, and its size against the margin."""
    words, verdict = sign_and_size(comparison), comparison["verdict"]
    return words if verdict in (NOT_SETTLED, words) else f"{verdict}: {words}"


def void(comparison: Mapping[str, Any]) -> str:
    """Return why a record has no verdict, whatever its scores say; empty if it may have one."""
    if (comparison.get("unfinished") or {}).get("too_many"):
        return UNFINISHED
    return str(comparison.get("same") or "")


def counted_units(comparison: Mapping[str, Any]) -> str:
    """Return what a comparison rests on, such as "1,440 pairs" or "8 training seeds"."""
    n, noun = comparison["n"], "training seed" if comparison["level"] == "set" else "pair"
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def finding(comparison: Mapping[str, Any]) -> str:
    """Return what a hand-designed policy less a learnt one with its signals says of the learner."""
    return "does as well" if comparison["size"] == "smaller" else FINDINGS[comparison["direction"]]


def coverage(comparisons: Sequence[Mapping[str, Any]]) -> str:
    """Return how sure intervals are, rounded down: "95 % simultaneous" of signal sets, which share α, else "95 % each".

    Args:
        comparisons: records of one level, one at least, with `alpha`; by Bonferroni's inequality intervals fail to hold
            together no more often than the sum of their error rates.
    """
    together = comparisons[0]["level"] == "set"
    rates = [c["alpha"] for c in comparisons]
    words = "simultaneous" if together and len(rates) > 1 else "each" if len(rates) > 1 else ""
    sure = 1000 * (1 - (sum(rates) if together else max(rates)))
    return f"{math.floor(round(sure, 6)) / 10:g} % {words}".rstrip()


def coverage_apart(runs: Iterable[Sequence[Mapping[str, Any]]]) -> str:
    """Return how sure the intervals of any one run are, each with comparisons of one level; runs may differ."""
    return ", ".join(dict.fromkeys(coverage(rows) for rows in runs if rows))


def coverages(comparisons: Sequence[Mapping[str, Any]]) -> str:
    """Return the coverage of intervals by level, such as "signal sets: 95 % simultaneous; policies: 95 % each"."""
    levels = {"set": "signal sets", "policy": "policies"}
    of = {words: [c for c in comparisons if c["level"] == level] for level, words in levels.items()}
    return "; ".join(f"{words}: {coverage(rows)}" for words, rows in of.items() if rows)


class Number(str):
    """A number in words that also is one, so that LaTeX aligns and rounds it.

    Attributes:
        ends: what it is, and the lower and upper end of its interval; None of what is unknown.
    """

    ends: tuple[float | None, ...]

    def __new__(cls, words: str, *ends: float | None) -> Self:
        """Return words with what is known of the number, the value first."""
        found = super().__new__(cls, words)
        found.ends = (*ends, None, None, None)[:3]
        return found


def interval(value: float | None, low: float | None, high: float | None, form: str) -> str:
    """Return a number with its interval, whose ends are unknown where they are None, or not finite."""
    if value is None or math.isnan(value):
        return Number(UNKNOWN)
    ends = [form.format(end) if end is not None and math.isfinite(end) else UNKNOWN for end in (low, high)]
    return Number(f"{form.format(value)} {bracketed(*ends)}", value, low, high)


def with_interval(row: Mapping[str, Any], key: str = "difference", form: str = "{:+.3f}") -> str:
    """Return a number of a record with its interval, of a comparison the difference in bits."""
    return interval(row[key], row["low"], row["high"], form)


def with_error(value: float | None, error: float | None, digits: int = 3, signed: bool = False) -> str:
    """Return a number with its standard error, if there is one."""
    words = number(value, digits, signed)
    if value is None or error is None:
        return words
    return Number(f"{words} ± {number(error, digits)}", value, value - error, value + error)


def number(value: Any, digits: int = 3, signed: bool = False) -> str:
    """Return a number for a table: fixed digits, thousands separated, a dash for NaN and for what is absent."""
    if not isinstance(value, int | float) or math.isnan(value):
        return Number(UNKNOWN)
    return Number(f"{value:{'+' if signed and value else ''},.{digits}f}".replace("-", MINUS), value)


def signs(text: str) -> str:
    """Return the text of a cell with a proper minus before its numbers."""
    return re.sub(r"(?<![^\s\[(])-(?=[\d.∞])", MINUS, text)


def percent(value: float, signed: bool = True) -> str:
    """Return a percentage to three digits, with a proper minus sign."""
    if value == 0:
        return f"0{NO_BREAK}%"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 9.95 else 2
    text = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    if not signed and "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", MINUS) + NO_BREAK + "%"


TOO_WIDE = 10
"""A forecast whose ends are further apart than this factor says the least alone."""


def counts(low: int, high: int) -> str:
    """Return "40 to 120", "at least 40" of a range too wide to plan by, or one number where both are the same."""
    if high > TOO_WIDE * max(low, 1):
        return f"at least {low:,}"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def listed(names: Sequence[str]) -> str:
    """Return "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def capital(words: str) -> str:
    """Return words that begin with a capital letter."""
    return words[:1].upper() + words[1:]


def bracketed(low: str, high: str) -> str:
    """Return an interval between two ends, "[–]" where neither is known."""
    return f"[{UNKNOWN}]" if low == high == UNKNOWN else f"[{low}, {high}]"
