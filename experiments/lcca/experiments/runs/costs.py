"""What a run cost: CPU and wall seconds, trials and packets per phase, summed over all its resumptions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from lcca.experiments.runs.folder import RunFolder, read_json
from lcca.inputs.errors import InputError


@dataclass
class Cost:
    """The cost of one phase."""

    name: str
    cpu_s: float = 0.0
    wall_s: float = 0.0
    trials: int = 0
    packets: int = 0


class Costs:
    """The costs of a run, kept in costs.json; without a folder, in memory. A killed run loses what it had not noted."""

    def __init__(self, folder: RunFolder | None) -> None:
        self._folder = folder
        before = _costs_so_far(folder.path / "costs.json") if folder else []
        self._phases = {cost.name: cost for cost in before}

    @contextmanager
    def phase(self, name: str) -> Iterator[Cost]:
        """Measure a stretch of a phase; the caller adds its trials and packets to what is yielded."""
        cost = self.total(name)
        cpu, wall = time.process_time(), time.monotonic()
        try:
            yield cost
        finally:
            cost.cpu_s = round(cost.cpu_s + time.process_time() - cpu, 3)
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
            self._folder.write_json("costs.json", {"phases": [asdict(c) for c in self._phases.values()]})


def _costs_so_far(file: Path) -> list[Cost]:
    if not file.exists():
        return []
    mend = "remove it: only the note of what the run has cost so far is lost"
    try:
        return [Cost(**cost) for cost in read_json(file, mend)["phases"]]
    except (KeyError, TypeError) as error:
        raise InputError(f"{file}: damaged ({error!r}); {mend}") from None
