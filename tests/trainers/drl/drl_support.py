"""Trainings by reinforcement that take a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.utilities import utility
from lcca.remy_plus.engine import Engine
from lcca.trainers.base import Task
from lcca.trainers.drl.config import PpoConfig
from lcca.trainers.drl.trainer import DrlTrainer

SIGNALS = ("rtt_ratio", "queue")
TINY: dict[str, Any] = {"steps": 3000, "rounds": 3, "environments": 8, "hidden": [8], "scores": 4, "tensorboard": False}
TINY |= {"rollout": 512, "batch": 128, "epochs": 2}


def config_of(**changes: Any) -> PpoConfig:
    """A configuration, tiny but for the changes."""
    return PpoConfig.model_validate({**TINY, **changes})


def trainer_of(space: NetworkSpace, checkpoint: Path | None = None, **changes: Any) -> DrlTrainer:
    """A tiny training but for the changes."""
    task = Task("test", SIGNALS, space, utility("default"), seed=1)
    return DrlTrainer(task, config_of(**changes), Engine(space.duration, jobs=1), checkpoint)
