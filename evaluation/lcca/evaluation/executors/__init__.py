"""Where trials run: threads of this process, worker processes, or a Ray cluster. The records are the same."""

from lcca.evaluation.executors.base import Executor
from lcca.evaluation.executors.choice import EXECUTORS, executor

__all__ = ["EXECUTORS", "Executor", "executor"]
