"""A run of the fabric engine look by look: who drives it says what to set, and gets what is seen next.

The engine calls a tuner at every look; here the tuner hands over what it sees and waits for what to set. It does so in
a thread of its own. One of the two threads always waits for the other, so that nothing depends on their timing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import TypeAlias

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.engine import FabricRecord
from lcca.remy_plus.switches.control import Change, Given, Seen, Tuner


class _Abandoned(Exception):
    """Nobody wants the rest of a run."""


@dataclass(frozen=True)
class _Failure:
    error: BaseException


Asked: TypeAlias = Given | Seen | FabricRecord
"""What a run comes to next: its beginning, a look, or its end."""


@dataclass
class _Handover:
    """The tuner of a run: passes on what it is asked."""

    every_us: float
    delay_us: float
    asked: SimpleQueue[Asked | _Failure]
    answers: SimpleQueue[Change | None]
    sketch: None = None

    def begin(self, given: Given) -> Change:
        return self._answer(given)

    def tune(self, seen: Seen) -> Change:
        return self._answer(seen)

    def build(self) -> Tuner:
        return self

    def _answer(self, asked: Asked) -> Change:
        self.asked.put(asked)
        answer = self.answers.get()
        if answer is None:
            raise _Abandoned
        return answer


class Looks:
    """A run that goes on from look to look.

    Args:
        run: runs with a tuner, and returns the record.
        every_us: from look to look.
        delay_us: from a look to when what was set holds.
    """

    def __init__(self, run: Callable[[_Handover], FabricRecord], every_us: float, delay_us: float) -> None:
        self._asked: SimpleQueue[Asked | _Failure] = SimpleQueue()
        self._answers: SimpleQueue[Change | None] = SimpleQueue()
        tuner = _Handover(every_us, delay_us, self._asked, self._answers)
        self._thread = Thread(target=_work, args=(run, tuner), name="fabric run", daemon=True)
        self._thread.start()

    def first(self) -> Given:
        """Return what is known before the run; once, before all else.

        Raises:
            InputError: the run cannot be.
        """
        given = self._next()
        assert isinstance(given, Given)
        return given

    def after(self, change: Change) -> Seen | FabricRecord:
        """Set something, and return the next look, or the record if the run ends before it.

        Raises:
            InputError: what is set cannot be, or the run is another process's (after a fork).
        """
        if not self._thread.is_alive():
            raise InputError("step: the run is over, or was begun by another process; call reset first")
        self._answers.put(change)
        found = self._next()
        assert not isinstance(found, Given)
        return found

    def close(self) -> None:
        """End the run if it goes on; may be called again."""
        if self._thread.is_alive():
            self._answers.put(None)
            self._thread.join()

    def _next(self) -> Asked:
        found = self._asked.get()
        if isinstance(found, _Failure):
            raise found.error
        return found


def _work(run: Callable[[_Handover], FabricRecord], tuner: _Handover) -> None:
    try:
        tuner.asked.put(run(tuner))
    except _Abandoned:
        pass
    except BaseException as error:  # it belongs to who drives the run
        tuner.asked.put(_Failure(error))
