"""What a run cost: CPU and wall seconds, trials and packets per phase, summed over all its resumptions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.loaded_run import read_costs
from lcca.evaluation.trials.stored import write_state
from lcca.experiments.runs.folder import RunFolder
from lcca.inputs.began import BEGAN
from lcca.workers.pool import cpu_s_of_trials

OTHER = "other"
"""What is no phase of trials: start, choices, verdicts, the report."""


@dataclass
class Cost:
    """The cost of one phase."""

    name: str
    cpu_s: float = 0.0
    wall_s: float = 0.0
    trials: int = 0
    packets: int = 0


class Costs:
    """The costs of a run, kept in its folder; without one, in memory.

    A killed run loses the seconds that it had not noted, but no trials of what is stored.

    Raises:
        InputError: what is noted already is damaged.
    """

    def __init__(self, folder: RunFolder[Any] | None) -> None:
        self._folder = folder
        before = (read_costs(folder.path) if folder else None) or {"phases": []}
        self._phases = {cost["name"]: Cost(**cost) for cost in before["phases"]}
        self._storing: dict[str, Any] = {}
        self._trained: dict[str, Cost] = {}
        began = BEGAN.get()
        self._last = _cpu_s() if began is None else began, time.monotonic()
        BEGAN.set(None)

    @contextmanager
    def phase(self, name: str) -> Iterator[Cost]:
        """Measure a stretch of a phase; the caller adds its trials and packets to what is yielded."""
        self._since(OTHER)
        try:
            yield self.total(name)
        finally:
            self._since(name)
            self._note()

    def note_rest(self) -> None:
        """Note what this process has spent outside of phases: its start, choices, verdicts, the report."""
        self._since(OTHER)
        self._note()

    def _since(self, name: str) -> None:
        """Count the time since the last call to a phase."""
        (cpu, wall), self._last = self._last, (_cpu_s(), time.monotonic())
        cost = self.total(name)
        cost.cpu_s = round(cost.cpu_s + self._last[0] - cpu, 3)
        cost.wall_s = round(cost.wall_s + self._last[1] - wall, 3)

    def add(self, name: str, more: Cost) -> None:
        """Add what another process spent on a phase."""
        cost = self.total(name)
        cost.cpu_s = round(cost.cpu_s + more.cpu_s, 3)
        cost.wall_s = round(cost.wall_s + more.wall_s, 3)
        cost.trials += more.trials
        cost.packets += more.packets
        self._note()

    def note_part(self, part: str, more: Cost) -> None:
        """Add the trials of a part that is stored next: they count once it is there (`read_costs`)."""
        self._storing = {"part": part, **asdict(more)}
        self.add(more.name, more)

    def trained(self, training: str, own: Cost) -> None:
        """Count at least what trainings that are done have run: a kill may have come between a step and its note."""
        self._trained[training] = own
        cost = self.total(own.name)
        more = sum(each.trials for each in self._trained.values()) - cost.trials
        if more > 0:
            packets = sum(each.packets for each in self._trained.values()) - cost.packets
            self.add(own.name, Cost(own.name, trials=more, packets=max(packets, 0)))

    def total(self, name: str) -> Cost:
        """Return what a phase has cost so far."""
        return self._phases.setdefault(name, Cost(name))

    def _note(self) -> None:
        if self._folder is not None:
            phases = sorted(self._phases.values(), key=lambda each: each.name == OTHER)
            content = {"phases": [asdict(each) for each in phases], "storing": self._storing}
            write_state(self._folder.path / layout.COSTS, content)


def _cpu_s() -> float:
    """Return the CPU seconds of this process and of trials in others; those of trainings elsewhere are added."""
    return time.process_time() + cpu_s_of_trials()
