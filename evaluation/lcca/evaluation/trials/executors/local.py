"""Executors of one machine."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace

from lcca.evaluation.trials.executors.base import Executor, WorkerDied
from lcca.remy_plus.engine import Columns, Request, Runner, run_here


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


class Processes(Executor):
    """Worker processes: a crash costs a worker, not the campaign."""

    name = "processes"

    def __init__(self, workers: int, threads: int = 1, runner: Runner = run_here) -> None:
        super().__init__(workers, threads)
        self._runner = runner
        self._pool: ProcessPoolExecutor | None = None

    def attempt(self, parts: Sequence[Request]) -> list[Columns | WorkerDied]:
        """Run the parts on the pool. When a worker dies the pool is gone: all unfinished parts are tried again."""
        pool = self._open()
        futures: list[Future[Columns]] = []
        outcomes: list[Columns | WorkerDied] = []
        try:
            futures = [pool.submit(self._runner, part) for part in parts]
        except BrokenProcessPool:
            self.close()
            return [WorkerDied("a worker process died")] * len(parts)
        for future in futures:
            try:
                outcomes.append(future.result())
            except BrokenProcessPool:
                outcomes.append(WorkerDied("a worker process died"))
        if any(isinstance(o, WorkerDied) for o in outcomes):
            self.close()
        return outcomes

    def close(self) -> None:
        """Stop the pool."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _open(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.workers, mp_context=context)
        return self._pool
