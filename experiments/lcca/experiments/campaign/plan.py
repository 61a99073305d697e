"""From a campaign's configuration to the trainings that it needs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcca.evaluation.trials.utility import Utility
from lcca.experiments.campaign.candidates import Candidate
from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.cache import cell_key
from lcca.signal_sets.signal_set import SignalSet
from lcca.trainers.rplus.trainer import Task


@dataclass(frozen=True)
class Learner:
    """One training: a candidate, a utility and a training seed.

    Attributes:
        id: names the learnt policy everywhere: ``<candidate>.<utility>.s<training seed>``.
        root: whether it is only what others go on from.
    """

    id: str
    candidate: Candidate
    utility: Utility
    training_seed: int
    root: bool = False

    @property
    def signals(self) -> SignalSet:
        """What the policy sees."""
        return self.candidate.signals

    def cell(self, config: CampaignConfig) -> str:
        """Return the name of the training's content: equal trainings of any campaigns have the same."""
        start = self.root_of(config)
        begun = {} if start is None else {"start": start.cell(config)}
        return cell_key(candidate=self.candidate.content(), **begun, **self._common(config))

    def root_of(self, config: CampaignConfig) -> Learner | None:
        """Return the training whose rules this one goes on from; None if it begins with one rule."""
        if self.root or config.start == "scratch":
            return None
        base = next(c for c in config.candidates if c.name == config.baseline)
        name = f"root.{self.utility.name}.s{self.training_seed}"
        return Learner(name, base, self.utility, self.training_seed, root=True)

    def opening(self, config: CampaignConfig) -> str:
        """Return the name of the training up to where candidates part: before the first split it is all the same."""
        return cell_key(opening=True, **self._common(config))

    def _common(self, config: CampaignConfig) -> dict[str, Any]:
        return {
            "space": config.networks.model_dump(mode="json"),
            "utility": self.utility.content(),
            "seed": derive(config.seed, "training", self.training_seed),
            "trainer": config.trainer.model_dump(mode="json"),
            "model": config.model.model_dump(mode="json"),
        }

    def task(self, config: CampaignConfig) -> Task:
        """Return what the trainer has to learn. All candidates meet the same training networks under one seed.

        Headers are free while a policy learns: it is the signals that are learnt to be used. Their bytes are charged
        when it is tested.
        """
        return Task(
            identity=self.cell(config),
            signals=self.signals.signals,
            space=config.networks,
            utility=self.utility,
            seed=derive(config.seed, "training", self.training_seed),
            header=self.candidate.stamping(charged=False),
        )


def learners(config: CampaignConfig) -> list[Learner]:
    """Return all trainings of a campaign, seed by seed, so that early results span all candidates."""
    return [
        Learner(f"{candidate.name}.{utility.name}.s{seed}", candidate, utility.build(), seed)
        for utility in config.utilities
        for seed in config.training_seeds
        for candidate in config.candidates
    ]


def roots(config: CampaignConfig) -> list[Learner]:
    """Return the trainings that others go on from, which come first."""
    found = [learner.root_of(config) for learner in learners(config)]
    return list(dict.fromkeys(root for root in found if root is not None))


def policy_folder(run: Path, learner: Learner) -> Path:
    """Return the folder of a training's checkpoints."""
    return run / "policies" / learner.id
