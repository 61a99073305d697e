"""What a campaign will cost, before it starts: trainings, trials and time."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapreplace
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lcca.experiments.learning.plan import in_groups, learners
from lcca.experiments.learning.training import engine_of
from lcca.experiments.testing.net_benefit import too_few_seeds
from lcca.remy_plus.core.signals import OF_HOSTS
from lcca.remy_plus.policies.rules import RuleTable, one_rule
from lcca.trainers.rplus.actions import with_actions
from lcca.trainers.rplus.splits import Split, split
from lcca.trainers.search.trials import TrainingTrials, training_trials

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.campaign.trials import Networks
    from lcca.experiments.learning.cache import TrainingCache
    from lcca.trainers.base import Budget, TrainerConfig

PROBES = 24
"""Networks that the pace is measured on, at most a block: trials on a fabric, whose blocks are small, are longer."""

LOOK_UPS = 4
"""Networks that show where signals are."""

PROBE = (2.0, 0.9, 0.25)
"""Action of one rule: links are busy, as they are in most of a search's trials."""

LOW, HIGH = (1.0, 0.8, 0.1), (5.0, 1.0, 0.6)
"""Range of the actions of several rules. Where a window may shrink to nothing, all look-ups may fall into one rule."""


@dataclass(frozen=True)
class End:
    """What a campaign takes if everything is settled at once, or if nothing ever is.

    Attributes:
        trainings: how many there are: the first ones of the campaign's.
        tests: trials of validation and tests.
        validation: of them, those of validation.
        of_trainings: of them, those of the test of each training.
        ns3: trials in ns-3; beside the others, and not in the times.
        more_cpu_s: CPU seconds that trials under other conditions take beyond as many of the campaign's space.
    """

    trainings: int
    tests: int
    validation: int = 0
    of_trainings: int = 0
    ns3: int = 0
    more_cpu_s: float = 0.0


class Training(NamedTuple):
    """A training that there may be.

    Attributes:
        done: whether the cache has it.
        trainer: its name.
        follows: whether another one, that is not done either and comes before it, leaves it what they share.
    """

    id: str
    key: str
    done: bool
    trainer: str = ""
    follows: bool = False


@dataclass(frozen=True)
class Forecast:
    """What one campaign will take; pairs are the least and the most.

    Attributes:
        trainings: that there may be.
        budgets: what one training may take, by the name of its trainer.
        paces: CPU seconds of a trial of this space, measured under tables as large as the trainer's, by its name.
        ends: the least and the most.
        jobs: cores.
        at_once: trainings at once, each on one core; 1 gives each in turn all the cores.
        groups: of the trainings, how many follow one another in groups: a group needs those before it alone, and is
            trained before the next one begins.
        note: on what it cannot find, however long it takes; empty where all can be settled.
    """

    trainings: tuple[Training, ...]
    budgets: Mapping[str, Budget]
    paces: Mapping[str, float]
    ends: tuple[End, End]
    jobs: int
    at_once: int = 1
    groups: tuple[int, ...] = ()
    note: str = ""

    @property
    def trial_cpu_s(self) -> float:
        """CPU seconds of a trial, mean over the trainers."""
        return fmean(self.paces.values())

    @property
    def to_train(self) -> tuple[int, int]:
        """Trainings that are not done yet: those before the first look, and all that there may be."""
        least, most = (sum(not each.done for each in self.trainings[: end.trainings]) for end in self.ends)
        return least, most

    def _to_train_s(self, name: str) -> list[float]:
        """Return the CPU seconds of a trainer's trainings that are not done yet, least and most."""
        own = [[each for each in self.trainings[: end.trainings] if each.trainer == name] for end in self.ends]
        return [sum(self._training_s(each) for each in part if not each.done) for part in own]

    def _training_s(self, training: Training) -> float:
        budget = self.budgets[training.trainer]
        return (budget.amount - budget.shared * training.follows) * self.paces[training.trainer]

    @property
    def cpu_parts(self) -> dict[str, tuple[str, float, float]]:
        """CPU seconds of training, validation and test: the key that drives them, least and most.

        Nothing where trainings that are left have no budget of trials.
        """
        if any(not each.done and self.budgets[each.trainer].unit != "trials" for each in self.trainings):
            return {}
        pace, last = self.trial_cpu_s, self.ends[1]
        training_s = {name: self._to_train_s(name) for name in self.budgets}
        dearest = max(training_s, key=lambda name: training_s[name][1])
        of_training = f"trainers.{dearest}" if dearest else "trainer"
        driver = "test.per_training_seed" if 2 * last.of_trainings >= last.tests - last.validation else "test.pairs"
        parts = {
            "training": (
                f"{of_training}.{self.budgets[dearest].key}",
                [sum(ends) for ends in zip(*training_s.values(), strict=True)],
            ),
            "validation": ("validation.networks", [end.validation * pace for end in self.ends]),
            "test": (driver, [(end.tests - end.validation) * pace + end.more_cpu_s for end in self.ends]),
        }
        return {name: (key, least, most) for name, (key, (least, most)) in parts.items()}

    @property
    def cpu_s(self) -> tuple[float, float] | None:
        """CPU seconds; None where they cannot be told."""
        parts = self.cpu_parts.values()
        return (sum(low for _, low, _ in parts), sum(high for _, _, high in parts)) if parts else None

    @property
    def wall_s(self) -> tuple[float, float] | None:
        """Seconds on cores that are not shared; None where they cannot be told."""
        if not self.cpu_parts:
            return None
        least, most = (
            self._turns_s(end.trainings) + (self.trial_cpu_s * end.tests + end.more_cpu_s) / self.jobs
            for end in self.ends
        )
        return least, most

    def _turns_s(self, last: int) -> float:
        """Return how many seconds the open trainings among the first so many take."""
        lanes = min(self.at_once, self.jobs)
        seconds, begin = 0.0, 0
        for size in self.groups:
            group = self.trainings[begin : min(begin + size, last)]
            open_ = [self._training_s(each) for each in group if not each.done]
            seconds += _in_lanes(open_, lanes) if lanes > 1 else sum(open_) / self.jobs
            begin += size
        return seconds

    def _budgets(self) -> dict[str, Any]:
        if "" in self.budgets:
            return {"budget": self.budgets[""].amount, "unit": self.budgets[""].unit}
        return {"budgets": {name: {"amount": each.amount, "unit": each.unit} for name, each in self.budgets.items()}}

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "trainings": [{"id": each.id, "key": each.key, "done": each.done} for each in self.trainings],
            "to_train": list(self.to_train),
            **self._budgets(),
            "test_trials": [end.tests for end in self.ends],
            "ns3_trials": [end.ns3 for end in self.ends],
            "trial_cpu_s": round(self.trial_cpu_s, 6),
            "jobs": self.jobs,
            "note": self.note,
            "trainings_at_once": self.at_once,
            "cpu_s_by_part": {
                name: {"key": key, "least": round(low, 1), "most": round(high, 1)}
                for name, (key, low, high) in self.cpu_parts.items()
            },
            "cpu_s": None if self.cpu_s is None else [round(end, 1) for end in self.cpu_s],
            "wall_s": None if self.wall_s is None else [round(end, 1) for end in self.wall_s],
        }


def _in_lanes(seconds: Sequence[float], lanes: int) -> float:
    """Return when calls end that take so long each and begin in their order, as soon as one of the lanes is free."""
    ends = [0.0] * min(lanes, max(len(seconds), 1))
    for each in seconds:
        heapreplace(ends, ends[0] + each)
    return max(ends)


def forecast(config: CampaignConfig, cache: TrainingCache, jobs: int, at_once: int = 1, away: bool = False) -> Forecast:
    """Return what a campaign will cost, on cores like this machine's, which may be `away`.

    Runs a few trials to measure the pace; the cache says which trainings are done.
    """
    groups = [group for seeds in config.seed_steps for group in in_groups(config, seeds)]
    keys = [(each, each.key(config)) for group in groups for each in group]
    by_rules = {rules: trial_cpu_s(config, rules) for rules in {each.rules for each in config.named_trainers.values()}}
    most = max(by_rules)
    elsewhere = [trial_cpu_s(config, most, each.space(config.networks)) for each in config.generalisation]
    slower = [max(each - by_rules[most], 0.0) for each in elsewhere]
    begun, trainings = set[str](), list[Training]()
    for each, key in keys:
        done, shared = cache.file(key) is not None, each.shared_key(config)
        trainings.append(Training(each.id, key, done, each.trainer, not done and shared in begun))
        begun |= set() if done else {shared}
    return Forecast(
        tuple(trainings),
        {name: each.budget for name, each in config.named_trainers.items()},
        {name: by_rules[each.rules] for name, each in config.named_trainers.items()},
        (_end(config, config.seed_steps[0], False, slower), _end(config, config.seeds, True, slower)),
        jobs if away else min(jobs, len(os.sched_getaffinity(0))),
        at_once,
        tuple(map(len, groups)),
        too_few_seeds(config),
    )


def _end(config: CampaignConfig, seeds: Sequence[int], most: bool, slower: Sequence[float]) -> End:
    """Return what these training seeds take, with the least or the most tests.

    `slower` are the CPU seconds that a trial takes longer under each condition.
    """
    test, utilities, plan = config.test, len(config.utilities), learners(config, seeds)
    trainers, best = [each.trained_by(config) for each in plan], len(plan) // len(config.named_trainers)
    validation = sum(trainer.policies for trainer in trainers) * config.validation.networks
    sizes = sum(1 + trainer.sizes for trainer in trainers) + sum(each.candidate.costs for each in plan)
    own = sizes * test.per_training_seed
    tested = utilities * (len(config.candidates) + len(config.hand_designed))
    conditions = []
    for condition in config.generalisation:
        space = condition.space(config.networks)
        pairs = space.whole(condition.pairs) if most else min(space.whole(condition.pairs), test.block)
        conditions.append(condition.of_each_seed(test, space) * best + tested * pairs)
    charged = utilities * sum(candidate.costs for candidate in config.candidates)
    selected = (tested + charged) * (test.pairs if most else test.at_least)
    single, repeated = config.per_network, 0
    if single is not None:  # all trainings, but for the first seed the baseline's of the one before, and the selected
        policies = best + utilities * (len(seeds) - 1 + len(config.candidates))
        repeated = policies * single.networks * single.seeds
    return End(
        sum(map(len, in_groups(config, seeds))),
        validation + own + repeated + selected + sum(conditions),
        validation,
        own,
        _in_ns3(config, trainers, best),
        sum(count * each for count, each in zip(conditions, slower, strict=True)),
    )


def _in_ns3(config: CampaignConfig, trainers: Sequence[TrainerConfig], best: int) -> int:
    """Return the trials in ns-3: of checkpoints of the trainings with these trainers, and of so many by the best."""
    wanted = config.validation.ns3
    if wanted is None:
        return 0
    beside = len(config.utilities) * (len(config.candidates) + len(wanted.baselines))
    each_topology = beside * wanted.networks * wanted.runs + best * wanted.per_training_seed
    most = (wanted.finalists or math.inf) if wanted.pick == "ns3" else 0
    finalists = sum(int(min(most, each.policies)) for each in trainers)
    return each_topology * len(wanted.topologies) + finalists * wanted.networks * wanted.runs


def trial_cpu_s(config: CampaignConfig, rules: int, elsewhere: Networks | None = None) -> float:
    """Return the CPU seconds of a trial under so many rules, mean over a campaign's candidates; runs a few trials.

    Most trials of a training run under tables with many rules: a trial under one of 16 rules takes 2.3 times as long as
    under one rule (the look-ups alone are a quarter of that; rules that differ make a processor's predictions fail). So
    the pace is that of tables as large as the trainer's, their boxes cut where signals are, as a search cuts them, and
    their actions at random. On another space, `elsewhere`, the first candidate is enough: a trial with several
    bottlenecks takes up to thirty times as long as one on the dumbbell.
    """
    if elsewhere is not None:
        config = config.model_copy(update={"networks": elsewhere})
    count, engine, probes = min(PROBES, config.networks.block), engine_of(config, 1), []
    for learner in learners(config, [0])[: len(config.candidates) if elsewhere is None else 1]:
        task = learner.task(config)
        task = replace(task, signals=tuple(name for name in task.signals if name not in OF_HOSTS))  # of no table
        trials = training_trials(task, engine)
        drawn = trials.draw(count, 0)
        table = probe_table(task.signals, rules, trials)
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
