"""Trainings by reinforcement that take a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.utilities import utility
from lcca.remy_plus.engine import Engine
from lcca.trainers.base import Task
from lcca.trainers.drl.config import DrlConfig, PpoConfig, RecurrentPpoConfig, SacConfig
from lcca.trainers.drl.trainer import DrlTrainer

SIGNALS = ("rtt_ratio", "queue")
KINDS: dict[str, type[DrlConfig]] = {"ppo": PpoConfig, "recurrent-ppo": RecurrentPpoConfig, "sac": SacConfig}
TINY: dict[str, Any] = {"steps": 3000, "rounds": 3, "environments": 8, "hidden": [8], "scores": 4, "tensorboard": False}
OWN: dict[str, dict[str, Any]] = {
    "ppo": {"rollout": 512, "batch": 128, "epochs": 2},
    "recurrent-ppo": {"rollout": 512, "batch": 128, "epochs": 2, "cells": 6},
    "sac": {"buffer": 1500, "batch": 64, "begin": 500},
}


def config_of(kind: str = "ppo", **changes: Any) -> DrlConfig:
    """A configuration of this kind, tiny but for the changes."""
    return KINDS[kind].model_validate({**TINY, **OWN[kind], "kind": kind, **changes})


def trainer_of(
    space: NetworkSpace,
    kind: str = "ppo",
    checkpoint: Path | None = None,
    **changes: Any,
) -> DrlTrainer:
    """A trainer of this kind."""
    task = Task("test", SIGNALS, space, utility("default"), seed=1)
    return DrlTrainer(task, config_of(kind, **changes), Engine(space.duration, jobs=1), checkpoint)
