"""Jobs of training over time: which rank sends in which step, policy by policy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lcca.evaluation.fabric.trials import FabricTrial
from lcca.evaluation.report.figures.style import FAINT, drawing, mark, new_figure

ROW = 0.8
"""Of the height between two ranks, that a message's bar has."""


def step_points(trials: Sequence[FabricTrial]) -> pd.DataFrame:
    """Return a row per message of a job: policy, job, rank, step, start_us, end_us.

    One that did not end goes on to the end of the trial. Ranks are the hosts of a job, in the order in which they first
    stand among its messages.
    """
    tables = []
    for each in trials:
        flows, start = each.flows, each.record["flow_start_ns"]
        end = np.nan_to_num(start + each.record["flow_fct_ns"], nan=each.record["end_ns"])
        own = np.flatnonzero((flows.job >= 0) & ~np.isnan(start))
        table = pd.DataFrame({"policy": each.policy, "job": flows.job[own], "src": flows.src[own]})
        table["rank"] = table.groupby("job")["src"].transform(lambda hosts: pd.factorize(hosts)[0])
        times = {"start_us": start[own] / 1000, "end_us": end[own] / 1000}
        tables.append(table.drop(columns="src").assign(step=flows.step[own], **times))
    return pd.concat(tables, ignore_index=True)


@drawing
def draw_steps(points: pd.DataFrame, title: str) -> Figure:
    """Draw the messages that each rank sends as bars over time: even and odd steps in turn, a panel per policy and job.

    Args:
        points: by `step_points`.
        title: of the figure: the scenario and the seed.
    """
    policies, jobs = list(dict.fromkeys(points["policy"])), sorted(points["job"].unique())
    ranks = [int(points["rank"][points["job"] == job].max()) + 1 for job in jobs]
    figure = new_figure(1.0 + len(policies) * sum(0.5 + 0.05 * count for count in ranks), width=9.0)
    rows = figure.subplots(
        *(len(policies) * len(jobs), 1),
        sharex=True,
        squeeze=False,
        gridspec_kw={"height_ratios": ranks * len(policies)},
    )
    for row, ((policy, job), ax) in enumerate(zip([(p, j) for p in policies for j in jobs], rows[:, 0], strict=True)):
        own = points[(points["policy"] == policy) & (points["job"] == job)]
        for odd in (0, 1):
            part = own[own["step"] % 2 == odd]
            ax.barh(
                *(part["rank"], part["end_us"] - part["start_us"], ROW, part["start_us"]),
                color=mark(row % len(jobs) + 1).hue,
                alpha=(0.9, 0.45)[odd],
                linewidth=0,
            )
        ax.axvline(own["end_us"].max(), color=FAINT, linewidth=1.5)
        ax.set_title(f"{policy}, job {job + 1}: {own['end_us'].max():,.0f} µs", loc="left")
        ax.set(ylabel="rank", ylim=(own["rank"].max() + 0.6, -0.6))
        ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    rows[-1, 0].set_xlabel(f"time, µs; {title}")
    rows[-1, 0].set_xlim(left=0)
    return figure
