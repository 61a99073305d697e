"""Transports on a fabric in figures: slowdown by size, distributions, pauses; rates of chosen flows over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from lcca.evaluation.fabric.trials import WATCH_EVERY_NS, FabricTrial
from lcca.evaluation.report.figures.style import drawing, mark, new_figure

Floats = NDArray[np.float64]

MOST_GROUPS = 20
FEWEST_FLOWS = 50
"""In a group: a p99 of fewer flows would be nearly the largest of them."""
PERCENT = (50, 99)
SHORTEST_QUEUE = 500.0
"""Bytes at which the axis of queues begins: the curve there says how often there is none, or an ACK."""


@dataclass(frozen=True, eq=False)
class Curves:
    """What a transport did in all its trials.

    Attributes:
        policy: the transport.
        size_bytes: (groups,) geometric mean of the sizes of a group of flows of similar size.
        slowdown_by_size: (groups, 2) p50 and p99 of the group's slowdowns.
        slowdown: (flows,) rising; of flows that did not finish what it is at least.
        fct_us: (flows,) completion times, likewise.
        queue_bytes: (lengths,) rising from 0.
        queue_share: (lengths,) of the time in which the fullest port's queue is at most so long, mean over trials.
        paused_us: (trials,) time that all ports together stood paused.
    """

    policy: str
    size_bytes: Floats
    slowdown_by_size: Floats
    slowdown: Floats
    fct_us: Floats
    queue_bytes: Floats
    queue_share: Floats
    paused_us: Floats


@dataclass(frozen=True, eq=False)
class Rates:
    """Rates of chosen flows over time under a transport.

    Attributes:
        policy: the transport.
        flows: (flows,) as the trace calls them.
        time_us: (times,) from the start of the trial to the end of the last of these flows.
        gbps: (times, flows) that were delivered, mean since the time before.
    """

    policy: str
    flows: Sequence[int]
    time_us: Floats
    gbps: Floats


def curves_of(trials: Iterable[FabricTrial]) -> list[Curves]:
    """Return the curves of every transport; groups have equally many flows, at most 20 groups of at least 50."""
    found: dict[str, list[FabricTrial]] = {}
    for each in trials:
        found.setdefault(each.policy, []).append(each)
    return [_curves(name, group) for name, group in found.items()]


def _curves(policy: str, trials: Sequence[FabricTrial]) -> Curves:
    size, slowdown, fct = (
        np.concatenate([getattr(each.times, name) for each in trials])
        for name in ("size_bytes", "slowdown", "at_least")
    )
    groups = max(1, min(MOST_GROUPS, len(size) // FEWEST_FLOWS))
    parts = [part for part in np.array_split(np.argsort(size, kind="stable"), groups) if len(part)]
    middle = np.array([np.exp(np.log(size[part]).mean()) for part in parts])
    quantiles = np.array([np.percentile(slowdown[part], PERCENT) for part in parts]).reshape(-1, len(PERCENT))
    paused = np.array([each.record["port_paused_ns"].sum() / 1000 for each in trials])
    return Curves(policy, middle, quantiles, np.sort(slowdown), np.sort(fct) / 1000, *_queue(trials), paused)


def _queue(trials: Sequence[FabricTrial]) -> tuple[Floats, Floats]:
    """Return lengths and the share of time with at most so much; what is left of a trial's time has no queue."""
    lengths, shares = [np.zeros(1)], [np.ones(1)]
    for each in trials:
        share = each.record["fullest_queued_ns"] / max(float(each.record["end_ns"]), 1e-9) / len(trials)
        lengths += [each.record["fullest_queued_bytes"], np.zeros(1)]
        shares += [share, -share.sum(keepdims=True)]
    found, where = np.unique(np.concatenate(lengths), return_inverse=True)
    return found, np.cumsum(np.bincount(where, weights=np.concatenate(shares)))


def rates_of(trials: Iterable[FabricTrial]) -> list[Rates]:
    """Return the rates of the flows that were watched, where any were."""
    return [_rates(each) for each in trials if len(each.watched)]


def _rates(trial: FabricTrial) -> Rates:
    time_ns, delivered = trial.record["sample_ns"], trial.record["sample_delivered_bytes"]
    if len(time_ns):  # the run may end between two samples
        time_ns = np.append(time_ns, time_ns[-1] + WATCH_EVERY_NS)
        last = trial.record["flow_delivered_bytes"][trial.watched_at]
        delivered = np.vstack([delivered, last])
    gbps = np.diff(delivered, axis=0, prepend=0.0) * 8 / WATCH_EVERY_NS
    end = int(np.flatnonzero(gbps.any(axis=1)).max(initial=-1)) + 2
    return Rates(trial.policy, trial.watched, time_ns[:end] / 1000, gbps[:end])


def shares(count: int) -> Floats:
    """Return what share of so many values is at most the first, the second, and so on."""
    return np.arange(1, count + 1) / max(count, 1)


def curve_rows(curves: Iterable[Curves], rates: Iterable[Rates] = ()) -> pd.DataFrame:
    """Return all points of the figures: panel, policy, x and y, whose units the names of panels tell."""
    rows = [(each.policy, *panel) for each in curves for panel in _panels(each)]
    rows += [
        (each.policy, f"Gb/s of flow {flow} by µs", each.time_us, each.gbps[:, column])
        for each in rates
        for column, flow in enumerate(each.flows)
    ]
    tables = [pd.DataFrame({"panel": panel, "policy": name, "x": x, "y": y}) for name, panel, x, y in rows]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["panel", "policy", "x", "y"])


def _panels(each: Curves) -> list[tuple[str, Floats, Floats]]:
    by_size = [
        (f"p{p} slowdown by size in bytes", each.size_bytes, each.slowdown_by_size[:, i]) for i, p in enumerate(PERCENT)
    ]
    return [
        *by_size,
        ("share of flows by slowdown", each.slowdown, shares(len(each.slowdown))),
        ("share of flows by completion time in µs", each.fct_us, shares(len(each.fct_us))),
        ("share of time by queue in bytes", each.queue_bytes, each.queue_share),
        ("paused µs by trial", np.arange(len(each.paused_us), dtype=np.float64), each.paused_us),
    ]


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
