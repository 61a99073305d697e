"""Half-width of an estimate's interval against the required one, by number of trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from lcca.evaluation.report.figures.style import drawing, mark, new_figure


@dataclass(frozen=True)
class ConvergenceRow:
    """What was known after n trials: half the width of the interval, and the one asked for, in the metric's unit."""

    n: int
    half_width: float
    required: float


@drawing
def draw_convergence(rows: Sequence[ConvergenceRow], metric: str) -> Figure:
    """Draw the half-width of the interval, and the required one, against the number of trials."""
    figure = new_figure(4.0)
    axes = figure.subplots()
    n, found, asked = [row.n for row in rows], mark(1), mark(2)
    half = [row.half_width for row in rows]
    axes.plot(n, half, color=found.hue, marker="o", markersize=3, label="half-width of the interval")
    axes.plot(n, [row.required for row in rows], color=asked.hue, linestyle=asked.dashes, label="required")
    axes.set(xlabel="trials", ylabel=f"{metric}: half-width")
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,g}")
    axes.minorticks_off()
    axes.legend()
    return figure
