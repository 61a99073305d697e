"""The trials of a task, wherever they come from."""

from __future__ import annotations

from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.remy_plus.engine import Engine
from lcca.trainers.base import Task
from lcca.trainers.rplus.trials.contract import TrainingTrials
from lcca.trainers.rplus.trials.fabric import FabricTraining
from lcca.trainers.rplus.trials.networks import NetworkTraining


def training_trials(task: Task, engine: Engine) -> TrainingTrials:
    """Return the trials that a task is learnt on; on a fabric nothing but the threads of the engine counts.

    Raises:
        InputError: a utility that a fabric does not score.
    """
    if isinstance(task.space, FabricSpace):
        utility = fabric_utility(task.utility.name)
        return FabricTraining(task.space, utility, task.seed, task.signals, task.header, engine.jobs)
    return NetworkTraining(engine, task.space, task.utility, task.seed, task.header)
