"""The policies of a campaign under one utility, and their comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from lcca.evaluation.comparison.compare import UNLEARNT, Comparison, compare_policies
from lcca.evaluation.comparison.net_benefit import CHARGED
from lcca.evaluation.comparison.sets import Spread, compare_sets
from lcca.evaluation.fabric.merit import TOGETHER, Flows, bits_by_unit, packed_counts, unpacked
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.unfinished import Unfinished
from lcca.evaluation.trials.layout import SLOWDOWNS, STRATUM
from lcca.evaluation.trials.policy_names import at_rules
from lcca.evaluation.trials.ratio import unfinished_of
from lcca.evaluation.trials.running import common_scores
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.evaluation.trials.utility import Utility, unfinished_columns
from lcca.experiments.experiment import Answer, Question, Trials
from lcca.inputs.json_values import finite
from lcca.remy_plus.policies.policy import Policy

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.testing.chosen import Chosen


@dataclass(frozen=True, eq=False)
class Group:
    """What is compared under one utility.

    Attributes:
        utility: scores a trial.
        baseline: name of the candidate that the others are compared with.
        rule: when a comparison is settled; it counts blocks.
        block: networks in a block.
        policies: all trained policies of this utility.
        selected: per candidate, the policy with the best validation score.
        trained: test trials of all of them, those of one training seed on networks of its own.
        hand_designed: policies that are tested beside the selected ones, by their names.
        trainer: by whose name all of them were learnt; empty where there is one only, or as below.
        by_trainer: of several trainers, by their names, what is compared if only one has learnt. The policies above
            are then those of each candidate's best trainer (`best_of_trainers`).
    """

    utility: Utility
    baseline: str
    rule: Rule
    block: int
    policies: Sequence[Chosen]
    selected: Mapping[str, Chosen]
    trained: pd.DataFrame
    hand_designed: Mapping[str, Policy] = field(default_factory=dict)
    trainer: str = ""
    by_trainer: Mapping[str, Group] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """Id of the baseline's selected policy."""
        return self.selected[self.baseline].learner.id

    @property
    def training_seeds(self) -> list[int]:
        """The training seeds, in their order."""
        return list(dict.fromkeys(c.learner.training_seed for c in self.policies))

    def of_seed(self, seed: int) -> list[Chosen]:
        """Return the policies of a training seed."""
        return [c for c in self.policies if c.learner.training_seed == seed]

    def ids(self, seed: int) -> dict[str, str]:
        """Return the ids of a training seed's policies by the names of their candidates."""
        return {c.learner.signals.name: c.learner.id for c in self.of_seed(seed)}

    @property
    def charged(self) -> dict[int, dict[str, Policy]]:
        """By training seed, its policies by their ids, with the bytes of their headers charged."""
        return {seed: {c.learner.id: c.charged for c in self.of_seed(seed)} for seed in self.training_seeds}

    @property
    def others(self) -> list[str]:
        """Names of the candidates without the baseline."""
        return [name for name in self.selected if name != self.baseline]

    def compare(self, trials: pd.DataFrame, a: str, b: str, total: int) -> Comparison:
        """Compare policy `b` with policy `a`; `total` comparisons share α in the adjusted verdict.

        A network on which any policy of these trials failed counts for none of them, so that differences add up.
        """
        scores, shared = common_scores(trials), max(total, 1)
        settled_by: dict[str, Any] = {"utility": self.utility, "rule": self.rule, "block": self.block}
        settled_by |= {"comparisons": shared, "unfinished": unfinished_of(trials, self.utility)}
        compared = compare_policies(a, b, scores[a], scores[b], **settled_by)
        unlearnt = compared.same and b not in self.hand_designed
        return replace(compared, same=UNLEARNT) if unlearnt else compared

    def compare_selected(self, trials: pd.DataFrame, total: int, besides: Sequence[str] = ()) -> list[Comparison]:
        """Compare selected policies, hand-designed ones and those with the ids `besides` with the baseline's."""
        return [self.compare(trials, self.base, id, total) for id in (*self.compared, *besides)]

    def against_base(self, total: int, besides: Sequence[str] = ()) -> Question:
        """Return the question whether any of them is better than the baseline's; see `compare_selected`."""

        def question(trials: Trials) -> Answer:
            comparisons = self.compare_selected(trials.rows, total, besides)
            return Answer.of_all(comparisons, f"{trials.done} pairs: {outlooks(comparisons)}")

        return question

    @property
    def compared(self) -> list[str]:
        """Ids of what is compared with the baseline's selected policy."""
        return [*(self.selected[name].learner.id for name in self.others), *self.hand_designed]

    def compare_candidates(
        self, a: str, b: str, total: int, margin: float | None = None, spread: Spread | None = None
    ) -> Comparison:
        """Compare candidate `b` with `a` over all training seeds; `total` comparisons share α.

        A name that ends with `CHARGED` stands for the candidate with its header's bytes charged.
        """
        x, y, shared = self.by_seed(a), self.by_seed(b), max(total, 1)
        settled_by: dict[str, Any] = {"utility": self.utility, "rule": self.rule, "comparisons": shared}
        return compare_sets(a, b, x, y, **settled_by, margin=margin, spread=spread, unfinished=self.unfinished)

    def unfinished_in(self, measure: str) -> Mapping[str, Unfinished]:
        """What did not finish of the flows that a measure is of: where it has several quantiles, of the worst known."""
        own, columns = self.trained, unfinished_columns("score_bits")
        counts = np.stack([packed_counts(each) for each in own[SLOWDOWNS]])
        found: dict[str, Unfinished] = {}
        for decades in TOGETHER[measure]:
            begun, open_ = counts[:, :, list(decades)].sum(axis=2).T
            counted = own.assign(**dict(zip(columns, (begun, open_, math.nan), strict=True)))
            for name, each in replace(self, utility=fabric_utility("slowdown"), trained=counted).unfinished.items():
                found[name] = max(found.get(name, each), each, key=lambda one: one.percent)
        return found

    @cached_property
    def unfinished(self) -> Mapping[str, Unfinished]:
        """What of the tests of all trainings did not finish, by candidate, its header's bytes free or charged."""
        names = {id: name for seed in self.training_seeds for id, name in self._names_of(seed).items()}
        own = self.trained[self.trained["policy"].isin(set(names))]
        return unfinished_of(own.assign(policy=own["policy"].map(names)), self.utility)

    def compare_all_candidates(self, total: int) -> list[Comparison]:
        """Compare each candidate with the baseline over all training seeds."""
        spread = self.spread([(self.baseline, name) for name in self.others])
        return [self.compare_candidates(self.baseline, name, total, spread=spread) for name in self.others]

    def spread(self, pairs: Sequence[tuple[str, str]]) -> Spread:
        """Return the spread between training seeds that the differences of these pairs have in common."""
        scores = [(self.by_seed(a), self.by_seed(b)) for a, b in pairs]
        return Spread.pooled([[y[seed] - x[seed] for seed in sorted(x.keys() & y.keys())] for x, y in scores])

    @property
    def single_trainers(self) -> list[Group]:
        """What is compared for each trainer by itself."""
        return list(self.by_trainer.values()) or [self]

    def learnt_by(self, *names: str) -> dict[str, str]:
        """Return the trainers of candidates."""
        return {name: self.selected[name].learner.trainer for name in names}

    def validated(self, name: str) -> float:
        """Return a candidate's mean score on the validation networks over training seeds, in bits."""
        return fmean(c.validation_score_bits for c in self.policies if c.learner.signals.name == name)

    def by_seed(self, name: str) -> Mapping[int, float]:
        """Return a candidate's mean test score by training seed."""
        return self._means.get(name, {})

    def over_seeds(self, name: str) -> dict[str, Any]:
        """Return a candidate's scores in bits by training seed, their mean and their standard deviation."""
        own = self.by_seed(name)
        scores = [own[seed] for seed in sorted(own)]
        return {"training_seeds": sorted(own), **mean_and_spread(scores), "scores_bits": scores}

    @cached_property
    def flows_by_seed(self) -> Mapping[str, Mapping[int, Flows]]:
        """What the flows of all tests of a training took, by candidate and training seed; empty where not kept."""
        own, found = self.trained, dict[str, dict[int, Flows]]()
        if SLOWDOWNS not in own or own[SLOWDOWNS].isna().any():
            return found
        parts = dict(iter(own.groupby("policy")[SLOWDOWNS]))
        for each in self.policies:
            for end in each.endings:
                flows = unpacked(parts[each.learner.id + end])
                found.setdefault(each.learner.signals.name + end, {})[each.learner.training_seed] = flows
        return found

    @cached_property
    def bits_by_seed(self) -> Mapping[str, Mapping[str, Mapping[int, float]]]:
        """By measure other than the score (`lcca.evaluation.fabric.merit.MEASURES`), candidate and training seed."""
        return bits_by_unit(self.flows_by_seed) if self.flows_by_seed else {}

    @cached_property
    def by_scenario(self) -> dict[str, Group]:
        """The same on each of a fabric's scenarios, or of several spaces, alone; empty on one space of networks."""
        column = next((name for name in ("scenario", STRATUM) if name in self.trained), None)
        parts = () if column is None else self.trained.groupby(column, sort=False)
        return {str(name): replace(self, trained=own) for name, own in parts}

    @cached_property
    def _means(self) -> dict[str, dict[int, float]]:
        """By candidate, its header's bytes free or charged, and training seed."""
        means: dict[str, dict[int, float]] = {}
        for seed in self.training_seeds:
            for name, mean in self._means_of(seed):
                means.setdefault(name, {})[seed] = mean
        return means

    def _means_of(self, seed: int) -> Iterator[tuple[str, float]]:
        """Yield each candidate's mean over those of the seed's networks on which no policy's trial failed."""
        names = self._names_of(seed)
        rows = self.trained[self.trained["policy"].isin(set(names))]
        table = rows.assign(score=rows["score_bits"].where(rows["status"] == "ok"))
        whole = table.pivot(index="network", columns="policy", values="score").dropna()
        return ((names[str(policy)], float(mean)) for policy, mean in whole.mean().dropna().items())

    def _names_of(self, seed: int) -> dict[str, str]:
        """Return what a seed's policies are called as candidates, by their ids."""
        return {
            c.learner.id + end: c.learner.signals.name + end
            for c in self.of_seed(seed)
            for end in (*c.endings, *(at_rules("", rules) for rules in c.by_rules))
        }


def mean_and_spread(scores: Sequence[float]) -> dict[str, float | None]:
    """Return the mean over training seeds and their standard deviation, in bits."""
    spread = finite(float(np.std(scores, ddof=1))) if len(scores) > 1 else None
    return {"score_bits": float(np.mean(scores)), "score_bits_sd": spread}


def groups(config: CampaignConfig, chosen: Sequence[Chosen], trained: Mapping[str, pd.DataFrame]) -> list[Group]:
    """Group the policies by utility and select each candidate's; `trained` has their test trials by utility."""
    parts = []
    for utility in dict.fromkeys(c.learner.utility for c in chosen):
        by_trainer = {}
        for trainer in config.named_trainers:
            own = [c for c in chosen if (c.learner.utility, c.learner.trainer) == (utility, trainer)]
            size, rows = config.networks.block, trained[utility.name]
            by_trainer[trainer] = Group(
                utility, config.baseline, config.rule, size, own, _selected(own), rows, config.designed, trainer
            )
        parts.append(best_of_trainers(by_trainer))
    return parts


def best_of_trainers(by_trainer: Mapping[str, Group]) -> Group:
    """Return what is compared where each candidate is learnt by its best trainer.

    That is the one whose policies have the best mean score on the validation networks, the same ones for all, over the
    training seeds, the same ones for all: every candidate has equal chances, and its test has no say. The first of
    equals is taken.
    """
    first, *others = by_trainer.values()
    if not others:
        return first
    best = {name: max(by_trainer.values(), key=lambda group: group.validated(name)) for name in first.selected}
    own = [
        c
        for seed in first.training_seeds
        for name, group in best.items()
        for c in group.of_seed(seed)
        if c.learner.signals.name == name
    ]
    return replace(first, policies=own, selected=_selected(own), trainer="", by_trainer=by_trainer)


def _selected(chosen: Sequence[Chosen]) -> dict[str, Chosen]:
    """Return, by candidate, the policy with the best validation score."""
    selected: dict[str, Chosen] = {}
    for each in chosen:
        best = selected.setdefault(each.learner.signals.name, each)
        if each.validation_score_bits > best.validation_score_bits:
            selected[each.learner.signals.name] = each
    return selected


def equal_rules(chosen: Sequence[Chosen], baseline: str) -> dict[str, list[int]]:
    """Return, by the ids of one seed's policies, the numbers of rules at which they are compared with the baseline.

    A training that stopped early, as one does whose signal is of no use, leaves the sizes of the others alone.
    """
    base = {rules for c in chosen if c.learner.signals.name == baseline for rules in c.by_rules}
    shared = {c.learner.id: base & set(c.by_rules) for c in chosen if c.learner.signals.name != baseline}
    others = set[int]().union(*shared.values())
    return {c.learner.id: sorted(shared.get(c.learner.id, others)) for c in chosen}


def failures(trials: pd.DataFrame) -> int:
    """Return how many trials failed."""
    return int((trials["status"] != "ok").sum())


def outlooks(comparisons: Sequence[Comparison]) -> str:
    """Return the verdicts, with a forecast for those that are open; of a header with its bytes free and charged."""
    charged = {c.B.removesuffix(CHARGED) for c in comparisons if c.B.endswith(CHARGED)}
    words = []
    for c in comparisons:
        likely = f", likely {c.likely_n[0]}–{c.likely_n[1]} {c.units}" if c.likely_n else ""
        bytes_ = " net" if c.B.endswith(CHARGED) else " gross" if c.B in charged else ""
        words.append(f"{c.B.split(f'.{c.utility.name}.')[0]}{bytes_} {c.void or c.verdict.name}{likely}")
    return "; ".join(words)
