"""Figures of transports on a fabric: slowdown against size, distributions, pauses; rates of chosen flows over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullFormatter

from lcca.evaluation.fabric.figures.curves import PERCENT, Curves, Floats, Rates, shares
from lcca.evaluation.report.figures.style import drawing, mark, new_figure

SHORTEST_QUEUE = 500.0
"""Bytes at which the axis of queues begins: the curve there says how often there is none, or an ACK."""


@drawing
def draw_fabric(curves: Sequence[Curves], title: str) -> Figure:
    """Draw slowdown by size, the distributions of slowdown, completion time and queue, and paused time.

    Args:
        curves: of the transports.
        title: of the figure: the scenario and how many trials.
    """
    figure = new_figure(5.6 + 0.2 * -(-len(curves) // 3), width=9.0)
    axes = list(figure.subplots(2, 3).ravel())
    for column, percent in enumerate(PERCENT):
        _draw_by_size(axes[column], curves, column)
        axes[column].set_title(f"p{percent} slowdown", loc="left")
    _draw_paused(axes[2], curves)
    for ax, title_of, label, points in (
        (axes[3], "share of flows", "slowdown", [(c.slowdown, shares(len(c.slowdown))) for c in curves]),
        (axes[4], "share of flows", "completion time, µs", [(c.fct_us, shares(len(c.fct_us))) for c in curves]),
        (
            axes[5],
            "share of time",
            "queue of fullest port, bytes",
            [(np.maximum(c.queue_bytes, 1), c.queue_share) for c in curves],
        ),
    ):
        _draw_shares(ax, points, label)
        ax.set_title(title_of, loc="left")
    axes[5].set_xlim(left=SHORTEST_QUEUE)
    _plain(axes)
    figure.legend(axes[0].get_lines(), [c.policy for c in curves], loc="outside lower center", ncols=3, title=title)
    return figure


@drawing
def draw_rates(rates: Sequence[Rates], title: str) -> Figure:
    """Draw the rates of chosen flows over time, a panel per transport.

    Args:
        rates: of the transports.
        title: of the figure: the scenario and the seed.
    """
    rows = -(-len(rates) // 3)
    figure = new_figure(2.2 * rows + 0.6, width=9.0)
    axes = list(figure.subplots(rows, min(3, len(rates)), sharex=True, sharey=True, squeeze=False).ravel())
    for ax, each in zip(axes, rates, strict=False):
        for column in range(len(each.flows)):
            look = mark(column)
            ax.plot(*(each.time_us, each.gbps[:, column]), color=look.hue, linestyle=look.dashes, drawstyle="steps-pre")
        ax.set_title(each.policy, loc="left")
        ax.set(xlabel="time, µs", ylim=(0, None))
        ax.tick_params(labelbottom=True)
    for first in axes[::3]:
        first.set_ylabel("Gb/s delivered")
    for unused in axes[len(rates) :]:
        unused.set_visible(False)
    names = [f"flow {flow}" for flow in rates[0].flows]
    figure.legend(axes[0].get_lines(), names, loc="outside lower center", ncols=6, title=title)
    return figure


def _draw_by_size(ax: Axes, curves: Sequence[Curves], column: int) -> None:
    for number, each in enumerate(curves):
        look: Any = _look(number) | {"marker": mark(number).marker, "markersize": 3}
        ax.plot(each.size_bytes, each.slowdown_by_size[:, column], **look)
    ax.set(xscale="log", yscale="log", xlabel="size of flows, bytes")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))


def _draw_shares(ax: Axes, points: Sequence[tuple[Floats, Floats]], label: str) -> None:
    for number, (x, y) in enumerate(points):
        ax.plot(x, y, **_look(number), drawstyle="steps-post")
    ax.set(xscale="log", xlabel=label, ylim=(0, 1.02))


def _draw_paused(ax: Axes, curves: Sequence[Curves]) -> None:
    """Draw each trial as a dot and the mean as ◆, in the order of the legend from the top."""
    for row, each in enumerate(curves):
        hue = mark(row).hue
        ax.scatter(each.paused_us, [row] * len(each.paused_us), s=12, color=hue, alpha=0.4, linewidths=0)
        ax.plot([each.paused_us.mean()], [row], marker="D", color=hue, markersize=6)
    ax.set(xlabel="µs of all ports in a trial", yticks=[], ylim=(len(curves) - 0.5, -0.5), xlim=(0, None))
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.set_title("paused", loc="left")


def _plain(axes: Sequence[Axes]) -> None:
    for axis in (*(ax.xaxis for ax in axes), *(ax.yaxis for ax in axes[: len(PERCENT)])):
        axis.set_major_formatter(EngFormatter(sep=""))
        axis.set_minor_formatter(NullFormatter())


def _look(number: int) -> dict[str, Any]:
    return {"color": mark(number).hue, "linestyle": mark(number).dashes}
