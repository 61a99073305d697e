"""Slowdown against the size of flows, and the distribution of completion times, by transport on a fabric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from lcca.evaluation.fabric.trials import FabricTrial
from lcca.evaluation.report.figures.style import HUES, drawing, new_figure

Floats = NDArray[np.float64]

MOST_GROUPS = 20
FEWEST_FLOWS = 50
"""In a group: a p99 of fewer flows would be nearly the largest of them."""
PERCENT = (50, 99)


@dataclass(frozen=True, eq=False)
class FlowCurves:
    """What a transport did to all flows of its trials.

    Attributes:
        policy: the transport.
        size_bytes: (groups,) geometric mean of the sizes of a group of flows of similar size.
        slowdown: (groups, 2) p50 and p99 of the group's slowdowns.
        fct_us: (flows,) completion times, rising; of flows that did not finish what they take at least.
    """

    policy: str
    size_bytes: Floats
    slowdown: Floats
    fct_us: Floats


def slowdown_data(trials: Iterable[FabricTrial]) -> list[FlowCurves]:
    """Return the curves of every transport; groups have equally many flows, at most 20 groups of at least 50."""
    found: dict[str, list[FabricTrial]] = {}
    for each in trials:
        found.setdefault(each.policy, []).append(each)
    return [_curves(name, group) for name, group in found.items()]


def _curves(policy: str, trials: Sequence[FabricTrial]) -> FlowCurves:
    size, slowdown, fct = (
        np.concatenate([getattr(each.times, name) for each in trials])
        for name in ("size_bytes", "slowdown", "at_least")
    )
    groups = max(1, min(MOST_GROUPS, len(size) // FEWEST_FLOWS))
    parts = [part for part in np.array_split(np.argsort(size, kind="stable"), groups) if len(part)]
    middle = np.array([np.exp(np.log(size[part]).mean()) for part in parts])
    quantiles = np.array([np.percentile(slowdown[part], PERCENT) for part in parts]).reshape(-1, len(PERCENT))
    return FlowCurves(policy, middle, quantiles, np.sort(fct) / 1000)


@drawing
def draw_slowdown(curves: Sequence[FlowCurves], title: str) -> Figure:
    """Draw p50 and p99 of the slowdown by size, and the distribution of completion times.

    Args:
        curves: of the transports.
        title: of the figure: the scenario and how many trials.
    """
    figure = new_figure(3.0 + 0.2 * -(-len(curves) // 3), width=9.0)
    axes = list(figure.subplots(1, 3))
    for column, percent in enumerate(PERCENT):
        _draw_by_size(axes[column], curves, column)
        axes[column].set_title(f"p{percent} slowdown", loc="left")
    for hue, each in zip(_hues(curves), curves, strict=True):
        axes[2].plot(each.fct_us, np.arange(1, len(each.fct_us) + 1) / max(len(each.fct_us), 1), color=hue)
    axes[2].set(xscale="log", xlabel="completion time, µs", ylim=(0, 1))
    axes[2].set_title("share of flows", loc="left")
    for axis in (*(ax.xaxis for ax in axes), *(ax.yaxis for ax in axes[:2])):
        axis.set_major_formatter(EngFormatter(sep=""))
        axis.set_minor_formatter(NullFormatter())
    names = [each.policy for each in curves]
    figure.legend(axes[0].get_lines(), names, loc="outside lower center", ncols=3, title=title)
    return figure


def _draw_by_size(ax: Axes, curves: Sequence[FlowCurves], column: int) -> None:
    for hue, each in zip(_hues(curves), curves, strict=True):
        ax.plot(each.size_bytes, each.slowdown[:, column], color=hue, marker="o", markersize=2.5)
    ax.set(xscale="log", yscale="log", xlabel="size of flows, bytes")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))


def _hues(curves: Sequence[FlowCurves]) -> list[str]:
    return [HUES[i % len(HUES)] for i in range(len(curves))]
