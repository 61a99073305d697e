"""Calls in other processes that may die: one at a time per worker, so that a death belongs to one call.

No `multiprocessing`: its daemons (Stable-Baselines3's `SubprocVecEnv` has them) may have no children, and its workers
import the main module again and hold its streams.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Literal, TypeVar

from lcca.gym_envs.processes.child import Child
from lcca.inputs.errors import InputError
from lcca.remy_plus.simulator import trial_completed

Item = TypeVar("Item")

TRIES = 2
"""How often an item is given to a worker that is killed from outside before it is called failed."""

_PROGRAM = "from lcca.gym_envs.processes.workers import serve; serve({})"


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


class Worker:
    """A process that makes one call after the other; functions and values travel by pickle."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            command = [sys.executable, "-P", "-c", _PROGRAM.format(number)]
            self.child = Child("the worker", command, pass_fds=[number])
        self.pipe = Connection(ours.detach())
        self.pipe.send(sys.path)  # what we can import, it can

    def give(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Start a call; a worker that is dead shows in `take`."""
        self.child.quote_from_here()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.pipe.send((function, arguments))

    def take(self, timeout: float | None = None) -> Any:
        """Return the result of the call, or a `Failure`; None for a timeout waits for as long as it takes."""
        try:
            if not self.pipe.poll(timeout):
                return Failure(f"no answer within {timeout:g} s", "silent")
            return self.pipe.recv()
        except (EOFError, OSError):
            reason = self.child.cause_of_death()
            return Failure(reason, "killed" if self.child.killed else "died")

    def end(self) -> None:
        """End the process."""
        self.pipe.close()
        self.child.end()


class Workers:
    """Worker processes that start when they are needed and stay until `close`.

    Args:
        count: how many at most; never changes a result.

    Attributes:
        cpu_s: CPU seconds of the workers that have ended.
    """

    def __init__(self, count: int) -> None:
        self.count = max(count, 1)
        self.cpu_s = 0.0
        self._idle: list[Worker] = []

    def run(
        self, function: Callable[[Item], Any], items: Sequence[Item], tries: int = TRIES
    ) -> Iterator[tuple[int, Any]]:
        """Call the function with every item; yield (index, result or `Failure`) as they come.

        A worker that dies costs its item only; an item whose worker is killed from outside is tried again.

        Args:
            function: importable by name.
            items: what to call it with.
            tries: how often an item is given to a worker that is killed.
        """
        waiting = [(at, 1) for at in range(len(items))][::-1]
        busy: dict[Any, tuple[Worker, int, int]] = {}
        try:
            while waiting or busy:
                while waiting and len(busy) < self.count:
                    at, turn = waiting.pop()
                    worker = self._idle.pop() if self._idle else Worker()
                    busy[worker.pipe] = worker, at, turn
                    worker.give(function, items[at])
                for pipe in wait(list(busy)):
                    worker, at, turn = busy.pop(pipe)
                    outcome = self._taken(worker)
                    if isinstance(outcome, Failure) and outcome.kind == "killed" and turn < tries:
                        waiting.append((at, turn + 1))
                    else:
                        yield at, outcome
        finally:
            for worker, _, _ in busy.values():
                self._end(worker)

    def _taken(self, worker: Worker) -> Any:
        """Return what a worker answers; one that lives is idle then."""
        outcome = worker.take()
        if isinstance(outcome, Failure) and outcome.dead:
            self._end(worker)
        else:
            self._idle.append(worker)
        return outcome

    def _end(self, worker: Worker) -> None:
        before = _cpu_s_of_ended_children()
        worker.end()
        self.cpu_s += _cpu_s_of_ended_children() - before

    def close(self) -> None:
        """End the workers."""
        while self._idle:
            self._end(self._idle.pop())


class _Spent:
    """CPU seconds of the workers of `run_all` that have ended."""

    cpu_s = 0.0


def cpu_s_of_trials() -> float:
    """Return the CPU seconds of the trials so far that `run_all` ran in other processes, each counted as it ends."""
    return _Spent.cpu_s


def run_all(function: Callable[[Item], Any], items: Sequence[Item], jobs: int) -> Iterator[tuple[int, Any]]:
    """Call the function with every item, a trial, on so many workers; see `Workers.run`."""
    workers = Workers(min(jobs, len(items)))
    try:
        for each in workers.run(function, items):
            trial_completed()
            yield each
    finally:
        workers.close()
        _Spent.cpu_s += workers.cpu_s


def _cpu_s_of_ended_children() -> float:
    found = os.times()
    return found.children_user + found.children_system


def serve(number: int) -> None:
    """Make the calls that come through a socket until it closes."""
    pipe = Connection(number)
    sys.path[:] = pipe.recv()
    while True:
        try:
            function, arguments = pipe.recv()
        except EOFError:
            return
        except Exception as error:
            pipe.send(Failure(f"{type(error).__name__}: {error}", "failed"))
        else:
            pipe.send(answer(function, arguments))


def answer(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return what a function returns, or the `Failure` that it ended with."""
    try:
        return function(*arguments)
    except (InputError, ValueError) as error:
        return Failure(str(error), "refused")
    except Exception as error:
        traceback.print_exc()
        return Failure(f"{type(error).__name__}: {error}", "failed")
