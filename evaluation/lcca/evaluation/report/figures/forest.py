"""Forest plot: the interval of every comparison against the equivalence margin."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcca.evaluation.report.figures.style import (
    FAINT,
    INK,
    PAPER,
    VERDICT_HUES,
    VERDICT_MARKERS,
    WIDTH,
    drawing,
    letters,
    new_figure,
)
from lcca.evaluation.report.words.headline import SIDES, paid_words

Json = dict[str, Any]

LEVEL_TITLES = {"set": "Signal sets: mean over trainings", "policy": "Selected policies"}

ONE_LINE = 30
"""Characters; a longer label is broken in two."""


def labels(comparisons: Sequence[Json]) -> list[str]:
    """Return "B against A" for each, with the utility where there are several, on two lines if long."""
    several = len({each["utility"] for each in comparisons}) > 1
    found = []
    for each in comparisons:
        utility = f" ({each['utility']})" if several else ""
        first, second = str(each["B"]), f"against {each['A']}{utility}"
        found.append(f"{first} {second}" if len(first) + len(second) < ONE_LINE else f"{first}\n{second}")
    return found


def forest_data(comparisons: Sequence[Json]) -> list[Json]:
    """Return the rows, signal sets before policies, otherwise in the given order; None for ends that are not known yet.

    `bits_per_doubling`: the difference that twice the throughput at equal delay makes, None if unknown; `paid`: what
    per cents are of.
    """
    shown = ("level", "difference", "low", "high", "margin", "verdict")
    rows = [
        {"label": label}
        | {key: each[key] for key in shown}
        | {"bits_per_doubling": _bits_per_doubling(each), "paid": paid_words([each["utility"]], *SIDES)}
        for each, label in zip(comparisons, labels(comparisons), strict=True)
    ]
    return sorted(rows, key=lambda row: row["level"] != "set")


def _bits_per_doubling(comparison: Json) -> float | None:
    bits, percent = comparison["difference"], comparison["throughput_equivalent_percent"]["difference"]
    return round(bits / np.log2(1 + percent / 100), 6) if bits and percent else None


@drawing
def draw_forest(rows: Sequence[Json], policies: str = LEVEL_TITLES["policy"]) -> Figure:
    """Draw one panel per level, each with its own scale; `policies` is the title of that of policies."""
    levels = [level for level in LEVEL_TITLES if any(row["level"] == level for row in rows)]
    groups = [[row for row in rows if row["level"] == level] for level in levels]
    heights = [1.3 + sum(0.46 if "\n" in row["label"] else 0.3 for row in group) for group in groups]
    figure = new_figure(sum(heights), WIDTH)
    axes = figure.subplots(len(groups), 1, squeeze=False, height_ratios=heights).ravel()
    for ax, level, group in zip(axes, levels, groups, strict=True):
        _draw_level(ax, policies if level == "policy" else LEVEL_TITLES[level], group)
    return figure


def _draw_level(ax: Axes, title: str, rows: Sequence[Json]) -> None:
    ends = [abs(x) for row in rows for x in (row["low"], row["high"], row["difference"]) if x is not None]
    reach = float(1.12 * max([*ends, 2 * rows[0]["margin"]]))
    margins = [row["margin"] for row in rows]
    left = [-margin for margin in margins]
    ax.barh(range(len(rows)), [2 * m for m in margins], 1, left, color=FAINT, alpha=0.45, linewidth=0)
    ax.axvline(0, color=INK, linewidth=0.8)
    for y, row in enumerate(rows):
        _draw_row(ax, y, row, reach)
    ax.set_yticks(range(len(rows)), [row["label"] for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(-reach, reach)
    ax.grid(visible=False, axis="y")
    ax.set_title(title, loc="left")
    ax.set_xlabel("difference of the score, bits (right: better than the baseline)")
    scales = {(row["bits_per_doubling"], row["paid"]) for row in rows if row["bits_per_doubling"]}
    if len(scales) == 1:
        _percent_axis(ax, reach, *scales.pop())


def _draw_row(ax: Axes, y: int, row: Json, reach: float) -> None:
    hue, marker = VERDICT_HUES[row["verdict"]], VERDICT_MARKERS[row["verdict"]]
    if row["low"] is None or row["high"] is None:
        ax.plot([-reach, reach], [y, y], color=hue, linewidth=1, linestyle=":")
    if row["difference"] is not None:
        face = PAPER if row["verdict"] == "not settled" else hue
        ax.plot([row["difference"]], [y], marker=marker, color=hue, markerfacecolor=face, markersize=letters(6.5))
    if row["low"] is not None and row["high"] is not None:  # over the marker, and higher than it
        ends = [row["low"], row["high"]]
        ax.plot(ends, [y, y], color=INK, linewidth=1.1, marker="|", markersize=letters(9.5), markeredgewidth=1.1)


def _percent_axis(ax: Axes, reach: float, bits_per_doubling: float, paid: str) -> None:
    """Add an axis on top in percent of what is paid for, unless the numbers would be very large."""
    if reach / bits_per_doubling > 2:
        return

    def to_percent(bits: Any) -> Any:
        return 100 * (2 ** (bits / bits_per_doubling) - 1)

    def to_bits(percent: Any) -> Any:
        return bits_per_doubling * np.log2(np.maximum(1 + percent / 100, 1e-6))

    top = ax.secondary_xaxis("top", functions=(to_percent, to_bits))
    top.set_xlabel(f"{paid}, %", fontsize=letters(9))
    top.spines["top"].set_visible(False)
