"""Score by signal set: the paper's Fig. 3, with 95 % intervals instead of standard deviations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from lcca.evaluation.report.figures.style import draw_means, drawing, panels_by_utility
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.trials.tables import RunTables, group_of


@dataclass(frozen=True)
class ScoreRow:
    """Mean score of one group (a signal set or a baseline) under one utility, in bits.

    Attributes:
        utility: name.
        group: signal set, or id of a baseline.
        mean: over training seeds, or over the networks of one.
        low: lower end of the 95 % interval; NaN if there is none.
        high: upper end.
        policies: mean score of each policy of the group.
        networks: how many networks, all policies together.
    """

    utility: str
    group: str
    mean: float
    low: float
    high: float
    policies: tuple[float, ...]
    networks: int


def scores_data(tables: RunTables) -> list[ScoreRow]:
    """Return a row per utility and group.

    With several policies (training seeds, each tested on its own networks) the interval is over seeds, with one over
    networks alone.
    """
    by_row: dict[tuple[str, str], list[pd.Series[Any]]] = {}
    for policy, trials in tables.trials_by_policy():
        by_network = trials.groupby("network")["score_bits"].mean().dropna()
        by_row.setdefault((policy["utility"], group_of(policy)), []).append(by_network)
    return [_row(utility, group, series) for (utility, group), series in by_row.items()]


def _row(utility: str, group: str, policies: Sequence["pd.Series[Any]"]) -> ScoreRow:
    means = tuple(float(each.mean()) for each in policies)
    mean, low, high = t_interval(means if len(means) > 1 else policies[0])
    return ScoreRow(utility, group, mean, low, high, means, sum(map(len, policies)))


@drawing
def draw_scores(rows: Sequence[ScoreRow]) -> Figure:
    """Draw one panel per utility; small dots are single policies."""
    groups = list(dict.fromkeys(row.group for row in rows))
    figure, by_utility = panels_by_utility(rows, 3.1)
    for ax, own in by_utility:
        draw_means(ax, own, groups)
        ax.set_ylabel("score, bits")
    return figure
