"""Score by signal set: the paper's Fig. 3, with 95 % intervals instead of standard deviations."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcca.evaluation.report.figures.style import drawing, hue_of, panels
from lcca.evaluation.settling.intervals import CrossedInterval, t_interval
from lcca.evaluation.trials.tables import RunTables, group_of


@dataclass(frozen=True)
class ScoreRow:
    """Mean score of one group (a signal set or a baseline) under one utility, in bits.

    Attributes:
        utility: name.
        group: signal set, or id of a baseline.
        mean: over training seeds and networks.
        low: lower end of the 95 % interval; NaN if there is none.
        high: upper end.
        policies: mean score of each policy of the group.
        networks: how many networks.
    """

    utility: str
    group: str
    mean: float
    low: float
    high: float
    policies: tuple[float, ...]
    networks: int


def scores_data(tables: RunTables) -> list[ScoreRow]:
    """Return a row per utility and group, over the networks that all policies of the group met.

    With several policies (training seeds) the interval is over seeds and networks, with one over
    networks alone.
    """
    by_row: dict[tuple[str, str], list[pd.Series[Any]]] = {}
    for policy, trials in tables.trials_by_policy():
        by_network = trials.groupby("network")["score_bits"].mean().dropna()
        by_row.setdefault((policy["utility"], group_of(policy)), []).append(by_network)
    return [_row(utility, group, series) for (utility, group), series in by_row.items()]


def _row(utility: str, group: str, policies: Sequence["pd.Series[Any]"]) -> ScoreRow:
    common = pd.concat(policies, axis=1, join="inner").to_numpy(dtype=np.float64).T
    low: float
    high: float
    if len(policies) > 1:
        low, high = CrossedInterval.of(common).ends(0.05)
    else:
        _, low, high = t_interval(common[0])
    means = tuple(float(x) for x in common.mean(axis=1)) if common.size else (math.nan,)
    return ScoreRow(utility, group, float(np.mean(means)), low, high, means, common.shape[1])


@drawing
def draw_scores(rows: Sequence[ScoreRow]) -> Figure:
    """Draw one panel per utility; small dots are single policies."""
    utilities = list(dict.fromkeys(row.utility for row in rows))
    groups = list(dict.fromkeys(row.group for row in rows))
    figure, axes = panels(len(utilities), 3.1, columns=2 if len(utilities) > 1 else 1)
    for ax, utility in zip(axes, utilities, strict=True):
        _draw_utility(ax, utility, [row for row in rows if row.utility == utility], groups)
    return figure


def _draw_utility(ax: Axes, utility: str, rows: Sequence[ScoreRow], groups: Sequence[str]) -> None:
    for x, row in enumerate(rows):
        hue = hue_of(row.group, groups)
        if math.isfinite(row.low):
            ax.plot([x, x], [row.low, row.high], color=hue, linewidth=2.4, solid_capstyle="butt")
        spots = np.linspace(-0.22, 0.22, len(row.policies)) if len(row.policies) > 1 else np.array([])
        ax.scatter(x + spots, row.policies[: spots.size], s=14, color=hue, alpha=0.55, linewidths=0)
        ax.plot([x], [row.mean], marker="D", color=hue, markersize=7)
    ax.set_xticks(range(len(rows)), [row.group for row in rows])
    if max(len(row.group) for row in rows) * len(rows) > 40:
        ax.tick_params(axis="x", rotation=30)
    ax.set_xlim(-0.6, len(rows) - 0.4)
    ax.grid(visible=False, axis="x")
    ax.set_ylabel("score, bits")
    ax.set_title(f"utility {utility}", loc="left")
