"""The numbers of rules that a growth passes through, once or from several starts, and the trials that each may take."""

from __future__ import annotations

from dataclasses import dataclass

from lcca.remy_plus.policies.rules import RuleTable
from lcca.trainers.rplus.config import RplusConfig, StartsConfig
from lcca.trainers.rplus.state import SearchState

SMALLEST = 3
"""Rules that each size counts on top of its own when the budget is shared: a first rule that is left where it began to
move costs all that grows from it (`benchmarks/README.md`, Polish)."""


@dataclass(frozen=True)
class Ladder:
    """Sets what a growth is to reach next.

    Attributes:
        config: of the training.
        state: where it stands.
        first: the rule that every start of `GrowConfig.starts` begins with; None where there is but one start.
    """

    config: RplusConfig
    state: SearchState
    first: RuleTable | None

    @property
    def starts_to_come(self) -> int:
        """How many starts come after this one."""
        return self._starts.number - len(self.state.starts) - 1 if self._starts else 0

    def go_on(self, larger: bool = False) -> bool:
        """Set the next number of rules and where its budget ends; return False if there is none.

        Args:
            larger: grow even if the table is as large as it was to become: to twice its rules then.
        """
        self._start_again()
        state, to_come, left = self.state, self._to_come(larger), self._left()
        if not to_come:
            return False
        state.wanted = to_come[0]
        share = (state.wanted + SMALLEST) / sum(each + SMALLEST for each in to_come)
        usual = self.config.polishing.trials_per_rule * state.wanted
        state.ends = state.trials + (usual if left is None else round(left * share))
        return True

    @property
    def _starts(self) -> StartsConfig | None:
        return self.config.grow.starts if self.config.grow and self.first else None

    def _start_again(self) -> None:
        """Put the table aside and begin anew with one rule, if this start has ended and is not the last."""
        state = self.state
        if self._starts and self.first and self.starts_to_come and state.wanted == self._starts.rules:
            state.starts.append(state.table)
            state.table, state.wanted, state.compared = self.first, 0, 0

    def _to_come(self, larger: bool) -> list[int]:
        """Return the numbers of rules that are to come: of this start, or of all."""
        rules, grow, before = len(self.state.table), self.config.grow, self.state.wanted
        if grow is None:
            return [] if before else [rules]
        most = self._starts.rules if self._starts and self._starting else grow.rules[-1]
        to_come = [each for each in grow.rules if before < each <= most and each >= rules + larger]
        return to_come or ([] if before else [rules * (1 + larger)])

    def _left(self) -> int | None:
        """Return how many trials are left for them."""
        budget = self.config.budget_trials
        if self._starts and self._starting:
            budget = (len(self.state.starts) + 1) * self._starts.trials
        return None if budget is None else budget - self.state.trials

    @property
    def _starting(self) -> bool:
        return self._starts is not None and self.state.wanted < self._starts.rules
