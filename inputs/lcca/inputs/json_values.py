"""Numbers as JSON has them: neither NaN nor infinity."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def finite(value: float | None) -> float | None:
    """Return a number, None for what is unknown or infinite."""
    return float(value) if value is not None and math.isfinite(value) else None


def finite_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with None for the numbers that are unknown or infinite."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}
