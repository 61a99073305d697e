"""What an interval says of a difference, in words: its sign and its size, which are two statements; and itself."""

from collections.abc import Mapping
from typing import Any

SIGNS = {"+": "positive", "-": "negative", "0": "sign open"}
SIZES = {"larger": "larger than {}", "open": "size open", "smaller": "smaller than {}"}
NOT_SETTLED = "not settled"


def sign_and_size(comparison: Mapping[str, Any], margin: str = "the margin") -> str:
    """Return such as "positive, smaller than the margin"; "not settled" where both are open.

    Args:
        comparison: a record with `direction` and `size`.
        margin: how the margin is named.
    """
    direction, size = comparison["direction"], comparison["size"]
    if (direction, size) == ("0", "open"):
        return NOT_SETTLED
    return f"{SIGNS[direction]}, {SIZES[size].format(margin)}"


def counted_units(comparison: Mapping[str, Any]) -> str:
    """Return what a comparison rests on, such as "1,440 pairs" or "8 training seeds"."""
    n, noun = comparison["n"], "training seed" if comparison["level"] == "set" else "pair"
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def interval(value: float | None, low: float | None, high: float | None, form: str) -> str:
    """Return a number with its interval; unknown ends are infinite."""
    if value is None:
        return "–"
    ends = ("−∞" if low is None else form.format(low), "+∞" if high is None else form.format(high))
    return f"{form.format(value)} [{ends[0]}, {ends[1]}]"
