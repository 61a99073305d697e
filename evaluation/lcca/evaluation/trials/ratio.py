"""Utilities that score a trial by −log2 of something positive that is better small, or log2 of what is better large."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from lcca.evaluation.trials.outcome import Outcome
from lcca.evaluation.trials.utility import TrialScores
from lcca.inputs.errors import InputError
from lcca.remy_plus.record import Record

WORST_BITS = -20.0
"""No flow or trial counts as less: a slowdown of a million, a time of 1,000 s, a queue of 1.6 GB."""


class Ratio(ABC):
    """A utility that scores trials on a fabric, some of them those on networks too; one bit is a factor of two.

    Attributes:
        name: how configurations and reports call it.
        keeps: what a simulator must keep for it.
        measure: what is scored, in words.
        large: whether much of it is better.
        measured_in: unit of what is scored; nothing for a ratio.
        from_bytes: smallest size of the flows that count.
        below_bytes: the flows that count are smaller.
        of_rounds: whether it scores rounds of flows.
        of_ports: whether it scores ports rather than flows.
    """

    name: str
    keeps: ClassVar[frozenset[str]] = frozenset()
    measure: ClassVar[str]
    large: ClassVar[bool] = False
    measured_in: ClassVar[str] = ""
    from_bytes: float = 0.0
    below_bytes: float = math.inf
    of_rounds: ClassVar[bool] = False
    of_ports: ClassVar[bool] = False
    unit: ClassVar[str] = "bits"
    worst: ClassVar[float] = WORST_BITS

    def percent(self, difference: float) -> float:
        """Return by how many per cent the measure is larger on the worse side of a difference (if large the better)."""
        return 100 * math.expm1(math.log(2) * difference)

    def difference(self, percent: float) -> float:
        """Return the difference in bits that a change of the measure by some per cent is worth."""
        return math.log2(1 + percent / 100)

    def margin(self, percent: float) -> float:
        """Return the same: nothing but the measure is scored."""
        return self.difference(percent)

    def measured(self, bits: float) -> float:
        """Return what has a score: of a mean of scores the geometric mean, in `measured_in`."""
        return float(2.0 ** (bits if self.large else -bits))

    @abstractmethod
    def score_fabric(self, found: Outcome) -> float:
        """Return the score of a trial on a fabric, in bits; NaN where nothing counts."""

    def score(self, record: Record) -> TrialScores:
        """Score every trial of a record of networks.

        Raises:
            InputError: it does not tell what is scored.
        """
        raise InputError(f"{self.name}: scores trials on a fabric; use --fabric")

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Return everything but the name that decides scores, as JSON values."""
