"""Numbers as JSON has them: neither NaN nor infinity."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def finite(value: float | None) -> float | None:
    """Return a number, None for what is unknown or infinite."""
    return float(value) if value is not None and math.isfinite(value) else None


def finite_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with None for the numbers that are unknown or infinite, at any depth."""
    return {key: json_value(value) for key, value in values.items()}


def interval(mean: float, low: float, high: float) -> dict[str, float | None]:
    """Return a mean with its interval as results have it."""
    return {"mean": finite(mean), "low": finite(low), "high": finite(high)}


def json_value(value: Any) -> Any:
    """Return a value with None for the numbers that are unknown or infinite, at any depth."""
    match value:
        case float():
            return finite(value)
        case dict():
            return finite_values(value)
        case list() | tuple():
            return [json_value(each) for each in value]
    return value
