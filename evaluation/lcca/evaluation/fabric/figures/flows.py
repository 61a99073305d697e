"""Transports on a fabric in figures: slowdown by size, distributions, pauses; rates of chosen flows over time.

What a figure shows is a table of its points: panel, policy, x and y, whose units the names of panels tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from lcca.evaluation.fabric.merit import draws, pooled_quantiles, with_interval
from lcca.evaluation.fabric.trials import WATCH_EVERY_NS, FabricTrial
from lcca.evaluation.report.figures.style import drawing, mark, new_figure
from lcca.evaluation.settling.intervals import positive_interval
from lcca.remy_plus.core.elementary import log2, power

Floats = NDArray[np.float64]
Points = tuple[str, str, *tuple[Floats, ...]]
"""Of a policy in a panel: x, y, and the ends of their intervals."""
MOST_ENDS = 200
"""Intervals along a curve of single flows."""

MOST_GROUPS = 20
FEWEST_FLOWS = 50
"""In a group: a p99 of fewer flows would be nearly the largest of them."""
KB = 1000
SHORTEST_QUEUE = 500.0
"""Bytes at which the axis of queues begins: the curve there says how often there is none, or an ACK."""

BY_SIZE = {50: "p50 slowdown by size in bytes", 99: "p99 slowdown by size in bytes"}
SLOWDOWN, FCT = "share of flows by slowdown", "share of flows by completion time in µs"
QUEUE, PAUSED = "share of time by queue in bytes", "paused µs by trial"

PANELS = {
    **{panel: (f"p{percent} slowdown", "size of flows, kB") for percent, panel in BY_SIZE.items()},
    PAUSED: ("paused", "µs of all ports in a trial"),
    SLOWDOWN: ("share of flows", "slowdown"),
    FCT: ("share of flows", "completion time, µs"),
    QUEUE: ("share of time", "queue of fullest port, kB"),
}
"""Title and label of each panel, as they stand in the figure."""


def fabric_points(trials: Iterable[FabricTrial]) -> pd.DataFrame:
    """Return the points of `draw_fabric`.

    By size are quantiles of groups of flows of similar size, at the geometric mean of these: groups have equally many,
    at most 20 groups of at least 50. Flows that did not finish count with what they are at least. The share of time is
    that in which the fullest port's queue is at most so long, mean over trials; pauses are of all ports together.
    Intervals (95 %, `low` to `high`) are over trials, as those of the figure of merit; of curves of single flows at
    `MOST_ENDS` points at most.
    """
    found: dict[str, list[FabricTrial]] = {}
    for each in trials:
        found.setdefault(each.policy, []).append(each)
    return _table([points for policy, group in found.items() for points in _curves(policy, group)])


def _table(points: Iterable[Points]) -> pd.DataFrame:
    columns = ("x", "y", "low", "high")
    tables = [
        pd.DataFrame({"panel": panel, "policy": policy} | dict(zip(columns, each, strict=False)))
        for policy, panel, *each in points
    ]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["panel", "policy", *columns])


def _curves(policy: str, trials: Sequence[FabricTrial]) -> Iterator[Points]:
    times = [each.times.telling for each in trials]
    size, slowdown, fct = (
        np.concatenate([getattr(each, name) for each in times]) for name in ("size_bytes", "slowdown", "at_least")
    )
    trial = np.repeat(np.arange(len(trials)), [len(each.size_bytes) for each in times])
    weights = draws(len(trials))
    groups = max(1, min(MOST_GROUPS, len(size) // FEWEST_FLOWS))
    parts = [part for part in np.array_split(np.argsort(size, kind="stable"), groups) if len(part)]
    middle = np.array([np.exp(np.log(size[part]).mean()) for part in parts])
    drawn = [
        pooled_quantiles([slowdown[part[trial[part] == i]] for i in range(len(trials))], weights) for part in parts
    ]
    if not len(size):
        return  # no flow says anything
    for column, panel in enumerate(BY_SIZE.values()):
        found = np.array([each[:, column] for each in drawn])
        low, high = _ends(log2(found.T), len(trials))
        yield policy, panel, middle, found[:, 0], power(2.0, low), power(2.0, high)
    for panel, values in ((SLOWDOWN, slowdown), (FCT, fct / 1000)):
        yield policy, panel, np.sort(values), *_shares(values, trial, weights)
    if not trials[0].has_ports:
        return
    yield policy, QUEUE, *_queue(trials, weights)
    paused = np.array([each.record["port_paused_ns"].sum() / 1000 for each in trials])
    _, low, high = (np.full(len(trials), end) for end in positive_interval(paused))
    yield policy, PAUSED, np.arange(len(trials), dtype=np.float64), paused, low, high


def _ends(drawn: Floats, trials: int) -> tuple[Floats, Floats]:
    """Return the ends of intervals, of (1 + draws, points): what all trials say, and draws of trials."""
    found = [with_interval(column, trials) for column in drawn.T]
    low, high = (np.array([each[end] for each in found]) for end in ("low", "high"))
    return low, high


def _shares(values: Floats, trial: NDArray[np.int64], weights: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
    """Return which share of flows has at most each value, in order, with its interval at some of them."""
    ordered, total = np.sort(values), np.bincount(trial, minlength=weights.shape[1])
    at = _some(len(ordered))
    own = [np.sort(values[trial == i]) for i in range(weights.shape[1])]
    upto = np.array([np.searchsorted(each, ordered[at], side="right") for each in own])
    drawn = (weights @ upto) / np.maximum(weights @ total, 1)[:, None]
    return np.arange(1, len(values) + 1) / max(len(values), 1), *_between(len(values), at, drawn, weights.shape[1])


def _some(points: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, points - 1, min(points, MOST_ENDS)).astype(np.int64))


def _between(points: int, at: NDArray[np.int64], drawn: Floats, trials: int) -> tuple[Floats, Floats]:
    """Return the ends of shares at all points; NaN but at some of them."""
    low, high = np.full(points, np.nan), np.full(points, np.nan)
    low[at], high[at] = (np.clip(end, 0, 1) for end in _ends(drawn, trials))
    return low, high


def _queue(trials: Sequence[FabricTrial], weights: NDArray[np.int64]) -> tuple[Floats, Floats, Floats, Floats]:
    """Return lengths and the share of time with at most so much; what is left of a trial's time has no queue."""
    lengths = [np.append(each.record["fullest_queued_bytes"], 0.0) for each in trials]
    found, where = np.unique(np.concatenate(lengths), return_inverse=True)
    shares = np.zeros((len(trials), len(found)))
    for row, each, own in zip(shares, trials, np.split(where, np.cumsum(list(map(len, lengths)))[:-1]), strict=True):
        share = each.record["fullest_queued_ns"] / max(float(each.record["end_ns"]), 1e-9)
        np.add.at(row, own, np.append(share, 1 - share.sum()))
    upto, at = shares.cumsum(axis=1), _some(len(found))
    drawn = weights @ upto[:, at] / len(trials)
    return found, upto.mean(axis=0), *_between(len(found), at, drawn, len(trials))


def rate_points(trials: Iterable[FabricTrial]) -> pd.DataFrame:
    """Return the points of `draw_rates`: of the flows that were watched, means since the time before, in Gb/s.

    Times are from the start of the trial to the end of the last of these flows.
    """
    return _table([points for each in trials if len(each.watched) for points in _rates(each)])


def _rates(trial: FabricTrial) -> Iterator[Points]:
    time_ns, delivered = trial.record["sample_ns"], trial.record["sample_delivered_bytes"]
    if len(time_ns):  # the run may end between two samples
        time_ns = np.append(time_ns, time_ns[-1] + WATCH_EVERY_NS)
        last = trial.record["flow_delivered_bytes"][trial.watched_at]
        delivered = np.vstack([delivered, last])
    gbps = np.diff(delivered, axis=0, prepend=0.0) * 8 / WATCH_EVERY_NS
    end = int(np.flatnonzero(gbps.any(axis=1)).max(initial=-1)) + 2
    for column, flow in enumerate(trial.watched):
        yield trial.policy, f"Gb/s of flow {flow} by µs", time_ns[:end] / 1000, gbps[:end, column]


@drawing
def draw_fabric(points: pd.DataFrame, title: str) -> Figure:
    """Draw slowdown by size, the distributions of slowdown, completion time and queue, and paused time.

    Args:
        points: of the transports, by `fabric_points`.
        title: of the figure: the scenario and how many trials.
    """
    policies = list(dict.fromkeys(points["policy"]))
    figure = new_figure(5.6 + 0.2 * -(-len(policies) // 3), width=9.0)
    axes = dict(zip(PANELS, figure.subplots(2, 3).ravel(), strict=True))
    found = dict(iter(points.groupby(["panel", "policy"], sort=False)))
    for panel, (name, label) in PANELS.items():
        for number, policy in enumerate(policies):
            _draw(axes[panel], panel, number, found.get((panel, policy), points.head(0)))
        axes[panel].set_title(name, loc="left")
        axes[panel].set_xlabel(label)
        if panel != PAUSED:
            axes[panel].set_xscale("log")
    for panel in (SLOWDOWN, FCT, QUEUE):
        axes[panel].set_ylim(0, 1.02)
    for panel in BY_SIZE.values():
        axes[panel].set_yscale("log")
        axes[panel].yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes[PAUSED].set(yticks=[], ylim=(len(policies) - 0.5, -0.5), xlim=(0, max(1.0, axes[PAUSED].get_xlim()[1])))
    axes[PAUSED].xaxis.set_major_locator(MaxNLocator(3))
    axes[QUEUE].set_xlim(left=SHORTEST_QUEUE / KB)
    for axis in (*(ax.xaxis for ax in axes.values()), *(axes[panel].yaxis for panel in BY_SIZE.values())):
        axis.set_major_formatter(lambda value, _: f"{value:,.6g}")
        axis.set_minor_formatter(NullFormatter())
    figure.legend(axes[BY_SIZE[50]].get_lines(), policies, loc="outside lower center", ncols=3, title=title)
    return figure


def _draw(ax: Axes, panel: str, number: int, points: pd.DataFrame) -> None:
    """Draw a policy with its intervals; pauses of trials as dots, their mean as ◆, in the legend's order."""
    hue = mark(number).hue
    look: Any = {"color": hue, "linestyle": mark(number).dashes}
    if panel == PAUSED:
        ax.scatter(points["y"], [number] * len(points), s=12, color=hue, alpha=0.4, linewidths=0, clip_on=False)
        for ends in points[["low", "high"]].dropna().to_numpy()[:1]:
            ax.plot(ends, [number, number], color=hue, linewidth=2, solid_capstyle="butt")
        ax.plot([points["y"].mean()], [number], marker="D", color=hue, markersize=6, clip_on=False)
        return
    if panel == QUEUE:
        points = points.assign(x=np.maximum(points["x"], 1))
    if panel == QUEUE or panel in BY_SIZE.values():
        points = points.assign(x=points["x"] / KB)
    steps: Any = None if panel in BY_SIZE.values() else "post"
    known = points.dropna(subset=["low", "high"])
    ax.fill_between(known["x"], known["low"], known["high"], color=hue, alpha=0.18, linewidth=0, step=steps)
    if steps:
        ax.plot(points["x"], points["y"], **look, drawstyle="steps-post")
    else:
        ax.plot(points["x"], points["y"], **look, marker=mark(number).marker, markersize=3)


@drawing
def draw_rates(points: pd.DataFrame, title: str) -> Figure:
    """Draw the rates of chosen flows over time, a panel per transport.

    Args:
        points: of the transports, by `rate_points`.
        title: of the figure: the scenario and the seed.
    """
    policies, flows = (list(dict.fromkeys(points[key])) for key in ("policy", "panel"))
    rows = -(-len(policies) // 3)
    figure = new_figure(2.2 * rows + 0.6, width=9.0)
    axes = list(figure.subplots(rows, min(3, len(policies)), sharex=True, sharey=True, squeeze=False).ravel())
    for (policy, flow), own in points.groupby(["policy", "panel"], sort=False):
        look = mark(flows.index(flow))
        axes[policies.index(policy)].plot(
            *(own["x"], own["y"]), color=look.hue, linestyle=look.dashes, drawstyle="steps-pre"
        )
    for ax, policy in zip(axes, policies, strict=False):
        ax.set_title(policy, loc="left")
        ax.set(xlabel="time, µs", ylim=(0, None))
        ax.tick_params(labelbottom=True)
    for first in axes[::3]:
        first.set_ylabel("Gb/s delivered")
    for unused in axes[len(policies) :]:
        unused.set_visible(False)
    names = [flow.removeprefix("Gb/s of ").removesuffix(" by µs") for flow in flows]
    figure.legend(axes[0].get_lines(), names, loc="outside lower center", ncols=6, title=title)
    return figure
