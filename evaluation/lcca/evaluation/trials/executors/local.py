"""Executors of one machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lcca.evaluation.trials.executors.base import Executor, WorkerDied
from lcca.gym_envs.processes.workers import Failure, Workers
from lcca.inputs.errors import InputError
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


class Processes(Executor):
    """Worker processes: a crash costs a worker, not the campaign."""

    name = "processes"

    def __init__(self, workers: int, threads: int = 1, runner: Runner = run_here) -> None:
        super().__init__(workers, threads)
        self._runner = runner
        self._workers = Workers(self.workers)

    def attempt(self, parts: Sequence[Request]) -> list[Columns | WorkerDied]:
        """Run the parts on the workers.

        Raises:
            InputError: the engine refuses a part.
            RuntimeError: the engine failed at a part otherwise.
        """
        found = dict(self._workers.run(self._runner, parts, tries=1))
        return [_outcome(found[at]) for at in range(len(parts))]

    def close(self) -> None:
        """End the workers."""
        self._workers.close()


def _outcome(found: Columns | Failure) -> Columns | WorkerDied:
    if not isinstance(found, Failure):
        return found
    if found.dead:
        return WorkerDied(f"a worker process died: {found.reason}")
    raise (InputError if found.kind == "refused" else RuntimeError)(found.reason)
