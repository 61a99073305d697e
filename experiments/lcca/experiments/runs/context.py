"""What every phase of a run needs, in one object."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.runs.blocks import Phase
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.costs import Costs
from lcca.experiments.runs.folder import RunFolder
from lcca.experiments.runs.progress import Reporter

C = TypeVar("C", bound=RunConfig)
E = TypeVar("E")
E2 = TypeVar("E2")


@dataclass(frozen=True, eq=False)
class Run(Generic[C, E]):
    """One run while it goes on.

    Attributes:
        folder: everything that is kept.
        engine: the simulator of its trials.
        costs: of its phases.
        reporter: shows how far it is.
    """

    folder: RunFolder[C]
    engine: E
    costs: Costs
    reporter: Reporter

    @property
    def config(self) -> C:
        """The run's configuration."""
        return self.folder.config

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self.folder.path

    @property
    def trials(self) -> TrialStore:
        """The parts of its trials table."""
        return self.folder.trials

    def phase(self, name: str) -> Phase:
        """Return the trials of one of its phases."""
        return Phase(name, self.trials, self.costs)

    def on(self, engine: E2) -> Run[C, E2]:
        """Return the same run with another simulator of its trials."""
        return Run(self.folder, engine, self.costs, self.reporter)


@contextmanager
def opened(config: C, path: Path, *, resume: bool, quiet: bool = False) -> Iterator[Run[C, None]]:
    """Open the folder of a run, alone, and let it go at the end.

    Args:
        config: of the run; all that it names is read and checked already.
        path: of its folder.
        resume: whether a run may be there already.
        quiet: whether to leave progress out.

    Raises:
        InputError: as `RunFolder.open`.
    """
    folder = RunFolder.open(path, config, resume)
    reporter = None
    try:
        reporter = Reporter(path / layout.LOG, quiet)
        if folder.goes_on:
            complete = folder.complete
            say = reporter.show if complete else reporter.say  # the log of a complete run stays as it is
            words = "complete already; nothing to do" if complete else "goes on with the run that is there"
            say(f"{folder.path}: {words}")
            for warning in folder.warnings:
                say(f"warning: {warning}")
        yield Run(folder, None, Costs(folder), reporter)
    finally:
        if reporter is not None:
            reporter.close()
        folder.close()
