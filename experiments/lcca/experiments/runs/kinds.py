"""The kinds of run: which files each must have to be complete."""

from __future__ import annotations

from dataclasses import dataclass

from lcca.evaluation.trials import layout


@dataclass(frozen=True)
class Kind:
    """A kind of run.

    Attributes:
        name: the command's.
        results: files without which a run is not complete.
    """

    name: str
    results: tuple[str, ...]

    @property
    def recipe(self) -> str:
        """The module that makes the results, below that of experiments."""
        return "estimation.run" if self.name == "estimate" else f"recipes.{self.name}"


SWEEP = Kind(
    "sweep",
    (layout.CONFIG, layout.LEARNING, layout.SUMMARY, layout.VERDICTS, layout.REPORT),
)
ESTIMATE = Kind("estimate", (layout.CONFIG, layout.SUMMARY))
TUNE = Kind("tune", (layout.CONFIG, layout.SUMMARY, layout.POLICY, layout.CANDIDATES))
FABRIC_ACC = Kind("acc", (layout.CONFIG, layout.SUMMARY, layout.MODEL))
RANK = Kind(layout.RANK, (layout.CONFIG, layout.SUMMARY))
MAP = Kind(layout.MAP, (layout.CONFIG, layout.SUMMARY))
COMPARE = Kind("compare", (layout.CONFIG, layout.SUMMARY))
EVALUATE = Kind("evaluate", (layout.CONFIG, layout.SUMMARY))
AGREE = Kind("agree", (layout.CONFIG, layout.SUMMARY))
STRESS = Kind("stress", (layout.CONFIG, layout.SUMMARY))
ADOPT = Kind("adopt", (layout.CONFIG, layout.SUMMARY))
STUDY = Kind(layout.STUDY, (layout.CONFIG, layout.SUMMARY, layout.ANSWERS))
