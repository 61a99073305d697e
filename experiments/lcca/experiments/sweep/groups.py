"""The policies of a campaign under one utility, and their comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.comparison.compare import Comparison, compare_policies, compare_sets
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.trials.utility import Utility

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.sweep.selection import Chosen

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Group:
    """What is compared under one utility.

    Attributes:
        utility: scores a trial.
        baseline: name of the candidate that the others are compared with.
        rule: when a comparison is settled.
        policies: all trained policies of this utility.
        selected: per candidate, the policy with the best validation score.
    """

    utility: Utility
    baseline: str
    rule: Rule
    policies: Sequence[Chosen]
    selected: Mapping[str, Chosen]

    @property
    def base(self) -> str:
        """Id of the baseline's selected policy."""
        return self.selected[self.baseline].learner.id

    @property
    def others(self) -> list[str]:
        """Names of the candidates without the baseline."""
        return [name for name in self.selected if name != self.baseline]

    def compare(self, trials: pd.DataFrame, a: str, b: str, total: int) -> Comparison:
        """Compare policy `b` with policy `a`; `total` comparisons share α in the adjusted verdict."""
        return compare_policies(
            a,
            b,
            scores(trials, a),
            scores(trials, b),
            utility=self.utility,
            rule=self.rule,
            comparisons=max(total, 1),
        )

    def compare_candidates(self, trials: pd.DataFrame, name: str, total: int, ending: str = "") -> Comparison:
        """Compare a candidate with the baseline over all their training seeds, its policies' ids ending so."""
        return compare_sets(
            self.baseline,
            name + ending,
            self._by_seed(trials, self.baseline),
            self._by_seed(trials, name, ending),
            utility=self.utility,
            rule=self.rule,
            comparisons=max(total, 1),
        )

    def compare_selected(self, trials: pd.DataFrame, total: int) -> list[Comparison]:
        """Compare each candidate's selected policy with the baseline's."""
        return [self.compare(trials, self.base, self.selected[name].learner.id, total) for name in self.others]

    def _by_seed(self, trials: pd.DataFrame, name: str, ending: str = "") -> dict[int, Scores]:
        own = [c.learner for c in self.policies if c.learner.signals.name == name]
        return {learner.training_seed: scores(trials, learner.id + ending) for learner in own}


def groups(config: CampaignConfig, chosen: Sequence[Chosen]) -> list[Group]:
    """Group the policies by utility and select each candidate's."""
    found = []
    for utility in dict.fromkeys(c.learner.utility for c in chosen):
        own = [c for c in chosen if c.learner.utility == utility]
        found.append(Group(utility, config.baseline, config.rule, own, _selected(own)))
    return found


def _selected(policies: Sequence[Chosen]) -> dict[str, Chosen]:
    found: dict[str, Chosen] = {}
    for each in policies:
        best = found.get(each.learner.signals.name)
        if best is None or each.validation_score_bits > best.validation_score_bits:
            found[each.learner.signals.name] = each
    return found


def standing(pairs: int, found: list[Comparison]) -> str:
    """Return how far comparisons are, with a forecast for those that are open."""
    words = []
    for c in found:
        likely = f", likely {c.likely_n[0]}–{c.likely_n[1]} pairs" if c.likely_n else ""
        words.append(f"{c.B.split(f'.{c.utility.name}.')[0]} {c.verdict.name}{likely}")
    return f"{pairs} pairs: " + "; ".join(words)


def scores(trials: pd.DataFrame, policy: str) -> Scores:
    """Return a policy's scores in the order of the pairs; failed trials are NaN."""
    rows = trials[trials["policy"] == policy]
    return rows["score_bits"].where(rows["status"] == "ok").to_numpy(dtype=np.float64)
