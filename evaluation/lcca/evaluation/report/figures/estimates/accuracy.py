"""Several metrics from the same trials: how intervals shrink, what accuracy takes, and spread against interval."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from lcca.evaluation.estimation.accuracy import accuracy_rows, spread
from lcca.evaluation.estimation.estimate import Estimating
from lcca.evaluation.report.figures.style import HUES, INK, Mark, drawing, letters, mark, panels

Groups = Mapping[str, Mapping[str, Estimating]]
"""Metrics by the panel and the label that they have."""


@drawing
def draw_shrinking(groups: Groups) -> Figure:
    """Draw half-widths in per cent of the estimate against trials (CCEval's Fig. 7), and the one asked for."""

    def draw(ax: Axes, going: Estimating, look: Mark, label: str) -> None:
        found = [(look.n, 100 * look.half_width / abs(look.estimate)) for look in going.looks if look.estimate]
        _plot(ax, found, color=look.hue, marker=look.marker, linestyle=look.dashes, markersize=2.5, label=label)
        if going.config.accuracy is None:
            ax.axhline(going.config.accuracy_percent, color=INK, linewidth=0.9, linestyle="--")

    return _drawn(groups, draw, "trials", "half-width, % of the estimate")


@drawing
def draw_accuracy(groups: Groups) -> Figure:
    """Draw trials against accuracy (CCEval's Fig. 10): forecast after the first look (line), and needed (dots)."""

    def draw(ax: Axes, going: Estimating, look: Mark, label: str) -> None:
        rows = accuracy_rows(going)
        needed = [(row.percent, row.needed) for row in rows if row.needed is not None]
        _plot(ax, [(row.percent, row.forecast) for row in rows], color=look.hue, linestyle=look.dashes, label=label)
        _plot(ax, needed, marker=look.marker, linestyle="", color=look.hue, markersize=4)

    return _drawn(groups, draw, "half-width, % of the estimate", "trials")


@drawing
def draw_spread(groups: Groups) -> Figure:
    """Draw the standard deviation over trials and the interval's half-width beside each other (CCEval's Fig. 4)."""
    figure, axes = panels(len(groups), 2.6, 2)
    for ax, (title, metrics) in zip(axes, groups.items(), strict=True):
        shown = {name: (spread(each), each.looks[-1]) for name, each in metrics.items() if each.looks}
        shown = {name: (a, b) for name, (a, b) in shown.items() if a.sd * a.mean > 0 and 0 < b.half_width < np.inf}
        names, last = list(shown), list(shown.values())
        x = np.arange(len(last))
        ax.bar(x - 0.2, [100 * a.sd / abs(a.mean) for a, _ in last], 0.4, color=HUES[0], label="standard deviation")
        half = [100 * b.half_width / abs(b.estimate) for _, b in last]
        ax.bar(x + 0.2, half, 0.4, color=HUES[1], label="half-width of the interval")
        ax.set_xticks(x, names)
        ax.set_ylabel("% of the estimate")
        if last:
            ax.set_yscale("log")
            _plain(ax.yaxis)
        ax.set_title(title, loc="left")
    axes[0].legend()
    return figure


def _drawn(groups: Groups, draw: Callable[[Axes, Estimating, Mark, str], None], xlabel: str, ylabel: str) -> Figure:
    figure, axes = panels(len(groups), 2.8, 2)
    for ax, (title, metrics) in zip(axes, groups.items(), strict=True):
        for i, (label, going) in enumerate(metrics.items()):
            draw(ax, going, mark(i), label)
        ax.set(xlabel=xlabel, ylabel=ylabel)
        if ax.lines:
            ax.set(xscale="log", yscale="log")
            _plain(ax.xaxis)
            _plain(ax.yaxis)
        if ax.get_legend_handles_labels()[1]:
            ax.legend(fontsize=letters(7))
        ax.set_title(title, loc="left")
    return figure


def _plain(axis: Axis) -> None:
    """Write the numbers of a logarithmic axis out, since text here is no mathematics."""
    axis.set_major_formatter("{x:,g}")
    axis.set_minor_formatter(NullFormatter())


def _plot(ax: Axes, points: Sequence[tuple[float, float]], **how: Any) -> None:
    """Plot the points that have a place on logarithmic axes, if any."""
    shown = [(x, y) for x, y in points if 0 < y < np.inf]
    if shown:
        ax.plot(*zip(*shown, strict=True), **how)


def grouped(
    panel: Sequence[str], labels: Sequence[str], going: Sequence[Estimating]
) -> dict[str, dict[str, Estimating]]:
    """Return metrics by panel and label, in the order in which they come."""
    found: dict[str, dict[str, Estimating]] = {}
    for title, label, each in zip(panel, labels, going, strict=True):
        found.setdefault(title, {})[label] = each
    return found
