"""Executors by name."""

from __future__ import annotations

from lcca.evaluation.trials.executors.base import Executor
from lcca.evaluation.trials.executors.cluster import RayCluster
from lcca.evaluation.trials.executors.local import Processes, Threads
from lcca.inputs.errors import InputError, did_you_mean

EXECUTORS = ("local", "processes", "ray")


def executor(name: str, workers: int) -> Executor:
    """Return the executor of a name.

    Raises:
        InputError: an unknown name, or Ray is not installed.
    """
    match name:
        case "local":
            return Threads(workers)
        case "processes":
            return Processes(workers)
        case "ray":
            return RayCluster(workers)
    raise InputError(f"unknown executor {name[:40]!r}{did_you_mean(name, EXECUTORS)}")
