"""What a campaign will cost, before it starts: trainings, trials and time."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.campaign.plan import Learner, learners, warm_starts, waves
from lcca.experiments.campaign.trials import GeneralisationConfig
from lcca.experiments.sweep.generalisation import of_each_seed
from lcca.experiments.sweep.learning.cache import TrainingCache
from lcca.experiments.sweep.pace import condition_cpu_s, trial_cpu_s


@dataclass(frozen=True)
class Forecast:
    """What one campaign will take.

    Attributes:
        trainings: id and key of each that there may be, and whether it is done already.
        first: how many of them, the first ones, come before the first look over training seeds.
        budget: what one training may take, in the trainer's own unit.
        unit: of the budget.
        tests_least: trials of validation and tests, if everything is settled at once.
        tests_most: if nothing ever is.
        trial_cpu_s: CPU seconds of a trial of this space, measured under tables as large as the trainer's.
        jobs: cores.
        at_once: trainings at once, each on one core; 1 gives each in turn all the cores.
        groups: of the trainings, how many follow one another in groups: a group needs those before it alone, and is
            trained before the next one begins.
        more_cpu_s: CPU seconds, least and most, that trials under other conditions take beyond as many of this space.
        ns3_trials: in ns-3, least and most; beside the others, and not in the times.
        validation: of the trials of validation and tests, those of validation, least and most.
        of_trainings: of them, those of the test of each training, least and most.
    """

    trainings: tuple[tuple[str, str, bool], ...]
    first: int
    budget: int
    unit: str
    tests_least: int
    tests_most: int
    trial_cpu_s: float
    jobs: int
    at_once: int = 1
    groups: tuple[int, ...] = ()
    more_cpu_s: tuple[float, float] = (0.0, 0.0)
    ns3_trials: tuple[int, int] = (0, 0)
    validation: tuple[int, int] = (0, 0)
    of_trainings: tuple[int, int] = (0, 0)

    @property
    def to_train(self) -> tuple[int, int]:
        """Trainings that are not done yet: those before the first look, and all that there may be."""
        open_ = [not done for _, _, done in self.trainings]
        return sum(open_[: self.first]), sum(open_)

    @property
    def cpu_s(self) -> tuple[float, float] | None:
        """CPU seconds, least and most; None where trainings have no budget of trials."""
        least, most = self.to_train
        if most and self.unit != "trials":
            return None
        trials = least * self.budget + self.tests_least, most * self.budget + self.tests_most
        first, last = (count * self.trial_cpu_s + more for count, more in zip(trials, self.more_cpu_s, strict=True))
        return first, last

    @property
    def cpu_parts(self) -> dict[str, tuple[str, float, float]]:
        """CPU seconds of training, validation and test: the key that drives them, least and most; empty as `cpu_s`."""
        if self.cpu_s is None:
            return {}
        pace, (least, most) = self.trial_cpu_s, self.to_train
        training = (least * self.budget * pace, most * self.budget * pace)
        validation = (self.validation[0] * pace, self.validation[1] * pace)
        test = [whole - a - b for whole, a, b in zip(self.cpu_s, training, validation, strict=True)]
        others = self.tests_most - self.validation[1] - self.of_trainings[1]
        driver = "test.per_training_seed" if self.of_trainings[1] >= others else "test.pairs"
        return {
            "training": ("trainer.budget_trials", *training),
            "validation": ("validation.networks", *validation),
            "test": (driver, test[0], test[1]),
        }

    @property
    def wall_s(self) -> tuple[float, float] | None:
        """Seconds, least and most, on cores that are not shared; None where trainings have no budget of trials."""
        if self.cpu_s is None:
            return None
        turns = self._turns(self.first), self._turns(len(self.trainings))
        tests = (count / self.jobs for count in (self.tests_least, self.tests_most))
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
        ends = self.wall_s
        return {
            "trainings": [{"id": id, "key": key, "done": done} for id, key, done in self.trainings],
            "to_train": list(self.to_train),
            "budget": self.budget,
            "unit": self.unit,
            "test_trials": [self.tests_least, self.tests_most],
            "ns3_trials": list(self.ns3_trials),
            "trial_cpu_s": round(self.trial_cpu_s, 6),
            "jobs": self.jobs,
            "trainings_at_once": self.at_once,
            "cpu_s_by_part": {
                name: {"key": key, "least": round(low, 1), "most": round(high, 1)}
                for name, (key, low, high) in self.cpu_parts.items()
            },
            "cpu_s": None if self.cpu_s is None else [round(end, 1) for end in self.cpu_s],
            "wall_s": None if ends is None else [round(end, 1) for end in ends],
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
    groups = [group for seeds in config.seed_steps for group in _groups(config, seeds)]
    plan = [each for group in groups for each in group]
    trainings = tuple((each.id, key, cache.file(key) is not None) for each in plan for key in [each.key(config)])
    least, most = (_tests_of_trainings(config, seeds) for seeds in (config.seed_steps[0], config.seeds))
    tested = sum(1 + candidate.costs for candidate in config.candidates) + len(config.hand_designed)
    tested *= len(config.utilities)
    selected = len(config.candidates) * len(config.utilities)
    pace, conditions = trial_cpu_s(config), [_elsewhere(config, each) for each in config.generalisation]
    slower = [max(condition_cpu_s(config, each) - pace, 0.0) for each in config.generalisation]
    begun, generalisation = (sum(counts[i] for counts in conditions) for i in range(2))
    more = [sum(counts[i] * each for counts, each in zip(conditions, slower, strict=True)) for i in range(2)]
    here, seeds = len(os.sched_getaffinity(0)), (config.seed_steps[0], config.seeds)
    validation, own = (
        [sum(trials(config, each) for each in learners(config, some)) for some in seeds]
        for trials in (_validation, _own_tests)
    )
    repeated = selected * config.per_network.networks * config.per_network.seeds if config.per_network else 0
    return Forecast(
        trainings,
        sum(map(len, _groups(config, config.seed_steps[0]))),
        *config.trainer.budget,
        least + tested * config.test.at_least + begun + repeated,
        most + tested * config.test.pairs + generalisation + repeated,
        pace,
        jobs if away else min(jobs, here),
        at_once,
        tuple(map(len, groups)),
        (more[0], more[1]),
        (_in_ns3(config, config.seed_steps[0]), _in_ns3(config, config.seeds)),
        (validation[0], validation[1]),
        (own[0], own[1]),
    )


def _elsewhere(config: CampaignConfig, condition: GeneralisationConfig) -> tuple[int, int]:
    """Return the trials under a condition, least and most: of the selected policies, and of all trainings."""
    tested = (len(config.candidates) + len(config.hand_designed)) * len(config.utilities)
    pairs, each = condition.space(config.networks).whole(condition.pairs), of_each_seed(config, condition)
    least, most = (each * len(learners(config, seeds)) for seeds in (config.seed_steps[0], config.seeds))
    return least + tested * min(pairs, config.test.block), most + tested * pairs


def _groups(config: CampaignConfig, seeds: Sequence[int]) -> list[list[Learner]]:
    """Return the trainings with these seeds in groups that follow one another."""
    return [*filter(None, [warm_starts(config, seeds)]), *waves(config, learners(config, seeds))]


def _tests_of_trainings(config: CampaignConfig, seeds: Sequence[int]) -> int:
    """Return the trials that validate and test the trainings with these seeds."""
    wanted = config.per_network
    repeated = wanted.networks * wanted.seeds if wanted else 0
    luck = (len(seeds) - 1) * len(config.utilities) * repeated
    return luck + sum(
        _validation(config, each) + _own_tests(config, each) + repeated for each in learners(config, seeds)
    )


def _validation(config: CampaignConfig, learner: Learner) -> int:
    """Return the trials that pick a checkpoint of a training."""
    return config.trainer.policies * config.validation.networks


def _own_tests(config: CampaignConfig, learner: Learner) -> int:
    """Return the trials of a training's test on networks of its training seed."""
    return (1 + config.trainer.sizes + learner.candidate.costs) * config.test.per_training_seed


def _in_ns3(config: CampaignConfig, seeds: Sequence[int]) -> int:
    """Return the trials in ns-3 with these training seeds."""
    wanted, trained = config.validation.ns3, len(learners(config, seeds))
    if wanted is None:
        return 0
    beside = len(config.utilities) * (len(config.candidates) + len(wanted.baselines))
    each_topology = beside * wanted.networks * wanted.runs + trained * wanted.per_training_seed
    finalists = min(wanted.finalists or math.inf, config.trainer.policies) if wanted.pick == "ns3" else 0
    return each_topology * len(wanted.topologies) + int(finalists) * trained * wanted.networks * wanted.runs
