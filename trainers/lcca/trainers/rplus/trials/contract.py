"""What a search asks of the trials that it learns from.

They have numbers. What a number means follows from the source alone, so that all policies meet the same trials, and a
step that was cut short meets them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.trials.blocks import InBlocks
from lcca.remy_plus import _core
from lcca.remy_plus.policies.rules import RuleTable
from lcca.trainers.rplus.lookups import Lookups

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Ran(NamedTuple):
    """What a batch of trials gave.

    Attributes:
        scores: (trials,) in bits. A trial in which nobody sends counts 0 for every policy alike.
        rule_hits: (trials, rules) look-ups; nothing where they were not asked for.
        packets: delivered.
    """

    scores: Floats
    rule_hits: Ints | None
    packets: int


class DrawnTrials(Protocol):
    """Some trials that policies can be run on, again and again."""

    def __len__(self) -> int:
        """Return how many they are."""

    @property
    def runs_of_cuts(self) -> int:
        """How many runs of all trials `cuts` takes at most."""

    def run(self, policies: Sequence[_core.Policy], policy: Ints, trial: Ints, keep_rule_hits: bool) -> Ran:
        """Run policy ``policies[policy[i]]`` on trial ``trial[i]``, for all i.

        Args:
            policies: compiled, with equally many rules where hits are kept.
            policy: (n,) index into policies.
            trial: (n,) index into these trials, from 0.
            keep_rule_hits: whether look-ups are counted.
        """

    def look_ups(self, policy: _core.Policy, table: RuleTable) -> Lookups:
        """Run a table on all trials and return a part of what its rules see."""

    def cuts(self, policy: _core.Policy, rule: int, signals: Sequence[str]) -> Floats:
        """Return, for each signal, where to cut one rule's box so that all its look-ups fall into halves.

        A cut at c parts the values below c from those at c or above. NaN where all values are the same, or where the
        rule is never used.
        """

    def shortened(self, share: float) -> DrawnTrials:
        """Return the same trials with a share of their duration.

        Raises:
            InputError: they have no shorter form.
        """


class TrainingTrials(InBlocks, Protocol):
    """Where the trials of a training come from."""

    def draw(self, count: int, first: int) -> DrawnTrials:
        """Return trials first … first + count − 1."""

    def compiled(self, table: RuleTable) -> _core.Policy:
        """Return the simulator's form of a table, with the task's header."""
