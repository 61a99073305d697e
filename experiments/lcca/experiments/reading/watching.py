"""What a run is doing, read from its folder alone: in another terminal, or on another machine that shares it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.loaded_run import read_costs, run_manifest
from lcca.experiments.runs.folder import is_locked
from lcca.experiments.runs.manifest import COMPLETE
from lcca.experiments.runs.remaining import words_for_time
from lcca.inputs.files import open_regular

LINES = 8
"""Of the log."""

TAIL_BYTES = 1 << 14

SILENT_S = 600.0
"""A run whose process cannot be seen counts as stopped when it has said nothing for so long."""


@dataclass(frozen=True)
class Glance:
    """A run at a moment.

    Attributes:
        kind: of run.
        name: of its configuration.
        state: that its manifest tells.
        running: whether a process of this machine works on it.
        silent_s: seconds since it last wrote to its log; None where there is none.
        phases: what each phase has cost so far.
        log: its last lines.
    """

    kind: str
    name: str
    state: str
    running: bool
    silent_s: float | None
    phases: list[dict[str, Any]]
    log: list[str]

    @property
    def ended(self) -> bool:
        """Whether nothing more is to come, as far as can be told."""
        silent = self.silent_s is None or self.silent_s > SILENT_S
        return not self.running and (self.state == COMPLETE or silent)

    def words(self) -> str:
        """Return what is seen: a line for the run, one for each phase, and the last lines of its log."""
        lines = [f"lcca {self.kind} {self.name}: {self.state}{self._process}"]
        for each in self.phases:
            cpu, wall = (words_for_time(each[name], each[name]).removeprefix("about ") for name in ("cpu_s", "wall_s"))
            lines.append(f"  {each['name']}: {each['trials']:,} trials, {cpu} of CPU in {wall}")
        return "\n".join([*lines, *self.log])

    @property
    def _process(self) -> str:
        if self.running or self.state == COMPLETE:
            return ", running" if self.running else ""
        ago = "" if self.silent_s is None else f"; last heard of {words_for_time(self.silent_s, self.silent_s)} ago"
        return f", and no process of this machine works on it{ago}"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


def glance(folder: Path, now: Callable[[], float] = time.time) -> Glance:
    """Return what the run in a folder is doing.

    Raises:
        InputError: there is no run.
    """
    manifest = run_manifest(folder)
    phases = (read_costs(folder) or {}).get("phases", [])
    written, lines = _last_lines(folder / layout.LOG)
    silent = None if written is None else max(now() - written, 0.0)
    return Glance(manifest["kind"], manifest["name"], manifest["state"], is_locked(folder), silent, phases, lines)


def _last_lines(log: Path) -> tuple[float | None, list[str]]:
    """Return when a log was last written (seconds since 1970; None without one), and its last lines."""
    if not os.path.lexists(log):
        return None, []
    with open_regular(log, links=False) as file:
        there = os.fstat(file.fileno())
        file.seek(max(there.st_size - TAIL_BYTES, 0))
        return there.st_mtime, file.read(TAIL_BYTES).decode(errors="replace").splitlines()[-LINES:]
