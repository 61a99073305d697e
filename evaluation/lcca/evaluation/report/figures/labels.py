"""Names of comparisons in figures."""

from collections.abc import Sequence
from typing import Any

ONE_LINE = 30  # characters; a longer label is broken in two


def labels(comparisons: Sequence[dict[str, Any]]) -> list[str]:
    """Return "B against A" for each, with the utility where there are several, on two lines if long."""
    several = len({each["utility"] for each in comparisons}) > 1
    return [_label(each, several) for each in comparisons]


def _label(comparison: dict[str, Any], name_utility: bool) -> str:
    utility = f" ({comparison['utility']})" if name_utility else ""
    first, second = str(comparison["B"]), f"against {comparison['A']}{utility}"
    return f"{first} {second}" if len(first) + len(second) < ONE_LINE else f"{first}\n{second}"
