"""Work in a thread of its own that stops to ask who drives it, and goes on with the answer.

One of the two threads always waits for the other, so that nothing depends on their timing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

from lcca.inputs.errors import InputError

Q = TypeVar("Q")
A = TypeVar("A")


class _Abandoned(Exception):
    """Nobody wants the rest of the work."""


@dataclass(frozen=True)
class _Failure:
    error: BaseException


class Turns(Generic[Q, A]):
    """Work that goes on from question to question.

    Args:
        work: asks by the function that it gets, and returns what counts as its last question.
    """

    def __init__(self, work: Callable[[Callable[[Q], A]], Q]) -> None:
        self._asked: SimpleQueue[Q | _Failure] = SimpleQueue()
        self._answers: SimpleQueue[A | None] = SimpleQueue()
        # No method of this object: the thread must not keep it alive.
        self._thread = Thread(target=_work, args=(work, self._asked, self._answers), name="fabric run", daemon=True)
        self._thread.start()

    def first(self) -> Q:
        """Return the first question; once, before all else.

        Raises:
            InputError: the work cannot be.
        """
        found = self._asked.get()
        if isinstance(found, _Failure):
            raise found.error
        return found

    def after(self, answer: A) -> Q:
        """Answer, and return the next question.

        Raises:
            InputError: the answer cannot be, or the work is over or another process's (after a fork).
        """
        if not self._thread.is_alive():
            raise InputError("step: the run is over, or was begun by another process; call reset first")
        self._answers.put(answer)
        return self.first()

    def close(self) -> None:
        """End the work if it goes on; may be called again."""
        if self._thread.is_alive():
            self._answers.put(None)
            self._thread.join()


def _work(
    work: Callable[[Callable[[Q], A]], Q], asked: SimpleQueue[Q | _Failure], answers: SimpleQueue[A | None]
) -> None:
    def ask(question: Q) -> A:
        asked.put(question)
        answer = answers.get()
        if answer is None:
            raise _Abandoned
        return answer

    try:
        asked.put(work(ask))
    except _Abandoned:
        pass
    except BaseException as error:  # it belongs to who drives the work
        asked.put(_Failure(error))
