"""Where trials run: threads of this process, worker processes, or a Ray cluster. The records are the same."""

from lcca.evaluation.trials.executors.base import Executor
from lcca.evaluation.trials.executors.choice import EXECUTORS, executor

__all__ = ["EXECUTORS", "Executor", "executor"]
