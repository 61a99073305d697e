"""Calls in other processes that may die: one at a time per worker, so that a death belongs to one call.

No `multiprocessing`: its daemons (Stable-Baselines3's `SubprocVecEnv` has them) may have no children, and its workers
import the main module again and hold its streams.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from lcca.inputs.errors import InputError
from lcca.workers.child import Child
from lcca.workers.pool import TRIES, Failure, Item, Outcomes, Pool

_PROGRAM = "from lcca.workers.processes import serve; serve({})"


class Worker:
    """A process that makes one call after the other; functions and values travel by pickle.

    Attributes:
        cpu_s: CPU seconds of the process until its last answer.
    """

    def __init__(self) -> None:
        self.cpu_s = 0.0
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
            outcome, self.cpu_s = self.pipe.recv()
            return outcome
        except (EOFError, OSError):
            reason = self.child.cause_of_death()
            return Failure(reason, "killed" if self.child.killed else "died")

    def end(self) -> None:
        """End the process."""
        self.pipe.close()
        self.child.end()


class Processes(Pool):
    """Worker processes that start when they are needed and stay until `close`: a crash costs its item only."""

    name = "processes"

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._idle: list[Worker] = []

    def run(self, function: Callable[[Item], Any], items: Sequence[Item], tries: int = TRIES) -> Outcomes:
        """See `Pool.run`."""
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
                worker.end()

    def _taken(self, worker: Worker) -> Any:
        """Return what a worker answers; one that lives is idle then."""
        before = worker.cpu_s
        outcome = worker.take()
        self.cpu_s += worker.cpu_s - before
        if isinstance(outcome, Failure) and outcome.dead:
            worker.end()
        else:
            self._idle.append(worker)
        return outcome

    def close(self) -> None:
        """End the workers."""
        while self._idle:
            self._idle.pop().end()


def run_all(function: Callable[[Item], Any], items: Sequence[Item], jobs: int, pool: Pool | None = None) -> Outcomes:
    """Call the function with every item, a trial, in other processes; see `Pool.trials`.

    Args:
        function: importable by name.
        items: what to call it with.
        jobs: how many processes, which end with the last item.
        pool: that is used in their place, if it makes calls in other processes.
    """
    if pool is not None and not pool.here:
        yield from pool.trials(function, items)
        return
    with Processes(min(jobs, len(items))) as own:
        yield from own.trials(function, items)


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
            outcome = Failure(f"{type(error).__name__}: {error}", "failed")
        else:
            outcome = answer(function, arguments)
        pipe.send((outcome, time.process_time()))


def answer(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return what a function returns, or the `Failure` that it ended with."""
    try:
        return function(*arguments)
    except (InputError, ValueError) as error:
        return Failure(str(error), "refused")
    except Exception as error:
        traceback.print_exc()
        return Failure(f"{type(error).__name__}: {error}", "failed")
