"""A run of the fabric engine look by look: who drives it says what to set, and gets what is seen next.

The engine calls a tuner at every look; here the tuner hands over what it sees and waits for what to set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from lcca.gym_envs.interface.turns import Turns
from lcca.remy_plus.fabric.engine import FabricRecord
from lcca.remy_plus.switches.control import Change, Given, Seen, Tuner

Asked: TypeAlias = Given | Seen | FabricRecord
"""What a run comes to next: its beginning, a look, or its end."""


@dataclass
class _Handover:
    """The tuner of a run: passes on what it is asked."""

    every_us: float
    delay_us: float
    ask: Callable[[Asked], Change]
    sketch: None = None

    def begin(self, given: Given) -> Change:
        return self.ask(given)

    def tune(self, seen: Seen) -> Change:
        return self.ask(seen)

    def build(self) -> Tuner:
        return self


class Looks(Turns[Asked, Change]):
    """A run that goes on from look to look.

    Args:
        run: runs with a tuner, and returns the record.
        every_us: from look to look.
        delay_us: from a look to when what was set holds.
    """

    def __init__(self, run: Callable[[_Handover], FabricRecord], every_us: float, delay_us: float) -> None:
        super().__init__(lambda ask: run(_Handover(every_us, delay_us, ask)))

    def after(self, answer: Change) -> Seen | FabricRecord:
        """As `Turns.after`: what is known before the run was asked first."""
        found = super().after(answer)
        assert not isinstance(found, Given)
        return found
