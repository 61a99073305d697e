"""The trial cache: a benchmark's trials by what they are, so that a control that joins a ranking runs alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from lcca.experiments.runs.code_version import code_version
from lcca.experiments.runs.version import version
from lcca.inputs.errors import InputError
from lcca.inputs.files import check_writable, make_folder, read_checked, write_checked
from lcca.remy_plus.policies.policy import Policy
from lcca.studies.ccbench.description import Description
from lcca.studies.ccbench.scenario import Drawn, Measured, Runner

ENDING = ".trial"


@dataclass(frozen=True)
class CachedTrials:
    """Measures what nobody has measured before, and reads the rest; a `Runner`.

    A trial that failed is run again: what made ns-3 abort may be fixed in its libraries.

    Attributes:
        runner: measures.
        folder: has a file per trial; several rankings may share it, at once too. Names are hashes of all that a
            trial depends on, down to the code.
        modules: of the runner's simulator, whose code counts.

    Raises:
        InputError: the folder cannot be written.
    """

    runner: Runner
    folder: Path
    modules: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check the folder."""
        check_writable(self.folder, "choose another one for the trial cache")

    @property
    def name(self) -> str:
        """Of the simulator."""
        return self.runner.name

    def check(self, benchmark: Description, policy: Policy) -> None:
        """Check as the runner does."""
        self.runner.check(benchmark, policy)

    def cpu_s(self, benchmark: Description, policy: Policy, drawn: Drawn) -> float:
        """Run one trial; return the CPU seconds that it took."""
        return self.runner.cpu_s(benchmark, policy, drawn)

    def key(self, benchmark: Description, policy: Policy, drawn: Drawn) -> str:
        """Return the name of a trial, 24 hex digits."""
        own = self.runner.key(benchmark, policy, drawn)
        return hashlib.sha256(f"{self._code} {own}".encode()).hexdigest()[:24]

    def measure(self, benchmark: Description, asked: Sequence[tuple[Policy, Drawn]]) -> Iterator[tuple[int, Measured]]:
        """Yield trials that are there, then those that are not; each of these is kept as soon as it comes."""
        files = [self.folder / f"{self.key(benchmark, *each)}{ENDING}" for each in asked]
        there = {place: found for place, file in enumerate(files) if (found := _read(file)) is not None}
        yield from there.items()
        missing = [place for place in range(len(asked)) if place not in there]
        for turn, found in self.runner.measure(benchmark, [asked[place] for place in missing]):
            if not found.error:
                make_folder(self.folder)
                content = {"mbps": _listed(found.mbps), "delay_ms": _listed(found.delay_ms)}
                write_checked(files[missing[turn]], json.dumps(content).encode())
            yield missing[turn], found

    @cached_property
    def _code(self) -> str:
        return f"{version()} {code_version(self.modules)}"


def _read(file: Path) -> Measured | None:
    """Return a trial; None if it is not there or damaged, and then it is run again."""
    if not file.exists():
        return None
    try:
        content = json.loads(read_checked(file, "it is run again"))
    except InputError:
        return None
    mbps, delay_ms = (np.array(content[name], dtype=np.float64) for name in ("mbps", "delay_ms"))
    return Measured(mbps, delay_ms)


def _listed(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[float | None]:
    """Return values for JSON, which has no NaN."""
    return [None if np.isnan(each) else float(each) for each in values]
