"""What the trainings of a signal set have of a metric, and how far that is from the baseline's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.trials.tables import RunTables, group_of

Ends = tuple[float, float, float]

ALPHA = 0.05


@dataclass(frozen=True)
class GroupRow:
    """A metric of one group (a signal set or a baseline) under one utility.

    Attributes:
        mean: over trainings, each tested on networks of its own.
        low: lower end of the 95 % interval over trainings, or over the networks of one; NaN if there is none.
        policies: mean of each training.
        networks: that have the metric, of all trainings together.
        difference: (mean, low, high) of the paired difference from the baseline's group, with α shared among all
            differences of the run; None for the baseline.
    """

    utility: str
    group: str
    mean: float
    low: float
    high: float
    policies: tuple[float, ...]
    networks: int
    difference: Ends | None = None


def group_rows(tables: RunTables, metric: str) -> list[GroupRow]:
    """Return a row per utility and group of a run's test trials that have a metric."""
    found: dict[tuple[str, str], dict[Any, pd.Series[float]]] = {}
    for policy, trials in tables.trials_by_policy():
        if metric in trials:
            by_network = trials.groupby("network")[metric].mean().dropna()
            found.setdefault((policy["utility"], group_of(policy)), {})[policy.get("training_seed")] = by_network
    baselines = {c["utility"]: tables.group_named(c["A"]) for c in tables.leading_comparisons}
    compared = sum(baselines.get(utility, group) != group for utility, group in found)
    rows = []
    for (utility, group), own in found.items():
        baseline = baselines.get(utility, group)
        base = found.get((utility, baseline), {}) if baseline != group else {}
        both = [(own[seed] - base[seed]).dropna() for seed in own if seed in base]
        difference = _interval(both, ALPHA / compared) if both else None
        means = tuple(float(each.mean()) for each in own.values() if len(each))
        interval = _interval(list(own.values()), ALPHA)
        rows.append(GroupRow(utility, group, *interval, means, sum(map(len, own.values())), difference))
    return [row for row in rows if row.networks]


def _interval(trainings: Sequence[pd.Series[float]], alpha: float) -> Ends:
    """Return (mean, low, high): over training seeds, or over the networks of one training."""
    if len(trainings) == 1:
        return t_interval(trainings[0], alpha)
    return t_interval([float(each.mean()) for each in trainings], alpha)
