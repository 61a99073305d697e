"""A pooled quantile by duration of a trial."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from lcca.evaluation.estimation.durations import DurationRow
from lcca.evaluation.report.figures.style import FAINT, HUES, INK, PAPER, VERDICT_HUES, drawing, new_figure


@drawing
def draw_durations(rows: Sequence[DurationRow], ylabel: str) -> Figure:
    """Draw estimate and interval per duration; the band is the longest one's interval, hollow the mean of trials."""
    figure = new_figure(3.4)
    ax = figure.subplots()
    durations = [row.duration_us for row in rows]
    longest = rows[-1]
    if np.isfinite(longest.low) and np.isfinite(longest.high):
        ax.axhspan(longest.low, longest.high, color=FAINT, alpha=0.45, linewidth=0)
    for biased, name in ((False, "pooled"), (True, "pooled, biased")):
        some = [row for row in rows if row.biased == biased]
        hue = VERDICT_HUES["worse"] if biased else HUES[1]
        for row in some:
            low, high = (end if np.isfinite(end) else row.estimate for end in (row.low, row.high))
            ax.vlines(row.duration_us, low, high, color=hue, linewidth=2.2)
        if some:
            xs, ys = [row.duration_us for row in some], [row.estimate for row in some]
            ax.plot(xs, ys, "D", color=hue, markersize=6, label=name)
    for row in rows:
        if np.isfinite(row.mean_low):
            ax.vlines(row.duration_us, row.mean_low, row.mean_high, color=INK, linewidth=1)
    means = [row.mean_of_trials for row in rows]
    ax.plot(
        durations, means, "o", color=INK, markerfacecolor=PAPER, markersize=5, linestyle=":", label="mean of trials"
    )
    ax.set_xscale("log")
    ax.set_xticks(durations, [f"{duration:,.0f}" for duration in durations], rotation=30)
    ax.minorticks_off()
    ax.set_xlabel("duration of a trial, µs")
    ax.set_ylabel(ylabel)
    ax.legend()
    return figure
