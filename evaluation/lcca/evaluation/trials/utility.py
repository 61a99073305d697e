"""What a trial is scored by: the contract of every utility.

A utility is a function of a trial's record alone. To add one, write a class that keeps this contract, let it pass
`tests/evaluation/trials/utility_conformance.py` and name it in `lcca.evaluation.trials.utilities`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus.record import Record

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TrialScores:
    """Per trial: the mean utility over counted senders (bits, NaN without any), and who counted."""

    score_bits: Floats
    starved: NDArray[np.int64]
    senders_counted: NDArray[np.int64]


def unfinished_columns(column: str) -> tuple[str, str, str]:
    """Return the columns beside one of scores: how much is scored, how much of that is unfinished, the time lacked."""
    stem = column.removesuffix("_bits")
    return f"{stem}_of", f"{stem}_unfinished", f"{stem}_lacking_us"


class Utility(Protocol):
    """Scores trials; a higher score is better. Equal utilities compare equal, and can be pickled."""

    @property
    def name(self) -> str:
        """How configurations and reports call it."""

    @property
    def unit(self) -> str:
        """Unit of scores and of their differences."""

    @property
    def keeps(self) -> frozenset[str]:
        """What a simulator must keep for it beside the totals: of "flows", "delays"."""

    @property
    def worst(self) -> float:
        """The score that a failed trial counts as where a search needs one: no trial scores less."""

    def score(self, record: Record) -> TrialScores:
        """Score every trial of a batch: a trial's score does not depend on the trials beside it."""

    def percent(self, difference: float) -> float:
        """Return a difference of scores as the change in per cent of what users pay for that is worth as much."""

    def difference(self, percent: float) -> float:
        """Return the difference of scores that such a change is worth: the inverse of `percent`."""

    def margin(self, percent: float) -> float:
        """Return the difference of scores below which no change of this size, in per cent, of anything scored hides."""

    def content(self) -> dict[str, Any]:
        """Return everything but the name that decides scores, as JSON values: it goes into hashes."""
