"""Work in processes that may die: one item at a time per worker, so that a death is told of the item it belongs to."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import re
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

TRIES = 2
"""How often an item is given to a worker that is killed from outside before it is called failed."""

PR_SET_PDEATHSIG = 1

_PARTS = {"condition": r'cond="([^"]*)"', "message": r'msg="([^"]*)"', "line": r"file=\S*?([^/\s]+, line=\d+)"}

_CONTEXT = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Failure:
    """Why an item has no result."""

    reason: str


@dataclass
class _Worker(Generic[Item]):
    """A process, the pipe to it, and what it is working on."""

    function: Callable[[Item], Any]
    at: int | None = None
    log: Any = field(default_factory=lambda: tempfile.NamedTemporaryFile(prefix="lcca-worker-", mode="w+b"))
    pipe: Connection = field(init=False)
    process: Any = field(init=False)

    def __post_init__(self) -> None:
        self.pipe, theirs = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(target=_serve, args=(self.function, theirs, self.log.name), daemon=True)
        self.process.start()
        theirs.close()

    def give(self, at: int, item: Item) -> None:
        self.at = at
        self.pipe.send(item)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()
        self.log.close()

    def last_words(self) -> str:
        """Return why the process died: what it wrote, or which signal ended it."""
        self.process.join()
        self.log.seek(0)
        written = self.log.read().decode(errors="replace").strip()
        return cause_of_death(written, self.process.exitcode)

    @property
    def killed(self) -> bool:
        """Whether it was ended from outside and not by its work."""
        self.process.join()
        return self.process.exitcode in (-signal.SIGKILL, -signal.SIGTERM)


def run_all(function: Callable[[Item], Result], items: Sequence[Item], jobs: int) -> Iterator[tuple[int, Any]]:
    """Run the function on every item in worker processes; yield (index, result or `Failure`) as they come.

    A worker that dies costs its item only: an abort is a `Failure` with what the worker wrote to stderr last; a worker
    killed from outside has its item run once more.

    Args:
        function: importable by name; what it raises is a `Failure` too.
        items: what to run it on; they travel by pickle.
        jobs: processes.
    """
    waiting = list(range(len(items)))[::-1]
    tries = [0] * len(items)
    workers: list[_Worker[Item]] = []
    try:
        for _ in range(min(jobs, len(items))):
            workers.append(_next(_Worker(function), waiting, items, tries))
        while any(w.at is not None for w in workers):
            busy: dict[Any, _Worker[Item]] = {w.pipe: w for w in workers if w.at is not None}
            for pipe in wait(list(busy)):
                worker = busy[pipe]
                at = worker.at
                assert at is not None
                try:
                    outcome = worker.pipe.recv()
                except EOFError:
                    workers.remove(worker)
                    workers.append(_Worker(function))
                    if worker.killed and tries[at] < TRIES:
                        waiting.append(at)
                    else:
                        yield at, Failure(worker.last_words())
                    worker.stop()
                    worker = workers[-1]
                else:
                    yield at, outcome
                _next(worker, waiting, items, tries)
    finally:
        for worker in workers:
            worker.stop()


def _next(worker: _Worker[Item], waiting: list[int], items: Sequence[Item], tries: list[int]) -> _Worker[Item]:
    worker.at = None
    if waiting:
        at = waiting.pop()
        tries[at] += 1
        worker.give(at, items[at])
    return worker


def _serve(function: Callable[[Any], Any], pipe: Connection, log: str) -> None:
    """The life of a worker: items in, results out, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    parent = multiprocessing.parent_process()
    die_with_parent(os.getppid() if parent is None else parent.pid)
    os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND), 2)
    while True:
        try:
            item = pipe.recv()
        except EOFError:
            return
        try:
            outcome: Any = function(item)
        except Exception as error:
            outcome = Failure(f"{type(error).__name__}: {error}")
        pipe.send(outcome)


def die_with_parent(parent: int | None) -> None:
    """Ask Linux to end this process when its parent is gone: in the middle of a trial nobody looks at the pipe."""
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "prctl"):
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it went before we asked
        os._exit(1)


def cause_of_death(written: str, code: int | None) -> str:
    """Return why a process died: the gist of what it wrote last, or which signal or status ended it."""
    return _message(written) or _ending(code)


def _message(written: str) -> str:
    """Return the gist of what a dying ns-3 wrote: its condition, its message, and the line of its source."""
    parts = {key: re.search(pattern, written) for key, pattern in _PARTS.items()}
    condition, message, line = (found.group(1) if (found := parts[key]) else "" for key in _PARTS)
    said = ": ".join(part for part in (f"assertion {condition} failed" if condition else "", message) if part)
    return f"ns-3: {said}" + (f" ({line})" if line else "") if said else written[-500:]


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"the worker was ended by signal {signal.Signals(-code).name}"
    return f"the worker ended with status {code}"
