"""Fairness (paper §A.6, Fig. 18): how unequal competing senders' throughputs are, by signal set.

A trial's unfairness is the standard deviation, over the senders that were on, of throughput share over
link rate: 0 is fair. Trials with one sender have none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.trials.tables import RunTables, group_of

Ends = tuple[float, float, float]

ALPHA = 0.05


@dataclass(frozen=True)
class FairnessRow:
    """Unfairness of one group (a signal set or a baseline) under one utility.

    Attributes:
        utility: name.
        group: signal set, or id of a baseline.
        mean: over trainings, each tested on networks of its own.
        low: lower end of the 95 % interval; NaN or infinite if there is none.
        high: upper end.
        policies: mean of each training.
        networks: networks with competing senders, of all trainings together.
        difference: (mean, low, high) of the paired difference from the baseline's group, with α shared
            among all differences of the run; None for the baseline. Below 0 is fairer.
    """

    utility: str
    group: str
    mean: float
    low: float
    high: float
    policies: tuple[float, ...]
    networks: int
    difference: Ends | None = None

    @property
    def word(self) -> str:
        """Return "fairer", "less fair" or "not settled" against the baseline; empty for the baseline."""
        if self.difference is None:
            return ""
        _, low, high = self.difference
        return "fairer" if high < 0 else "less fair" if low > 0 else "not settled"


def fairness_data(tables: RunTables) -> list[FairnessRow]:
    """Return a row per utility and group of a run's test trials."""
    by_row: dict[tuple[str, str], dict[Any, pd.Series[float]]] = {}
    for policy, trials in tables.trials_by_policy():
        if "fairness" in trials:
            by_network = trials.groupby("network")["fairness"].mean().dropna()
            by_row.setdefault((policy["utility"], group_of(policy)), {})[policy.get("training_seed")] = by_network
    baselines = {c["utility"]: tables.group_named(c["A"]) for c in tables.leading_comparisons}
    compared = sum(baselines.get(utility, group) != group for utility, group in by_row)
    rows = []
    for (utility, group), own in by_row.items():
        base = by_row.get((utility, baselines.get(utility, group)), {})
        other = base if baselines.get(utility, group) != group else None
        rows.append(_row(utility, group, own, other, ALPHA / max(compared, 1)))
    return [row for row in rows if row.networks]


def _row(
    utility: str,
    group: str,
    own: dict[Any, "pd.Series[float]"],
    base: dict[Any, "pd.Series[float]"] | None,
    alpha: float,
) -> FairnessRow:
    mean, low, high = _interval(list(own.values()), ALPHA)
    both = [(own[seed] - base[seed]).dropna() for seed in own if seed in base] if base else []
    difference = _interval(both, alpha) if both else None
    policies = tuple(float(each.mean()) for each in own.values() if len(each))
    return FairnessRow(utility, group, mean, low, high, policies, sum(map(len, own.values())), difference)


def _interval(trainings: Sequence["pd.Series[float]"], alpha: float) -> Ends:
    """Return (mean, low, high): over training seeds, or over the networks of one training."""
    if len(trainings) == 1:
        return t_interval(trainings[0], alpha)
    return t_interval([float(each.mean()) for each in trainings], alpha)
