"""What every phase of a run needs, in one object."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.runs.costs import Costs
from lcca.experiments.runs.folder import LockedFolder, RunConfig
from lcca.experiments.runs.progress import Reporter

C = TypeVar("C", bound=RunConfig)
E = TypeVar("E")


@dataclass(frozen=True, eq=False)
class Run(Generic[C, E]):
    """One run while it goes on.

    Attributes:
        folder: everything that is kept.
        engine: the simulator of its trials.
        costs: of its phases.
        reporter: shows how far it is.
    """

    folder: LockedFolder[C]
    engine: E
    costs: Costs
    reporter: Reporter

    @property
    def config(self) -> C:
        """The run's configuration."""
        return self.folder.config

    @cached_property
    def trials(self) -> TrialStore:
        """The parts of its trials table."""
        return TrialStore(self.folder.path / "trials")
