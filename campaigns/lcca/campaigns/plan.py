"""From a campaign's configuration to the trainings that it needs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lcca.campaigns.config import CampaignConfig
from lcca.campaigns.seeds import derive
from lcca.evaluation.utility import Utility
from lcca.signal_sets.signal_set import SignalSet
from lcca.trainers.rplus.trainer import Task


@dataclass(frozen=True)
class Learner:
    """One training: a signal set, a utility and a training seed.

    Attributes:
        id: names the learnt policy everywhere: ``<signal set>.<utility>.s<training seed>``.
    """

    id: str
    signals: SignalSet
    utility: Utility
    training_seed: int

    def task(self, config: CampaignConfig) -> Task:
        """Return what the trainer has to learn. All signal sets meet the same training networks under one seed."""
        return Task(
            identity=f"{config.hash}/{self.id}",
            signals=self.signals.signals,
            space=config.networks,
            utility=self.utility,
            seed=derive(config.seed, "training", self.training_seed),
        )


def learners(config: CampaignConfig) -> list[Learner]:
    """Return all trainings of a campaign, seed by seed, so that early results span all signal sets."""
    return [
        Learner(f"{signals.name}.{utility.name}.s{seed}", signals, utility.build(), seed)
        for utility in config.utilities
        for seed in config.training_seeds
        for signals in config.signal_sets
    ]


def policy_folder(run: Path, learner: Learner) -> Path:
    """Return the folder of a training's checkpoints."""
    return run / "policies" / learner.id
