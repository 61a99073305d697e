"""What a campaign will cost, before it starts: trainings, trials and time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.campaign.plan import Learner, learners, warm_starts
from lcca.experiments.sweep.cache import TrainingCache
from lcca.experiments.sweep.pace import trial_cpu_s


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
    """

    trainings: tuple[tuple[str, str, bool], ...]
    first: int
    budget: int
    unit: str
    tests_least: int
    tests_most: int
    trial_cpu_s: float
    jobs: int

    @property
    def to_train(self) -> tuple[int, int]:
        """Trainings that are not done yet: those before the first look, and all that there may be."""
        open_ = [not done for _, _, done in self.trainings]
        return sum(open_[: self.first]), sum(open_)

    @property
    def wall_s(self) -> tuple[float, float] | None:
        """Seconds, least and most; None where trainings have no budget of trials."""
        least, most = self.to_train
        if most and self.unit != "trials":
            return None
        pace = self.trial_cpu_s / self.jobs
        return (least * self.budget + self.tests_least) * pace, (most * self.budget + self.tests_most) * pace

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        ends = self.wall_s
        return {
            "trainings": [{"id": id, "key": key, "done": done} for id, key, done in self.trainings],
            "to_train": list(self.to_train),
            "budget": self.budget,
            "unit": self.unit,
            "test_trials": [self.tests_least, self.tests_most],
            "trial_cpu_s": round(self.trial_cpu_s, 6),
            "jobs": self.jobs,
            "wall_s": None if ends is None else [round(end, 1) for end in ends],
        }


def forecast(config: CampaignConfig, cache: TrainingCache, jobs: int) -> Forecast:
    """Return what a campaign will cost here; runs a few trials to measure the pace."""
    plan = list(dict.fromkeys(each for seeds in config.seed_steps for each in _trainings(config, seeds)))
    trainings = tuple((each.id, key, cache.file(key) is not None) for each in plan for key in [each.key(config)])
    least, most = (_tests_of_trainings(config, seeds) for seeds in (config.seed_steps[0], config.seeds))
    tested = sum(1 + candidate.costs for candidate in config.candidates) + len(config.hand_designed)
    tested *= len(config.utilities)
    conditions = len(config.generalisation) * len(config.candidates) * len(config.utilities)
    generalisation = sum(each.pairs for each in config.generalisation) * len(config.candidates) * len(config.utilities)
    repeated = (
        config.per_network.networks * config.per_network.seeds * len(config.candidates) if config.per_network else 0
    )
    return Forecast(
        trainings,
        len(_trainings(config, config.seed_steps[0])),
        *config.trainer.budget,
        least + tested * config.test.at_least + conditions * config.test.block + repeated,
        most + tested * config.test.pairs + generalisation + repeated,
        trial_cpu_s(config),
        min(jobs, len(os.sched_getaffinity(0))),
    )


def _trainings(config: CampaignConfig, seeds: Sequence[int]) -> list[Learner]:
    return [*warm_starts(config, seeds), *learners(config, seeds)]


def _tests_of_trainings(config: CampaignConfig, seeds: Sequence[int]) -> int:
    """Return the trials that validate and test the trainings with these seeds."""
    validation, tested = config.trainer.policies * config.validation.networks, 1 + config.trainer.sizes
    own = config.test.per_training_seed
    return sum(validation + (tested + each.candidate.costs) * own for each in learners(config, seeds))
