"""Throughput against delay: mean and spread over networks of each signal set."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lcca.evaluation.report.figures.style import INK, drawing, mark_of, panels_by_utility
from lcca.evaluation.trials.tables import RunTables, group_of

MOST_DOTS = 150  # per group, so that a page with many trials stays small


@dataclass(frozen=True, eq=False)
class Cloud:
    """One group (a signal set or a baseline) under one utility.

    Attributes:
        utility: name.
        group: signal set, or id of a baseline.
        delay: per network, mean delay over the rtt.
        throughput: per network, mean throughput share over the link rate.
    """

    utility: str
    group: str
    delay: NDArray[np.float64]
    throughput: NDArray[np.float64]


def tradeoff_data(tables: RunTables) -> list[Cloud]:
    """Return a cloud per utility and group; a point is a network, averaged over seeds and policies."""
    columns = ["delay_over_rtt", "throughput_over_link"]
    by_cloud: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for policy, trials in tables.trials_by_policy():
        by_cloud.setdefault((policy["utility"], group_of(policy)), []).append(trials[["network", *columns]])
    clouds = []
    for (utility, group), parts in by_cloud.items():
        points = pd.concat(parts).groupby("network")[columns].mean().dropna().to_numpy(dtype=np.float64)
        clouds.append(Cloud(utility, group, points[:, 0], points[:, 1]))
    return clouds


@drawing
def draw_tradeoff(clouds: Sequence[Cloud]) -> Figure:
    """Draw one panel per utility: up is more throughput, right is less delay."""
    groups = list(dict.fromkeys(cloud.group for cloud in clouds))
    figure, by_utility = panels_by_utility(clouds, 3.6)
    for ax, own in by_utility:
        _draw_utility(ax, own, groups)
    return figure


def _draw_utility(ax: Axes, clouds: Sequence[Cloud], groups: Sequence[str]) -> None:
    for cloud in clouds:
        mark = mark_of(cloud.group, groups)
        x, y = cloud.delay, cloud.throughput
        if not x.size:
            continue
        ax.scatter(x[:MOST_DOTS], y[:MOST_DOTS], s=7, color=mark.hue, marker=mark.marker, alpha=0.35, linewidths=0)
        look: Any = {"color": mark.hue, "marker": mark.marker, "linestyle": mark.dashes, "label": cloud.group}
        ax.plot([x.mean()], [y.mean()], **look, markeredgecolor=INK, markersize=8)
    ax.invert_xaxis()
    ax.set_xlabel("mean delay / RTT (right: less delay)")
    ax.set_ylabel("throughput share / link rate")
    ax.legend(loc="lower left")
