"""Differences by region of the network space, against the equivalence margin."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcca.evaluation.comparison.regions import RegionRow
from lcca.evaluation.report.figures.style import (
    FAINT,
    INK,
    PAPER,
    VERDICT_MARKERS,
    Mark,
    drawing,
    legend_beside,
    mark_of,
    panels_by_utility,
)


@drawing
def draw_regions(rows: Sequence[RegionRow], groups: Sequence[str]) -> Figure:
    """Draw one panel per utility: for each region, the candidates side by side; the mark is the verdict."""
    regions, compared = {row.region.name for row in rows}, {row.comparison for row in rows}
    height = 1.1 + len(regions) * (0.24 + 0.14 * len(compared))
    figure, by_utility = panels_by_utility(rows, height, columns=1)
    for ax, own in by_utility:
        _draw_utility(ax, own, groups)
    return figure


def _draw_utility(ax: Axes, rows: Sequence[RegionRow], groups: Sequence[str]) -> None:
    regions = list(dict.fromkeys(f"{row.region.name}\n{row.region.bound}" for row in rows))
    names = list(dict.fromkeys(row.comparison for row in rows))
    offsets = np.linspace(-0.28, 0.28, len(names)) if len(names) > 1 else [0.0]
    reach = _reach(rows)
    ax.axvspan(-rows[0].margin, rows[0].margin, color=FAINT, alpha=0.45, linewidth=0)
    ax.axvline(0, color=INK, linewidth=0.8)
    for name, offset in zip(names, offsets, strict=True):
        own = [row for row in rows if row.comparison == name]
        mark = mark_of(own[0].group, groups) if own[0].group in groups else mark_of(name, names)
        ax.plot([], [], color=mark.hue, linestyle=mark.dashes, linewidth=2, label=name)
        for row in own:
            _draw_row(ax, regions.index(f"{row.region.name}\n{row.region.bound}") + offset, row, mark, reach)
    ax.set_yticks(range(len(regions)), regions)
    ax.set_ylim(len(regions) - 0.5, -0.5)
    ax.set_xlim(-reach, reach)
    ax.grid(visible=False, axis="y")
    ax.set_xlabel("difference of the score, bits (right: better than the baseline)")
    legend_beside(ax)


def _draw_row(ax: Axes, y: float, row: RegionRow, mark: Mark, reach: float) -> None:
    found, verdict = row.found, row.verdict.name
    bounded = np.isfinite(found.low)
    ends = [found.low, found.high] if bounded else [-reach, reach]
    ax.plot(ends, [y, y], color=mark.hue, linewidth=1.8 if bounded else 1, linestyle=mark.dashes if bounded else ":")
    face = PAPER if verdict == "not settled" else mark.hue
    ax.plot([found.mean], [y], marker=VERDICT_MARKERS[verdict], markersize=6, color=mark.hue, markerfacecolor=face)


def _reach(rows: Sequence[RegionRow]) -> float:
    ends = [abs(x) for row in rows for x in (row.found.low, row.found.high, row.found.mean) if np.isfinite(x)]
    return float(1.08 * max([*ends, 2 * rows[0].margin]))
