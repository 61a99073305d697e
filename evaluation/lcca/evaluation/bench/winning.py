"""How often a control is among the winners, as what a trial scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lcca.evaluation.trials.utility import TrialScores
from lcca.inputs.errors import InputError
from lcca.remy_plus.record import Record


@dataclass(frozen=True)
class WinningRate:
    """The share of a scenario's intervals that a control wins; a `Utility` of a benchmark's trials alone.

    Differences and margins are in percentage points of the winning rate: 3 % is a rate of 0.41 instead of 0.38.
    """

    name: str = "winning rate"
    unit: str = "share of intervals won"
    keeps: frozenset[str] = frozenset()
    worst: float = 0.0

    def score(self, record: Record) -> TrialScores:
        """Refuse: who wins depends on the other controls.

        Raises:
            InputError: always.
        """
        raise InputError(f"{self.name}: scores the trials of a benchmark; use --bench")

    def percent(self, difference: float) -> float:
        """Return a difference of rates in percentage points."""
        return 100 * difference

    def difference(self, percent: float) -> float:
        """Return what so many percentage points are as a difference of rates."""
        return percent / 100

    def margin(self, percent: float) -> float:
        """Return the same."""
        return self.difference(percent)

    def content(self) -> dict[str, Any]:
        """Return nothing: the benchmark says what decides who wins."""
        return {}
