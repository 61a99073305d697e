"""Tuners that watch a run of a fabric."""

from dataclasses import dataclass, field, replace

from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.switches.control import Change, Given, Seen, Sketch, Tuner


@dataclass
class Watcher:
    """Keeps what it sees, and sets what it was given at one of its looks."""

    every_us: float = 20
    delay_us: float = 0
    sketch: Sketch | None = None
    at_look: int = -1
    change: Change = field(default_factory=Change)
    begins_with: Change = field(default_factory=Change)
    seen: list[Seen] = field(default_factory=list)

    def begin(self, given: Given) -> Change:
        return self.begins_with

    def tune(self, seen: Seen) -> Change:
        self.seen.append(seen)
        return self.change if len(self.seen) - 1 == self.at_look else Change()


@dataclass(frozen=True)
class Made:
    """A tuner that is there already."""

    tuner: Tuner

    def build(self) -> Tuner:
        return self.tuner


def with_tuner(engine: FabricEngine, tuner: Tuner) -> FabricEngine:
    return replace(engine, tuner=Made(tuner))
