"""What makes calls elsewhere: worker processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from lcca.evaluation.trials.executors.base import Executor, WorkerDied
from lcca.gym_envs.processes.workers import Failure
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Request, Runner, run_here
from lcca.remy_plus.record import Columns

Item = TypeVar("Item")


class Pool(Protocol):
    """Makes calls at the same time on workers that may die.

    Attributes:
        count: how many calls at once at most; never changes a result.
    """

    count: int

    def run(
        self, function: Callable[[Item], Any], items: Sequence[Item], tries: int = ...
    ) -> Iterator[tuple[int, Any]]:
        """Call the function with every item; yield (index, result or `Failure`) as they come.

        Args:
            function: importable by name.
            items: what to call it with.
            tries: how often an item is given to a worker that is killed.
        """

    def close(self) -> None:
        """Let the workers go."""


class PoolExecutor(Executor):
    """Trials on a pool: a crash costs a worker, not the campaign.

    Args:
        pool: makes the calls.
        threads: threads of each worker.
        runner: runs a part.
    """

    def __init__(self, pool: Pool, threads: int = 1, runner: Runner = run_here) -> None:
        super().__init__(pool.count, threads)
        self._pool, self._runner = pool, runner

    def attempt(self, parts: Sequence[Request]) -> list[Columns | WorkerDied]:
        """Run the parts on the workers.

        Raises:
            InputError: the engine refuses a part.
            RuntimeError: the engine failed at a part otherwise.
        """
        found = dict(self._pool.run(self._runner, parts, tries=1))
        return [_outcome(found[at]) for at in range(len(parts))]

    def close(self) -> None:
        """Let the workers go."""
        self._pool.close()


def _outcome(found: Columns | Failure) -> Columns | WorkerDied:
    if not isinstance(found, Failure):
        return found
    if found.dead:
        return WorkerDied(f"a worker process died: {found.reason}")
    raise (InputError if found.kind == "refused" else RuntimeError)(found.reason)
