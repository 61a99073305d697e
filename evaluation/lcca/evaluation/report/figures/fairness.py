"""Unfairness by signal set: the paper's Fig. 18, with 95 % intervals."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcca.evaluation.comparison.fairness import FairnessRow
from lcca.evaluation.report.figures.style import drawing, hue_of, panels


@drawing
def draw_fairness(rows: Sequence[FairnessRow]) -> Figure:
    """Draw one panel per utility; small dots are single trainings."""
    utilities = list(dict.fromkeys(row.utility for row in rows))
    groups = list(dict.fromkeys(row.group for row in rows))
    figure, axes = panels(len(utilities), 2.9, columns=2 if len(utilities) > 1 else 1)
    for ax, utility in zip(axes, utilities, strict=True):
        _draw_utility(ax, [row for row in rows if row.utility == utility], groups)
        ax.set_title(f"utility {utility}", loc="left")
    return figure


def _draw_utility(ax: Axes, rows: Sequence[FairnessRow], groups: Sequence[str]) -> None:
    for x, row in enumerate(rows):
        hue = hue_of(row.group, groups)
        if math.isfinite(row.low):
            ax.plot([x, x], [max(row.low, 0), row.high], color=hue, linewidth=2.4, solid_capstyle="butt")
        spots = np.linspace(-0.22, 0.22, len(row.policies)) if len(row.policies) > 1 else np.array([])
        ax.scatter(x + spots, row.policies[: spots.size], s=14, color=hue, alpha=0.55, linewidths=0)
        ax.plot([x], [row.mean], marker="D", color=hue, markersize=7)
    ax.set_xticks(range(len(rows)), [row.group for row in rows])
    if max(len(row.group) for row in rows) * len(rows) > 40:
        ax.tick_params(axis="x", rotation=30)
    ax.set_xlim(-0.6, len(rows) - 0.4)
    ax.set_ylim(bottom=0)
    ax.grid(visible=False, axis="x")
    ax.set_ylabel("unfairness (0 is fair)")
