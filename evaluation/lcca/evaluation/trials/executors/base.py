"""Running a batch of trials in parts, on workers that may die.

An executor is a `Runner` for the engine. It cuts a batch into parts of whole trials, lets workers run them, and puts
the columns together in the order of the trials, so that a record never depends on who ran it. A part whose worker
dies is tried again; a part that keeps killing its workers is halved until the one trial that does it is alone. That
trial is reported as failed and the others go on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lcca.gym_envs.processes.workers import Workers
from lcca.remy_plus.engine import Request, run_here
from lcca.remy_plus.record import Columns

if TYPE_CHECKING:
    from lcca.evaluation.trials.executors.pool import Pool

TRIES = 3
"""How often a part is given to a worker before it is halved, or its only trial is called failed."""


class WorkerDied(Exception):
    """The worker that ran a part is gone; says why as far as that is known."""


class Executor(ABC):
    """Runs batches on workers.

    Args:
        workers: how many parts run at once.
        threads: threads of each worker.

    Attributes:
        away: whether its workers are on other machines, which do not see the files of this one.
    """

    name: str
    away: ClassVar[bool] = False

    def __init__(self, workers: int, threads: int = 1) -> None:
        self.workers = max(workers, 1)
        self.threads = max(threads, 1)

    @abstractmethod
    def attempt(self, parts: Sequence[Request]) -> list[Columns | WorkerDied]:
        """Run parts at the same time and return, in their order, what each gave or why its worker died."""

    def report_to(self, tell: Callable[[str], None]) -> None:  # noqa: B027 - most executors have nothing to say
        """Tell what becomes of the workers."""

    def pool(self, count: int) -> Pool:
        """Return what makes other calls where the workers are, so many at once."""
        return Workers(count)

    def close(self) -> None:  # noqa: B027 - most executors have nothing to let go
        """Let the workers go."""

    def __call__(self, request: Request) -> Columns:
        """Run a batch; trials that no worker survives come back with ``trial_error`` set."""
        if request.trials == 0:
            return run_here(request)
        edges = np.linspace(0, request.trials, min(self.workers * 2, request.trials) + 1).astype(int)
        parts = [replace(request.part(int(a), int(b)), jobs=self.threads) for a, b in pairwise(edges)]
        return merge(self._run_all(parts))

    def _run_all(self, parts: list[Request]) -> list[Columns]:
        results: list[Columns | None] = [None] * len(parts)
        waiting, tries = list(range(len(parts))), dict.fromkeys(range(len(parts)), 0)
        while waiting:
            again = []
            for i, outcome in zip(waiting, self.attempt([parts[i] for i in waiting]), strict=True):
                tries[i] += 1
                if not isinstance(outcome, WorkerDied):
                    results[i] = outcome
                elif tries[i] < TRIES:
                    again.append(i)
                else:
                    results[i] = self._rescue(parts[i])
            waiting = again
        return [r for r in results if r is not None]

    def _rescue(self, part: Request) -> Columns:
        """Run a part alone, so that no other part's death is taken for its own; halve it while it dies."""
        outcome = self.attempt([part])[0]
        if not isinstance(outcome, WorkerDied):
            return outcome
        if part.trials == 1:
            return failed(part, str(outcome))
        middle = part.trials // 2
        return merge([self._rescue(part.part(0, middle)), self._rescue(part.part(middle, part.trials))])

    def __enter__(self) -> Executor:
        """Use it as a context."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Let the workers go."""
        self.close()


def merge(parts: Sequence[Columns]) -> Columns:
    """Put the columns of consecutive parts together, as if they had run as one batch."""
    merged: dict[str, Any] = {}
    for name in parts[0].keys() - {"trial_error"}:
        columns = [p[name] for p in parts]
        if name == "rule_hits":
            merged[name] = [sum(each) for each in zip(*columns, strict=True)]
        elif name.endswith("_begin"):
            merged[name] = _joined_begins(columns)
        else:
            merged[name] = np.concatenate(columns)
    errors = [p.get("trial_error", np.full(len(p["trial_sent"]), "", dtype=object)) for p in parts]
    if any((e != "").any() for e in errors):
        merged["trial_error"] = np.concatenate(errors)
    return merged


def _joined_begins(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    ends = np.cumsum([0, *(int(c[-1]) for c in columns)])
    shifted = [c[:-1] + ends[i] for i, c in enumerate(columns)]
    return np.concatenate([*shifted, ends[-1:]])


def failed(part: Request, reason: str) -> Columns:
    """Return the columns of one trial that could not be run: nothing sent, nothing received, and the reason."""
    blank = run_here(replace(part, duration=1e-9))  # a trial in which nothing happens has all columns and no packets
    return {**blank, "trial_error": np.array([reason], dtype=object)}
