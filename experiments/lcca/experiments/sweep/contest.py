"""Who meets whom: the policies of a campaign under one utility, and their comparisons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lcca.evaluation.comparison.compare import Comparison, compare_artifacts, compare_sets
from lcca.evaluation.trials.utility import Utility
from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.sweep.selection import Chosen


@dataclass(frozen=True)
class Contest:
    """What is compared under one utility.

    Attributes:
        policies: all trained policies of this utility.
        champions: per candidate, the policy with the best validation score.
    """

    utility: Utility
    policies: list[Chosen]
    champions: dict[str, Chosen]


def contests(chosen: list[Chosen]) -> list[Contest]:
    """Group the policies by utility and pick each candidate's champion."""
    found = []
    for utility in dict.fromkeys(c.learner.utility for c in chosen):
        own = [c for c in chosen if c.learner.utility == utility]
        champions: dict[str, Chosen] = {}
        for c in own:
            best = champions.get(c.learner.signals.name)
            if best is None or c.validation_score_bits > best.validation_score_bits:
                champions[c.learner.signals.name] = c
        found.append(Contest(utility, own, champions))
    return found


def by_seed(contest: Contest, trials: pd.DataFrame, ending: str = "") -> dict[str, dict[int, np.ndarray]]:
    """Return the scores of every candidate's policies by training seed, ids ending so."""
    found: dict[str, dict[int, np.ndarray]] = {}
    for c in contest.policies:
        found.setdefault(c.learner.signals.name, {})[c.learner.training_seed] = scores(trials, c.learner.id + ending)
    return found


def scores(trials: pd.DataFrame, policy: str) -> np.ndarray:
    """Return a policy's scores in the order of the pairs; failed trials are NaN."""
    rows = trials[trials["policy"] == policy]
    return rows["score_bits"].where(rows["status"] == "ok").to_numpy(dtype=np.float64)


def compare_champions(config: CampaignConfig, contest: Contest, trials: pd.DataFrame, total: int) -> list[Comparison]:
    """Compare each signal set's champion with the baseline's: artifact level."""
    base = contest.champions[config.baseline].learner.id
    return [
        compare_artifacts(
            base,
            champion.learner.id,
            scores(trials, base),
            scores(trials, champion.learner.id),
            utility=contest.utility,
            rule=config.rule,
            comparisons=total,
        )
        for name, champion in contest.champions.items()
        if name != config.baseline
    ]


def compare_signal_sets(config: CampaignConfig, contest: Contest, trials: pd.DataFrame, total: int) -> list[Comparison]:
    """Compare signal sets over all their training seeds: set level."""
    by_set = by_seed(contest, trials)
    base = config.baseline
    return [
        compare_sets(
            base,
            name,
            by_set[base],
            found,
            utility=contest.utility,
            rule=config.rule,
            comparisons=total,
        )
        for name, found in by_set.items()
        if name != base
    ]
