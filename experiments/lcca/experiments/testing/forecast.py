"""What a campaign will cost, before it starts: trainings, trials and time."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lcca.experiments.learning.plan import in_groups, learners
from lcca.experiments.learning.training import engine_of
from lcca.remy_plus.policies.rules import RuleTable, one_rule
from lcca.trainers.rplus.actions import with_actions
from lcca.trainers.rplus.splits import Split, split
from lcca.trainers.rplus.trials import TrainingTrials, training_trials

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.campaign.trials import Networks
    from lcca.experiments.learning.cache import TrainingCache

PROBES = 24
"""Networks that the pace is measured on, at most a block: trials on a fabric, whose blocks are small, are longer."""

LOOK_UPS = 4
"""Networks that show where signals are."""

PROBE = (2.0, 0.9, 0.25)
"""Action of one rule: links are busy, as they are in most of a search's trials."""

LOW, HIGH = (1.0, 0.8, 0.1), (5.0, 1.0, 0.6)
"""Range of the actions of several rules. Where a window may shrink to nothing, all look-ups may fall into one rule."""

Counts = tuple[int, int]
"""Least, if everything is settled at once, and most, if nothing ever is."""


@dataclass(frozen=True)
class Forecast:
    """What one campaign will take.

    Attributes:
        trainings: id and key of each that there may be, and whether it is done already.
        first: how many of them, the first ones, come before the first look over training seeds.
        budget: what one training may take, in the trainer's own unit.
        unit: of the budget.
        tests: trials of validation and tests.
        trial_cpu_s: CPU seconds of a trial of this space, measured under tables as large as the trainer's.
        jobs: cores.
        at_once: trainings at once, each on one core; 1 gives each in turn all the cores.
        groups: of the trainings, how many follow one another in groups: a group needs those before it alone, and is
            trained before the next one begins.
        more_cpu_s: CPU seconds, least and most, that trials under other conditions take beyond as many of this space.
        ns3_trials: in ns-3; beside the others, and not in the times.
        validation: of the tests, those of validation.
        of_trainings: of them, those of the test of each training.
        test_jobs: cores that validation and tests have; 0 for all of them.
    """

    trainings: tuple[tuple[str, str, bool], ...]
    first: int
    budget: int
    unit: str
    tests: Counts
    trial_cpu_s: float
    jobs: int
    at_once: int = 1
    groups: tuple[int, ...] = ()
    more_cpu_s: tuple[float, float] = (0.0, 0.0)
    ns3_trials: Counts = (0, 0)
    validation: Counts = (0, 0)
    of_trainings: Counts = (0, 0)
    test_jobs: int = 0

    @property
    def to_train(self) -> Counts:
        """Trainings that are not done yet: those before the first look, and all that there may be."""
        open_ = [not done for _, _, done in self.trainings]
        return sum(open_[: self.first]), sum(open_)

    @property
    def known(self) -> bool:
        """Whether times can be told: trainings that are left have a budget of trials."""
        return self.unit == "trials" or not self.to_train[1]

    @property
    def cpu_s(self) -> tuple[float, float] | None:
        """CPU seconds, least and most; None where they cannot be told."""
        if not self.known:
            return None
        least, most = (
            (count * self.budget + tests) * self.trial_cpu_s + more
            for count, tests, more in zip(self.to_train, self.tests, self.more_cpu_s, strict=True)
        )
        return least, most

    @property
    def cpu_parts(self) -> dict[str, tuple[str, float, float]]:
        """CPU seconds of training, validation and test: the key that drives them, least and most; empty as `cpu_s`."""
        if self.cpu_s is None:
            return {}
        training = [count * self.budget * self.trial_cpu_s for count in self.to_train]
        validation = [count * self.trial_cpu_s for count in self.validation]
        test = [whole - a - b for whole, a, b in zip(self.cpu_s, training, validation, strict=True)]
        others = self.tests[1] - self.validation[1] - self.of_trainings[1]
        driver = "test.per_training_seed" if self.of_trainings[1] >= others else "test.pairs"
        parts = {"training": ("trainer.budget_trials", training), "validation": ("validation.networks", validation)}
        return {name: (key, least, most) for name, (key, (least, most)) in (parts | {"test": (driver, test)}).items()}

    @property
    def wall_s(self) -> tuple[float, float] | None:
        """Seconds, least and most, on cores that are not shared; None where they cannot be told."""
        if not self.known:
            return None
        turns = self._turns(self.first), self._turns(len(self.trainings))
        tests = (count / (self.test_jobs or self.jobs) for count in self.tests)
        least, most = (
            self.trial_cpu_s * (self.budget * n + each) + more / self.jobs
            for n, each, more in zip(turns, tests, self.more_cpu_s, strict=True)
        )
        return least, most

    def _turns(self, last: int) -> float:
        """Return how many times as long as one training on one core the open ones among the first so many take."""
        lanes = min(self.at_once, self.jobs)
        turns, begin = 0.0, 0
        for size in self.groups:
            group = self.trainings[begin : min(begin + size, last)]
            open_ = sum(not done for _, _, done in group)
            turns += math.ceil(open_ / lanes) if lanes > 1 else open_ / self.jobs
            begin += size
        return turns

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "trainings": [{"id": id, "key": key, "done": done} for id, key, done in self.trainings],
            "to_train": list(self.to_train),
            "budget": self.budget,
            "unit": self.unit,
            "test_trials": list(self.tests),
            "ns3_trials": list(self.ns3_trials),
            "trial_cpu_s": round(self.trial_cpu_s, 6),
            "jobs": self.jobs,
            "trainings_at_once": self.at_once,
            "cpu_s_by_part": {
                name: {"key": key, "least": round(low, 1), "most": round(high, 1)}
                for name, (key, low, high) in self.cpu_parts.items()
            },
            "cpu_s": None if self.cpu_s is None else [round(end, 1) for end in self.cpu_s],
            "wall_s": None if self.wall_s is None else [round(end, 1) for end in self.wall_s],
        }


def forecast(config: CampaignConfig, cache: TrainingCache, jobs: int, at_once: int = 1, away: bool = False) -> Forecast:
    """Return what a campaign will cost; runs a few trials to measure the pace.

    Args:
        config: the campaign.
        cache: says which trainings are done.
        jobs: cores.
        at_once: trainings at once.
        away: whether the cores are on other machines, like this one's.
    """
    groups = [group for seeds in config.seed_steps for group in in_groups(config, seeds)]
    keys = [(each.id, each.key(config)) for group in groups for each in group]
    here, pace = len(os.sched_getaffinity(0)), trial_cpu_s(config)
    ends = [_Trials.of(config, seeds, most) for seeds, most in ((config.seed_steps[0], False), (config.seeds, True))]
    slower = [max(trial_cpu_s(config, each.space(config.networks)) - pace, 0.0) for each in config.generalisation]
    more = [sum(n * each for n, each in zip(end.conditions, slower, strict=True)) for end in ends]
    return Forecast(
        tuple((id, key, cache.file(key) is not None) for id, key in keys),
        sum(map(len, in_groups(config, config.seed_steps[0]))),
        *config.trainer.budget,
        (ends[0].tests, ends[1].tests),
        pace,
        jobs if away else min(jobs, here),
        at_once,
        tuple(map(len, groups)),
        (more[0], more[1]),
        (ends[0].ns3, ends[1].ns3),
        (ends[0].validation, ends[1].validation),
        (ends[0].own, ends[1].own),
        here if away and not config.networks.anywhere else 0,
    )


@dataclass(frozen=True)
class _Trials:
    """Trials after training: of validation, of all trainings, under each condition, in ns-3, and all but the last."""

    validation: int
    own: int
    conditions: Sequence[int]
    ns3: int
    tests: int

    @classmethod
    def of(cls, config: CampaignConfig, seeds: Sequence[int], most: bool) -> _Trials:
        """Return those with these training seeds, at least or at most."""
        test, utilities, plan = config.test, len(config.utilities), learners(config, seeds)
        validation = len(plan) * config.trainer.policies * config.validation.networks
        own = sum(1 + config.trainer.sizes + each.candidate.costs for each in plan) * test.per_training_seed
        tested = utilities * (len(config.candidates) + len(config.hand_designed))
        conditions = []
        for condition in config.generalisation:
            space = condition.space(config.networks)
            pairs = space.whole(condition.pairs) if most else min(space.whole(condition.pairs), test.block)
            conditions.append(condition.of_each_seed(test, space) * len(plan) + tested * pairs)
        charged = utilities * sum(candidate.costs for candidate in config.candidates)
        selected = (tested + charged) * (test.pairs if most else test.at_least)
        single, each = config.per_network, 0
        if single is not None:  # the policies of all trainings, the baseline's twice but once, and the selected ones
            each = (len(plan) + utilities * (len(seeds) - 1 + len(config.candidates))) * single.networks * single.seeds
        return cls(
            validation,
            own,
            conditions,
            _in_ns3(config, len(plan)),
            validation + own + each + selected + sum(conditions),
        )


def _in_ns3(config: CampaignConfig, trained: int) -> int:
    """Return the trials in ns-3 with so many trainings."""
    wanted = config.validation.ns3
    if wanted is None:
        return 0
    beside = len(config.utilities) * (len(config.candidates) + len(wanted.baselines))
    each_topology = beside * wanted.networks * wanted.runs + trained * wanted.per_training_seed
    finalists = min(wanted.finalists or math.inf, config.trainer.policies) if wanted.pick == "ns3" else 0
    return each_topology * len(wanted.topologies) + int(finalists) * trained * wanted.networks * wanted.runs


def trial_cpu_s(config: CampaignConfig, elsewhere: Networks | None = None) -> float:
    """Return the CPU seconds of a trial, mean over a campaign's candidates; runs a few trials.

    Most trials of a training run under tables with many rules: a trial under one of 16 rules takes 2.3 times as long as
    under one rule (the look-ups alone are a quarter of that; rules that differ make a processor's predictions fail). So
    the pace is that of tables as large as the trainer's, their boxes cut where signals are, as a search cuts them, and
    their actions at random.

    Args:
        config: the campaign.
        elsewhere: another space, on which the first candidate is enough: a trial with several bottlenecks takes up to
            thirty times as long as one on the dumbbell.
    """
    if elsewhere is not None:
        config = config.model_copy(update={"networks": elsewhere})
    count, engine, probes = min(PROBES, config.networks.block), engine_of(config, 1), []
    for learner in learners(config, [0])[: len(config.candidates) if elsewhere is None else 1]:
        trials = training_trials(learner.task(config), engine)
        drawn = trials.draw(count, 0)
        table = probe_table(learner.signals.signals, config.trainer.rules, trials)
        probes.append((drawn, trials.compiled(table)))
    began, everyone = time.process_time(), np.arange(count)
    for drawn, policy in probes:
        drawn.scores([policy], [everyone])
    return (time.process_time() - began) / count / len(probes)


def probe_table(signals: Sequence[str], rules: int, trials: TrainingTrials, look_ups: int = LOOK_UPS) -> RuleTable:
    """Return a table for these signals, of so many rules if its look-ups can be parted so often."""
    table, drawn = one_rule(tuple(signals)).with_action(0, *PROBE), trials.draw(look_ups, 0)
    rng, axes, in_vain = np.random.default_rng(0), len(table.signals), 0
    for axis in (step % axes for step in range(rules * axes)):
        if len(table) >= rules or in_vain == axes:
            break
        seen = drawn.look_ups(trials.compiled(table), table)
        cuts = seen.cuts()[:, axis]
        used = [int(rule) for rule in np.argsort(-seen.use, kind="stable") if not np.isnan(cuts[rule])]
        in_vain = 0 if used else in_vain + 1
        table = split(table, [Split(rule, axis, cuts[rule]) for rule in used[: rules - len(table)]])
        actions = rng.uniform(LOW, HIGH, (len(table), 3))
        table = with_actions(table, np.column_stack([np.rint(actions[:, 0]), actions[:, 1:]]))
    return table
