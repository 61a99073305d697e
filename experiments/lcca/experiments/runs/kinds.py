"""The kinds of run: which files each must have to be complete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lcca.evaluation.trials import layout


@dataclass(frozen=True)
class Kind:
    """A kind of run.

    Attributes:
        name: the command's.
        results: files without which a run is not complete.
        module: that makes the results; the command's recipe unless given.
        libraries: that the results depend on: distributions by the names that they are imported by.
        grows: whether a run may get more trials later, if its rule is valid at any number of them.
    """

    name: str
    results: tuple[str, ...]
    module: str = ""
    libraries: Mapping[str, str] = field(default_factory=dict, hash=False)
    grows: bool = False

    @property
    def recipe(self) -> str:
        """The module that makes the results."""
        return self.module or f"lcca.experiments.recipes.{self.name}"


SWEEP = Kind(
    "sweep",
    (layout.CONFIG, layout.LEARNING, layout.SUMMARY, layout.VERDICTS, layout.REPORT),
)
TUNE = Kind("tune", (layout.CONFIG, layout.SUMMARY, layout.POLICY, layout.CANDIDATES))
RANK = Kind(layout.RANK, (layout.CONFIG, layout.SUMMARY), grows=True)
COMPARE = Kind("compare", (layout.CONFIG, layout.SUMMARY), grows=True)
EVALUATE = Kind("evaluate", (layout.CONFIG, layout.SUMMARY))
AGREE = Kind("agree", (layout.CONFIG, layout.SUMMARY))
STUDY = Kind(layout.STUDY, (layout.CONFIG, layout.SUMMARY, layout.ANSWERS))
