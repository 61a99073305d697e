"""Executors of one machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lcca.evaluation.trials.executors.base import Executor, WorkerDied
from lcca.evaluation.trials.executors.pool import PoolExecutor
from lcca.gym_envs.processes.workers import Workers
from lcca.remy_plus.engine import Request, Runner, run_here
from lcca.remy_plus.record import Columns


class Threads(Executor):
    """The engine's own threads in this process: the default, and the fastest on one machine."""

    name = "local"

    def __init__(self, workers: int, threads: int = 1) -> None:
        super().__init__(1, workers * threads)

    def __call__(self, request: Request) -> Columns:
        """Run the batch as it is: here nobody dies alone."""
        return run_here(replace(request, jobs=self.threads))

    def attempt(self, parts: Sequence[Request]) -> list[Columns | WorkerDied]:
        """Run the parts one after the other."""
        return [self(part) for part in parts]


class Processes(PoolExecutor):
    """Trials in worker processes."""

    name = "processes"

    def __init__(self, workers: int, threads: int = 1, runner: Runner = run_here) -> None:
        super().__init__(Workers(workers), threads, runner)
