"""The trainer `rplus`: the R+ search, then polishing and growth of its table, step by step.

Every step draws networks of its own, named by the step, so a training can stop between two steps and go on later with
the same bits.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.policies.rules import NAMED, RuleTable, lifted
from lcca.trainers.base import Keeper, LearningRow, Task
from lcca.trainers.rplus.actions import first_table
from lcca.trainers.rplus.config import RplusConfig
from lcca.trainers.rplus.growth import Growth
from lcca.trainers.rplus.search import BEFORE_FIRST_SPLIT, Search
from lcca.trainers.rplus.state import SearchState
from lcca.trainers.search.trials import Effort, StepTrials, TrainingTrials, training_trials


class RplusTrainer:
    """A search, and a growth, that checkpoint after every step; see `lcca.trainers.base.Trainer`.

    Before its first split a search is the same whatever its signals are: that is the state that tasks share.
    """

    def __init__(
        self,
        task: Task,
        config: RplusConfig,
        engine: Engine,
        checkpoint: Path | None = None,
        keep: Keeper = lambda round_, policy: None,
        shared: Path | None = None,
    ) -> None:
        self.task = task
        self.config = config
        self.engine = engine
        self.checkpoint = checkpoint
        self.keep = keep
        # Pacing by signals, which not all have and headers round, is what searches do not share.
        self.shared = shared if config.pacing_of(task.signals) in NAMED else None
        self.state = self._begin()

    def _begin(self) -> SearchState:
        if self.checkpoint is not None and self.checkpoint.exists():
            return SearchState.load(self.checkpoint, self.task.identity)
        start = self.task.warm_start
        if start is not None:  # where trained rules are improved and the next split is due; rules by hand are not
            passes = self.config.passes if start.step else 0
            table = lifted(self._rules_of(start.policy), self.task.signals)
            state = SearchState(table, [passes] * len(table), table, pass_=passes, step=start.step)
        else:
            table = self._first_table()
            state = SearchState(table, [0] * len(table), table)
            if self.shared is not None and self.shared.exists() and self.config.rounds:
                return SearchState.load(self.shared, BEFORE_FIRST_SPLIT).with_one_rule(table)
        if self.config.polishes and (start is not None or not self.config.rounds):
            self._growth(state, Effort()).begin(larger=start is not None and start.step > 0)
        return state

    @property
    def trials(self) -> TrainingTrials:
        """What is learnt on."""
        return training_trials(self.task, self.engine)

    @property
    def done(self) -> bool:
        """Whether the training has ended."""
        return self.state.stage == "done"

    @property
    def used(self) -> int:
        """Trials or rounds so far, as the budget has it."""
        if self.config.budget_trials is not None:
            return self.state.trials
        return self.config.budget.amount if self.done else min(self.state.round, self.config.budget.amount - 1)

    @property
    def learning(self) -> list[LearningRow]:
        """One row per step."""
        return self.state.learning

    @property
    def policy(self) -> RuleTable:
        """The rules so far."""
        return self.state.table

    def step(self) -> None:
        """Take one step and checkpoint it. Stopped anywhere inside, the step is repeated with the same bits."""
        began, effort, state = time.process_time(), Effort(at_most=self._left), self.state
        rules, before = len(state.table), state.round
        phase = self._search(effort) if state.searches else self._growth(state, effort)
        kind, score = phase.step()
        state.step += 1
        state.trials += effort.trials
        state.packets += effort.packets
        state.cpu_s += time.process_time() - began
        round_ = max(before, state.round - 1)
        row = LearningRow(state.step, round_, kind, rules, score, state.trials, state.packets, round(state.cpu_s, 3))
        state.learning.append(row)
        self._go_on(effort, kept=kind == "compare" or state.round > before)
        if self.checkpoint is not None:
            state.save(self.checkpoint, self.task.identity)

    @property
    def _left(self) -> int | None:
        """How many trials the search, or all that follows it, may still take."""
        state, config = self.state, self.config
        budgets = [config.budget_trials, config.search_trials if state.searches else None]
        return min((each - state.trials for each in budgets if each is not None), default=None)

    def _go_on(self, effort: Effort, kept: bool) -> None:
        """End what has used up its budget; begin the growth after the search, and its next part after each part."""
        state, left = self.state, self._left
        spent = effort.spent or (state.searches and left is not None and left < 2 * self.config.networks)
        if spent and not kept:
            self.keep(state.round, state.table)
            state.round += 1
        if not (spent or kept) or (state.searches and not spent):
            return
        if self.config.polishes and not (spent and state.grows):
            self._growth(state, Effort()).begin()
        else:
            state.stage = "done"

    def _search(self, effort: Effort) -> Search:
        start = self.task.warm_start
        old = self._rules_of(start.policy).signals if start and self.state.round == 0 else ()
        new = np.array([name not in old for name in self.task.signals])
        parted = new if new.any() else ~new  # along all signals, but first after a start along those that are new
        shared = self.shared if start is None else None
        return Search(self.config, self.state, self._trials_of(self.state, effort), self.keep, parted, shared)

    def _growth(self, state: SearchState, effort: Effort) -> Growth:
        policies = [] if self.task.warm_start is None else [self.task.warm_start.policy]
        rivals = tuple(lifted(self._rules_of(each), self.task.signals) for each in [*policies, *self.task.rivals])
        begun = self.config.rounds or self.task.warm_start
        first = None if begun else self._first_table()
        return Growth(self.config, state, self._trials_of(state, effort), self.keep, rivals, first)

    def _first_table(self) -> RuleTable:
        return first_table(self.task.signals, self.config.pacing_of(self.task.signals), self.config.windows)

    def _rules_of(self, policy: Policy) -> RuleTable:
        """Return a policy to go on from, or to be a rival, which must be a table with windows as here."""
        if not isinstance(policy, RuleTable):
            raise InputError(f"warm start: a search goes on from a rule table, not from {type(policy).__name__}")
        if policy.windows != self.config.windows:
            raise InputError(f"warm start: its windows are {policy.windows}; set trainer.windows to {policy.windows}")
        return policy

    def _trials_of(self, state: SearchState, effort: Effort) -> StepTrials:
        return StepTrials(self.trials, state.step, effort)
