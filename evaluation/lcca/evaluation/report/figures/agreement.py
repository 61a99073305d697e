"""Two simulators compared: a dot per trial; on the grey line they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcca.evaluation.report.figures.style import FAINT, drawing, legend_below, mark_of, panels
from lcca.evaluation.trials.metrics import NETWORK_TRIALS, shown


@drawing
def draw_agreement(both: Mapping[str, pd.DataFrame], names: tuple[str, str]) -> Figure:
    """Draw score, throughput and delay of the second simulator against the first, a row per topology.

    Args:
        both: per topology, as `lcca.evaluation.comparison.agreement.paired` returns it.
        names: of the simulators.
    """
    policies = list(dict.fromkeys(policy for rows in both.values() for policy in rows["policy"]))
    metrics = shown(NETWORK_TRIALS, "compare")
    figure, axes = panels(len(metrics) * len(both), 2.5 + 0.1 * len(policies) / len(both), columns=3)
    for i, (topology, rows) in enumerate(both.items()):
        for ax, metric in zip(axes[3 * i : 3 * i + 3], metrics, strict=True):
            _panel(ax, rows, metric.name, policies)
            ax.set_title(f"{topology}: {metric.head}" if metric is metrics[0] else metric.head, loc="left")
            ax.set_xlabel(names[0])
        axes[3 * i].set_ylabel(names[1])
    legend_below(figure, axes[0], 3, markerscale=2, handletextpad=0.1)
    return figure


def _panel(ax: Axes, both: pd.DataFrame, metric: str, policies: Sequence[str]) -> None:
    values = both[[f"{metric}_1", f"{metric}_2"]].to_numpy(dtype=np.float64)
    values = values[np.isfinite(values).all(axis=1)]
    if values.size:
        ends = [values.min(), values.max()]
        ax.plot(ends, ends, color=FAINT, linewidth=1.2, zorder=0)
    for policy in policies:
        rows = both[both["policy"] == policy]
        mark = mark_of(policy, policies)
        look: Any = {"color": mark.hue, "marker": mark.marker, "s": 9, "alpha": 0.7, "linewidths": 0}
        ax.scatter(rows[f"{metric}_1"], rows[f"{metric}_2"], label=policy, **look)
