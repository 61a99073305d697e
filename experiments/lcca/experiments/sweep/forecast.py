"""What a campaign will cost, before it starts: trainings, trials and time."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

from lcca.evaluation.trials.running import run_trials
from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.campaign.plan import learners, warm_starts
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.cache import TrainingCache
from lcca.experiments.sweep.training import engine_of
from lcca.remy_plus.policies.rules import one_rule

PROBES = 24
"""Networks that the pace is measured on."""

PROBE = (2.0, 0.9, 0.25)
"""Action of the one rule that it is measured with: links are busy, as they are in most of a search's trials."""


@dataclass(frozen=True)
class Forecast:
    """What one campaign will take.

    Attributes:
        trainings: id and key of each, and whether it is done already.
        budget: what one training may take, in the trainer's own unit.
        unit: of the budget.
        tests_least: trials of the test phase, if everything is settled at once.
        tests_most: if nothing ever is.
        trial_cpu_s: CPU seconds of a trial of this space, measured on `PROBES` networks under one rule.
        jobs: cores.
    """

    trainings: tuple[tuple[str, str, bool], ...]
    budget: int
    unit: str
    tests_least: int
    tests_most: int
    trial_cpu_s: float
    jobs: int

    @property
    def to_train(self) -> int:
        """Trainings that are not done yet."""
        return sum(not done for _, _, done in self.trainings)

    @property
    def wall_s(self) -> tuple[float, float] | None:
        """Seconds, least and most; None where trainings have no budget of trials."""
        if self.to_train and self.unit != "trials":
            return None
        training = self.to_train * self.budget
        pace = self.trial_cpu_s / self.jobs
        return (training + self.tests_least) * pace, (training + self.tests_most) * pace

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        ends = self.wall_s
        return {
            "trainings": [{"id": id, "key": key, "done": done} for id, key, done in self.trainings],
            "to_train": self.to_train,
            "budget": self.budget,
            "unit": self.unit,
            "test_trials": [self.tests_least, self.tests_most],
            "trial_cpu_s": round(self.trial_cpu_s, 6),
            "jobs": self.jobs,
            "wall_s": None if ends is None else [round(end, 1) for end in ends],
        }


def forecast(config: CampaignConfig, cache: TrainingCache, jobs: int) -> Forecast:
    """Return what a campaign will cost here; runs a few trials to measure the pace."""
    plan = learners(config)
    first = warm_starts(config)
    trainings = tuple(
        (learner.id, key, cache.file(key) is not None) for learner in [*first, *plan] for key in [learner.key(config)]
    )
    tested = len(plan) + sum(learner.candidate.costs for learner in plan)
    conditions = len(config.generalisation) * len(config.candidates) * len(config.utilities)
    generalisation = sum(each.pairs for each in config.generalisation) * len(config.candidates) * len(config.utilities)
    repeated = (
        config.per_network.networks * config.per_network.seeds * len(config.candidates) if config.per_network else 0
    )
    validation = len(plan) * config.validation.networks
    return Forecast(
        trainings,
        *config.trainer.budget,
        tested * config.test.at_least + conditions * config.test.block + repeated + validation,
        tested * config.test.pairs + generalisation + repeated + 5 * validation,
        _trial_cpu_s(config),
        min(jobs, len(os.sched_getaffinity(0))),
    )


def _trial_cpu_s(config: CampaignConfig) -> float:
    networks = config.networks.draw(derive(config.seed, "forecast"), PROBES)
    engine, utility = engine_of(config, 1), config.utilities[0].build()
    probes = {c.name: c.equip(one_rule(c.signals.signals).with_action(0, *PROBE)) for c in config.candidates}
    began = time.process_time()
    run_trials(engine, probes, networks, [1], utility, keep_delays=False)
    return (time.process_time() - began) / PROBES / len(probes)
