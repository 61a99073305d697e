"""Calls at the same time: in threads, in processes that may die, or on a cluster. Results do not depend on where."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypeVar

from lcca.inputs.errors import InputError
from lcca.remy_plus.simulator import trial_completed

Item = TypeVar("Item")
Found = TypeVar("Found")
Outcomes: TypeAlias = Generator[tuple[int, Any], None, None]
"""Indices of items, each with the result or the `Failure` of its call."""

TRIES = 2
"""How often an item is given to a worker that is killed from outside before it is called failed."""


@dataclass(frozen=True)
class Failure:
    """Why a call has no result.

    Attributes:
        reason: for people.
        kind: ``refused``: bad input (`InputError`, `ValueError`); ``failed``: another exception; ``died``: the process
            ended; ``killed``: it was ended from outside; ``silent``: it did not answer in time.
    """

    reason: str
    kind: Literal["refused", "failed", "died", "killed", "silent"] = "died"

    @property
    def dead(self) -> bool:
        """Whether the process is gone."""
        return self.kind in ("died", "killed")


class _Spent:
    """CPU seconds of trials in other processes."""

    cpu_s = 0.0


def cpu_s_of_trials() -> float:
    """Return the CPU seconds of all trials so far that pools ran in other processes, each counted with its batch."""
    return _Spent.cpu_s


class Pool(ABC):
    """Makes calls on workers.

    Args:
        count: how many at once at most; never changes a result.

    Attributes:
        name: as a command line names it.
        here: whether calls are made in this process.
        away: whether workers are on other machines, which do not see the files of this one.
        cpu_s: CPU seconds of its calls in other processes.
        tell: is told when workers come, go or are waited for.
    """

    name: ClassVar[str]
    here: ClassVar[bool] = False
    away: ClassVar[bool] = False

    def __init__(self, count: int) -> None:
        self.count = max(count, 1)
        self.cpu_s = 0.0
        self.tell: Callable[[str], None] = lambda text: None

    @abstractmethod
    def run(self, function: Callable[[Item], Any], items: Sequence[Item], tries: int = TRIES) -> Outcomes:
        """Call the function with every item; yield (index, result or `Failure`) as they come.

        What is under way when nobody asks any more (Ctrl-C, an error) is given up.

        Args:
            function: importable by name.
            items: what to call it with; these and results travel by pickle where a pool is not `here`.
            tries: how often an item is given to a worker that is killed.
        """

    def close(self) -> None:  # noqa: B027 - threads and clusters have nothing to let go
        """Let the workers go; they come again if there is more to do."""

    def trials(self, function: Callable[[Item], Any], items: Sequence[Item]) -> Outcomes:
        """Run items that are trials: each is told of as it ends, and their CPU seconds are counted; see `run`."""
        before = self.cpu_s
        try:
            with closing(self.run(function, items)) as running:
                for each in running:
                    trial_completed()
                    yield each
        finally:
            _Spent.cpu_s += self.cpu_s - before

    def map(self, function: Callable[[Item], Found], items: Sequence[Item]) -> list[Found]:
        """Return what trials give, in their order.

        Raises:
            InputError: a call raised one, or its process died.
            RuntimeError: a call failed otherwise.
        """
        with closing(self.trials(function, items)) as running:
            found = {at: _checked(outcome) for at, outcome in running}
        return [found[at] for at in sorted(found)]

    def calls(self, calls: Iterable[Callable[[], Found]]) -> list[Found]:
        """Return what calls give, each a trial, in their order; see `map`."""
        return self.map(_call, list(calls))

    def map_batches(
        self,
        function: Callable[[Item], Found],
        batches: Sequence[Item],
        halve: Callable[[Item], Sequence[Item]],
        lost: Callable[[Item, str], Found],
    ) -> list[Found]:
        """Return what batches of trials give, in their order.

        A batch whose worker dies is run again, alone, so that no other one's death is taken for its own; if it dies
        again each of its halves is, until the one trial that kills its worker is found.

        Args:
            function: runs a batch.
            batches: of trials.
            halve: returns the halves of a batch, nothing for one with a single trial.
            lost: returns what stands for a single trial that no worker survives, and is given the reason.

        Returns:
            What each batch gave; several results in place of one where it was halved.

        Raises:
            InputError: a batch was refused.
            RuntimeError: it failed otherwise.
        """

        def alone(batch: Item) -> list[Found]:
            ((_, outcome),) = self.run(function, [batch], tries=1)
            if not (isinstance(outcome, Failure) and outcome.dead):
                return [_checked(outcome)]
            halves = halve(batch)
            return [each for half in halves for each in alone(half)] or [lost(batch, outcome.reason)]

        before = self.cpu_s
        found: dict[int, list[Found]] = {}
        with closing(self.run(function, batches)) as running:
            for at, outcome in running:
                found[at] = [] if isinstance(outcome, Failure) and outcome.dead else [_checked(outcome)]
        results = [each for at in sorted(found) for each in found[at] or alone(batches[at])]
        _Spent.cpu_s += self.cpu_s - before
        return results

    def __enter__(self) -> Self:
        """Use it as a context."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let the workers go."""
        self.close()


class Threads(Pool):
    """Threads of this process: the default, and the fastest on one machine. What a call raises is raised."""

    name = "local"
    here = True

    def run(self, function: Callable[[Item], Any], items: Sequence[Item], tries: int = TRIES) -> Outcomes:
        """See `Pool.run`. A single thread or call is this one's, where Ctrl-C ends it."""
        if self.count == 1 or len(items) == 1:
            yield from enumerate(map(function, items))
            return
        pool = ThreadPoolExecutor(self.count)
        try:
            for at, each in enumerate([pool.submit(function, item) for item in items]):
                yield at, each.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _call(call: Callable[[], Found]) -> Found:
    return call()


def _checked(outcome: Any) -> Any:
    """Return a result.

    Raises:
        InputError: the call was refused, or its process died.
        RuntimeError: it failed otherwise.
    """
    if not isinstance(outcome, Failure):
        return outcome
    raise (RuntimeError if outcome.kind == "failed" else InputError)(outcome.reason)
