"""Figures of estimations: how intervals shrink and what accuracy takes, spread of trials, durations of trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import ArrayLike, NDArray

from lcca.evaluation.report.figures.style import (
    FAINT,
    HUES,
    INK,
    PAPER,
    VERDICT_HUES,
    Mark,
    drawing,
    letters,
    mark,
    new_figure,
    panels,
)
from lcca.evaluation.settling.intervals import t_interval
from lcca.studies.cceval.estimators.accuracy import accuracy_rows, spread
from lcca.studies.cceval.estimators.durations import DurationRow
from lcca.studies.cceval.estimators.estimate import Estimating

Groups = Mapping[str, Mapping[str, Estimating]]
"""Metrics by the panel and the label that they have."""

MOST_COUNTS = 4
"""Violins of one policy in the figure of an estimate."""


@drawing
def draw_convergence(looks: Sequence[tuple[float, float, float]], metric: str) -> Figure:
    """Draw the half-width of the interval, and the required one, against the number of trials.

    Args:
        looks: number of trials, half-width and required half-width of each look.
        metric: what is estimated.
    """
    figure = new_figure(4.0)
    ax = figure.subplots()
    (n, half, asked), found, required = zip(*looks, strict=True), mark(1), mark(2)
    ax.plot(n, half, color=found.hue, marker="o", markersize=3, label="half-width of the interval")
    ax.plot(n, asked, color=required.hue, linestyle=required.dashes, label="required")
    ax.set(xlabel="trials", ylabel=f"{metric}: half-width", xscale="log", yscale="log")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:,g}")
    ax.minorticks_off()
    ax.legend()
    return figure


def grouped(
    panel: Sequence[str], labels: Sequence[str], going: Sequence[Estimating]
) -> dict[str, dict[str, Estimating]]:
    """Return metrics by panel and label, in the order in which they come."""
    found: dict[str, dict[str, Estimating]] = {}
    for title, label, each in zip(panel, labels, going, strict=True):
        found.setdefault(title, {})[label] = each
    return found


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
        known = {name: (spread(each), each.looks[-1]) for name, each in metrics.items() if each.looks}
        known = {name: (a, b) for name, (a, b) in known.items() if a.sd * a.mean > 0 and 0 < b.half_width < np.inf}
        x, last = np.arange(len(known)), list(known.values())
        ax.bar(x - 0.2, [100 * a.sd / abs(a.mean) for a, _ in last], 0.4, color=HUES[0], label="standard deviation")
        half = [100 * b.half_width / abs(b.estimate) for _, b in last]
        ax.bar(x + 0.2, half, 0.4, color=HUES[1], label="half-width of the interval")
        ax.set_xticks(x, list(known))
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


def _plot(ax: Axes, points: Iterable[tuple[float, float]], **how: Any) -> None:
    """Plot the points that have a place on logarithmic axes, if any."""
    if known := [(x, y) for x, y in points if 0 < y < np.inf]:
        ax.plot(*zip(*known, strict=True), **how)


@drawing
def draw_durations(rows: Sequence[DurationRow], ylabel: str) -> Figure:
    """Draw estimate and interval per duration; the band is the longest one's interval, hollow the mean of trials."""
    figure = new_figure(3.4)
    ax = figure.subplots()
    durations, longest = [row.duration_us for row in rows], rows[-1]
    if np.isfinite(longest.low) and np.isfinite(longest.high):
        ax.axhspan(longest.low, longest.high, color=FAINT, alpha=0.45, linewidth=0)
    for biased, name, hue in ((False, "pooled", HUES[1]), (True, "pooled, biased", VERDICT_HUES["worse"])):
        some = [row for row in rows if row.biased == biased]
        for row in some:
            low, high = (end if np.isfinite(end) else row.estimate for end in (row.low, row.high))
            ax.vlines(row.duration_us, low, high, color=hue, linewidth=2.2)
        if some:
            xs, ys = [row.duration_us for row in some], [row.estimate for row in some]
            ax.plot(xs, ys, "D", color=hue, markersize=6, label=name)
    for row in rows:
        if np.isfinite(row.mean_low):
            ax.vlines(row.duration_us, row.mean_low, row.mean_high, color=INK, linewidth=1)
    hollow: Any = {"color": INK, "markerfacecolor": PAPER, "markersize": 5, "linestyle": ":", "label": "mean of trials"}
    ax.plot(durations, [row.mean_of_trials for row in rows], "o", **hollow)
    ax.set_xscale("log")
    ax.set_xticks(durations, [f"{duration:,.0f}" for duration in durations], rotation=30)
    ax.minorticks_off()
    ax.set(xlabel="duration of a trial, µs", ylabel=ylabel)
    ax.legend()
    return figure


@dataclass(frozen=True, eq=False)
class Violin:
    """The first trials of one policy: a value each, their mean, and its 95 % Student's t interval (NaN with one)."""

    policy: str
    trials: int
    values: NDArray[np.float64]
    mean: float
    low: float
    high: float


def violin_data(values: Mapping[str, ArrayLike], counts: Sequence[int]) -> list[Violin]:
    """Return a violin per number of trials and policy: of its first so many trials, as far as it has them.

    Args:
        values: per policy, a value for each trial, in the order in which they were run.
        counts: numbers of trials.
    """
    found = []
    for count in counts:
        for policy, whole in values.items():
            first = np.asarray(whole, dtype=np.float64)[:count]
            found.append(Violin(policy, first.size, first, *t_interval(first)))
    return found


def trial_counts(trials: int, first: int) -> list[int]:
    """Return the numbers of trials to show: from the first look to all of them, by equal factors."""
    if trials <= first:
        return [trials]
    several = min(MOST_COUNTS, 2 + int(np.log2(trials / first) / 2))
    return sorted({round(n) for n in np.geomspace(first, trials, several)})


@drawing
def draw_violins(
    violins: Sequence[Violin], ylabel: str, title: str = "", line: tuple[str, float] | None = None, note: str = ""
) -> Figure:
    """Draw how single trials are spread: violins side by side, as in CCEval's Fig. 3, with intervals of their means.

    The shape is the density of the trials' values (Hintze & Nelson 1998). CCEval's bars are standard deviations, which
    say nothing of how well the mean is known.

    Args:
        violins: in the order in which they stand.
        ylabel: the metric and its unit.
        title: above all.
        line: a level to draw across, with its name.
        note: small print below, which goes wherever the figure goes.
    """
    figure = new_figure(3.6 + 0.17 * note.count("\n"))
    ax = figure.subplots()
    policies = list(dict.fromkeys(each.policy for each in violins))
    for at, each in enumerate(violins):
        _draw_violin(ax, at, each, HUES[(1 + policies.index(each.policy)) % len(HUES)])
    if line is not None:
        ax.axhline(line[1], color=INK, linewidth=0.9, linestyle="--", label=line[0])
        ax.legend()
    ax.set_xticks(range(len(violins)), [f"{each.policy}\n({each.trials:,})" for each in violins])
    ax.set_xlim(-0.6, len(violins) - 0.4)
    ax.grid(visible=False, axis="x")
    ax.set_ylabel(ylabel)
    ax.set_title(title, loc="left")
    ax.set_xlabel(note, fontsize=letters(8), loc="left")
    return figure


def _draw_violin(ax: Axes, at: int, violin: Violin, hue: str) -> None:
    if violin.trials > 1 and np.ptp(violin.values) > 0:  # a density needs a spread
        parts: Any = ax.violinplot([violin.values], positions=[at], widths=0.8, showextrema=False)
        for shape in parts["bodies"]:
            shape.set(facecolor=hue, edgecolor=hue, alpha=0.45)
    if np.isfinite(violin.low):
        ax.plot([at, at], [violin.low, violin.high], color=INK, linewidth=2.4, solid_capstyle="butt")
    ax.plot([at], [violin.mean], marker="D", color=hue, markeredgecolor=INK, markersize=6)
