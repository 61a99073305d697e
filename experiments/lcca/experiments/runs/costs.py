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
from lcca.gym_envs.processes.pool import cpu_s_of_trials


@dataclass
class Cost:
    """The cost of one phase."""

    name: str
    cpu_s: float = 0.0
    wall_s: float = 0.0
    trials: int = 0
    packets: int = 0


class Costs:
    """The costs of a run, kept in its folder; without one, in memory. A killed run loses what it had not noted.

    Raises:
        InputError: what is noted already is damaged.
    """

    def __init__(self, folder: RunFolder[Any] | None) -> None:
        self._folder = folder
        before = (read_costs(folder.path) if folder else None) or {"phases": []}
        self._phases = {cost["name"]: Cost(**cost) for cost in before["phases"]}

    @contextmanager
    def phase(self, name: str) -> Iterator[Cost]:
        """Measure a stretch of a phase; the caller adds its trials and packets to what is yielded."""
        cost = self.total(name)
        cpu, wall = _cpu_s(), time.monotonic()
        try:
            yield cost
        finally:
            cost.cpu_s = round(cost.cpu_s + _cpu_s() - cpu, 3)
            cost.wall_s = round(cost.wall_s + time.monotonic() - wall, 3)
            self._note()

    def add(self, name: str, more: Cost) -> None:
        """Add what another process spent on a phase."""
        cost = self.total(name)
        cost.cpu_s = round(cost.cpu_s + more.cpu_s, 3)
        cost.wall_s = round(cost.wall_s + more.wall_s, 3)
        cost.trials += more.trials
        cost.packets += more.packets
        self._note()

    def total(self, name: str) -> Cost:
        """Return what a phase has cost so far."""
        return self._phases.setdefault(name, Cost(name))

    def _note(self) -> None:
        if self._folder is not None:
            content = {"phases": [asdict(c) for c in self._phases.values()]}
            write_state(self._folder.path / layout.COSTS, content)


def _cpu_s() -> float:
    """Return the CPU seconds of this process and of trials in others; those of trainings elsewhere are added."""
    return time.process_time() + cpu_s_of_trials()
