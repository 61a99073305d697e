"""The trials that a search learns from, on networks or on a fabric, and what policies score on them.

Trials have numbers, and what a number means follows from the task alone: all policies meet the same trials, and a step
that was cut short meets them again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.fabric.space import FabricSpace, NumberedTrial
from lcca.evaluation.fabric.trials import FabricTrial, run_fabric_trial
from lcca.evaluation.scenarios.networks import DrawnNetworks
from lcca.evaluation.trials.blocks import InBlocks
from lcca.evaluation.trials.ratio import Ratio
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.evaluation.trials.utility import Utility
from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.formulas import places
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.fabric.engine import Compiled, FabricEngine, compiled
from lcca.remy_plus.network import NetworkList, compile_network
from lcca.remy_plus.policies.policy import Policy, compile_policy, looking_at, with_header
from lcca.remy_plus.policies.rules import CUT_STEP, RuleTable, one_rule
from lcca.remy_plus.switches.transports import Transport
from lcca.trainers.base import Task, first_network
from lcca.workers.pool import Threads

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NO_HITS: Ints = np.empty((0, 0), dtype=np.int64)


class BudgetSpent(Exception):
    """The next batch of trials would exceed what may be run."""


@dataclass
class Effort:
    """What was simulated so far, and how many trials may be: any number where `at_most` is None."""

    trials: int = 0
    packets: int = 0
    at_most: int | None = None
    spent: bool = False

    def affordable(self, trials: int) -> int:
        """Return how many of these trials may still be run."""
        return trials if self.at_most is None else min(trials, self.at_most - self.trials)

    def take(self, trials: int) -> None:
        """Count a batch of trials that is about to be run.

        Raises:
            BudgetSpent: it may not be run; from then on the budget counts as spent.
        """
        if self.affordable(trials) < trials:
            self.spent = True
            raise BudgetSpent
        self.trials += trials


EVERY = 4
"""One look-up in so many is kept: those of a flow follow each other closely."""

FEWEST = 32
"""A rule with fewer look-ups is not cut: its median would say little."""


@dataclass(frozen=True)
class Lookups:
    """Look-ups of some trials, at feedback of the current flow.

    Attributes:
        table: whose rules were looked up.
        rule: (n,) the rule.
        values: (n, k) what it saw, in single precision.
    """

    table: RuleTable
    rule: NDArray[np.int64]
    values: NDArray[np.float32]

    @property
    def use(self) -> Floats:
        """(rules,) share of the look-ups."""
        return np.bincount(self.rule, minlength=len(self.table)) / max(1, len(self.rule))

    def cuts(self) -> Floats:
        """Return (rules, k) values that part each rule's look-ups into halves, as evenly as they can be.

        A cut at c parts values below c from those at c or above: it is the median, or the next larger value where
        that is more even. NaN where all values are the same, where there are too few, or where the box is that thin.
        """
        cuts = np.full(self.table.lower.shape, np.nan)
        for rule in np.flatnonzero(np.bincount(self.rule, minlength=len(self.table)) >= FEWEST):
            cuts[rule] = [even_cut(values) for values in self.values[self.rule == rule].T]
        return np.where((self.table.lower < cuts) & (cuts < self.table.upper), cuts, np.nan)


def even_cut(values: NDArray[np.float32]) -> float:
    """Return the multiple of `CUT_STEP` that parts the values most evenly; NaN if none does.

    Values are rounded down to such multiples first, as `Engine.cuts` does. A signal that fades after an event, such as
    `loss`, soon has values below the smallest one; they count as 0.
    """
    ordered = np.sort(np.floor(values.astype(np.float64) / CUT_STEP) * CUT_STEP)
    count, median = len(ordered), ordered[(len(ordered) - 1) // 2]
    below, at_most = (int(np.searchsorted(ordered, median, side)) for side in ("left", "right"))
    if at_most < count and abs(2 * at_most - count) < abs(2 * below - count):
        median = ordered[at_most]
    elif not below:
        return float("nan")
    return float(median)


@dataclass(frozen=True)
class Sample(ABC):
    """Trials that all candidates of a step meet: common random numbers.

    Methods that run trials raise `BudgetSpent` where that takes more of them than may be run.

    Attributes:
        effort: counts what is run.
    """

    effort: Effort

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of trials."""

    @abstractmethod
    def shortened(self, share: float) -> Sample:
        """Return the same trials with a share of their duration.

        Raises:
            InputError: they have no shorter form.
        """

    @abstractmethod
    def look_ups(self, policy: _core.Policy, table: RuleTable) -> Lookups:
        """Run a table on all trials and return a part of what its rules see."""

    @abstractmethod
    def cuts(self, policy: _core.Policy, rule: int, signals: Sequence[str]) -> Floats:
        """Return, for each signal, where to cut one rule's box so that all its look-ups fall into halves.

        A cut at c parts the values below c from those at c or above. NaN where all values are the same, or where the
        rule is never used.
        """

    def baseline(self, policy: _core.Policy) -> tuple[Floats, Ints]:
        """Return (trials,) scores in bits and (trials, rules) look-ups of one rule table."""
        return self._score([policy], np.zeros(len(self), dtype=np.int64), np.arange(len(self)), True)

    def each_once(self, policies: Sequence[_core.Policy], trials: Ints) -> tuple[Floats, Ints]:
        """Score policy i on trial ``trials[i]``; return (policies,) scores and (policies, rules) look-ups."""
        return self._score(policies, np.arange(len(policies)), trials, True)

    def scores(self, policies: Sequence[_core.Policy], trials: Sequence[Ints]) -> list[Floats]:
        """Score policy i on the trials ``trials[i]``, all in one batch."""
        counts = [len(each) for each in trials]
        if not sum(counts):
            return [np.empty(0) for _ in counts]
        scores, _ = self._score(policies, np.repeat(np.arange(len(policies)), counts), np.concatenate(trials), False)
        return np.split(scores, np.cumsum(counts)[:-1])

    def _score(
        self, policies: Sequence[_core.Policy], policy: Ints, trial: Ints, keep_rule_hits: bool
    ) -> tuple[Floats, Ints]:
        self.effort.take(len(trial))
        scores, rule_hits, packets = self._run(policies, policy, trial, keep_rule_hits)
        self.effort.packets += packets
        return scores, rule_hits

    @abstractmethod
    def _run(
        self, policies: Sequence[_core.Policy], policy: Ints, trial: Ints, keep_rule_hits: bool
    ) -> tuple[Floats, Ints, int]:
        """Run policy ``policies[policy[i]]`` on trial ``trial[i]``, for all i.

        Args:
            policies: compiled, with equally many rules where hits are kept.
            policy: (n,) index into policies.
            trial: (n,) index into these trials, from 0.
            keep_rule_hits: whether look-ups are counted.

        Returns:
            (n,) scores in bits, where a trial in which nobody sends counts 0 for every policy alike; (n, rules)
            look-ups, without rows where they are not counted; packets that were delivered.
        """


@dataclass(frozen=True)
class TrainingTrials(ABC):
    """Where the trials of a training come from.

    Attributes:
        task: of the training; by its seed trials are drawn.
        engine: runs the trials; on a fabric nothing but its threads counts.
    """

    task: Task
    engine: Engine

    @abstractmethod
    def draw(self, count: int, first: int, effort: Effort | None = None) -> Sample:
        """Return trials first … first + count − 1."""

    @abstractmethod
    def compiled(self, policy: Policy) -> _core.Policy:
        """Return the simulator's form of a policy, with the task's header."""


@dataclass(frozen=True)
class StepTrials:
    """Draws the trials of one step of a training: no two steps share any.

    Attributes:
        source: where they come from.
        step: its number.
        effort: of the step.
    """

    source: TrainingTrials
    step: int
    effort: Effort

    @property
    def space(self) -> InBlocks:
        """What the trials are drawn from."""
        return self.source.task.space

    def draw(self, count: int, skipped: int = 0) -> Sample:
        """Draw trials of the step after the first `skipped` ones, which are whole blocks."""
        return self.source.draw(count, first_network(self.space, self.step) + skipped, self.effort)

    def compiled(self, policy: Policy) -> _core.Policy:
        """Return the simulator's form of a policy, with the task's header."""
        return self.source.compiled(policy)


def training_trials(task: Task, engine: Engine, over: Transport | None = None) -> TrainingTrials:
    """Return the trials that a task is learnt on; `over`: the transport whose ways policies choose.

    Raises:
        InputError: a utility that a fabric does not score.
    """
    if isinstance(task.space, FabricSpace):
        return FabricTraining(task, engine, task.space, fabric_utility(task.utility.name), over)
    return NetworkTraining(task, engine, task.space)


# --- on networks, in the packet engine


@dataclass(frozen=True)
class NetworkTraining(TrainingTrials):
    """Trial k is on network k of the space; all of them have the task's seed."""

    space: DrawnNetworks

    def draw(self, count: int, first: int, effort: Effort | None = None) -> NetworkSample:
        """See `TrainingTrials`."""
        networks = NetworkList(self.space.draw(self.task.seed, count, first_id=first))
        return NetworkSample(effort or Effort(), self.engine, networks, self.task.seed, self.task.utility)

    def compiled(self, policy: Policy) -> _core.Policy:
        """See `TrainingTrials`."""
        return compile_policy(with_header(policy, self.task.header))


@dataclass(frozen=True)
class NetworkSample(Sample):
    """Networks, each with the same seed."""

    engine: Engine
    networks: NetworkList
    seed: int
    utility: Utility

    def __len__(self) -> int:
        """Return the number of networks."""
        return len(self.networks)

    def shortened(self, share: float) -> NetworkSample:
        """See `Sample`."""
        return replace(self, engine=replace(self.engine, duration=self.engine.duration * share))

    def look_ups(self, policy: _core.Policy, table: RuleTable) -> Lookups:
        """See `Sample`."""
        self.effort.take(len(self))
        rules, values = _core.look_ups(
            policy,
            self.networks.compiled(compile_network),
            self.seed,
            duration=self.engine.duration,
            model=self.engine.model.parts(),
            axes=list(table.signals),
            every=EVERY,
        )
        return Lookups(table, rules, values)

    def cuts(self, policy: _core.Policy, rule: int, signals: Sequence[str]) -> Floats:
        """See `Sample`; takes up to three runs (`Engine.cuts`)."""
        self.effort.take(3 * len(self))
        everyone = np.arange(len(self))
        return self.engine.cuts(policy, self.networks, everyone, self._seeds(len(self)), rule, signals)

    def _run(
        self, policies: Sequence[_core.Policy], policy: Ints, trial: Ints, keep_rule_hits: bool
    ) -> tuple[Floats, Ints, int]:
        seeds = self._seeds(len(trial))
        record = self.engine.run(policies, self.networks, policy, trial, seeds, keep_rule_hits=keep_rule_hits)
        hits = np.asarray(record["trial_rule_hits"], dtype=np.int64) if keep_rule_hits else NO_HITS
        scores = np.nan_to_num(self.utility.score(record).score_bits, nan=0.0)  # nobody sends: no policy is better
        return scores, hits, record.packets

    def _seeds(self, count: int) -> NDArray[np.uint64]:
        return np.full(count, self.seed, dtype=np.uint64)


# --- on a fabric


@dataclass(frozen=True)
class FabricTraining(TrainingTrials):
    """Trial k is trial k of the space by the task's seed."""

    space: FabricSpace
    utility: Ratio
    over: Transport | None

    def draw(self, count: int, first: int, effort: Effort | None = None) -> FabricSample:
        """See `TrainingTrials`."""
        trials = self.space.draw(self.task.seed, count, first)
        form = replace(self._form(looking_at(self.task.signals)), over=self.over)
        return FabricSample(effort or Effort(), trials, self.utility, form, self.engine.jobs)

    def compiled(self, policy: Policy) -> _core.Policy:
        """See `TrainingTrials`."""
        return self._form(policy).policy

    def _form(self, policy: Policy) -> Compiled:
        return compiled(with_header(policy, self.task.header), self.space.scenarios[0].settings())


@dataclass(frozen=True)
class FabricSample(Sample):
    """Flows of some seeds; `form` is how policies see the fabric, whatever their rules."""

    trials: Sequence[NumberedTrial]
    utility: Ratio
    form: Compiled
    jobs: int

    def __len__(self) -> int:
        """Return the number of trials."""
        return len(self.trials)

    def shortened(self, share: float) -> FabricSample:
        """See `Sample`."""
        raise InputError("trainer.prune: trials on a fabric have no shorter form; set it to false")

    def look_ups(self, policy: _core.Policy, table: RuleTable) -> Lookups:
        """See `Sample`."""
        return self._look_ups(policy, table, EVERY)

    def cuts(self, policy: _core.Policy, rule: int, signals: Sequence[str]) -> Floats:
        """See `Sample`; all look-ups of one run are kept."""
        seen = self._look_ups(policy, one_rule(tuple(signals)), 1)
        values = seen.values[seen.rule == rule]
        return np.array([even_cut(each) if len(each) else np.nan for each in values.T])

    def _look_ups(self, policy: _core.Policy, table: RuleTable, every: int) -> Lookups:
        self.effort.take(len(self))
        records = [each.record for each in self._run_all([(policy, trial) for trial in self.trials], every)]
        rules, values = (np.concatenate([each[f"look_up_{name}"] for each in records]) for name in ("rule", "values"))
        return Lookups(table, rules, values[:, places(table.signals)])

    def _run(
        self, policies: Sequence[_core.Policy], policy: Ints, trial: Ints, keep_rule_hits: bool
    ) -> tuple[Floats, Ints, int]:
        pairs = [(policies[which], self.trials[number]) for which, number in zip(policy, trial, strict=True)]
        ran = self._run_all(pairs)
        hits = np.stack([each.record["rule_hits"] for each in ran]) if keep_rule_hits else NO_HITS
        # Without a flow that counts there is nothing to score, for all policies alike: no difference comes from there.
        scores = np.nan_to_num(np.array([each.score(self.utility) for each in ran]), nan=0.0)
        return scores, hits, sum(each.packets for each in ran)

    def _run_all(self, pairs: Sequence[tuple[_core.Policy, NumberedTrial]], keep_every: int = 0) -> list[FabricTrial]:
        def run(policy: _core.Policy, trial: NumberedTrial) -> FabricTrial:
            form = replace(self.form, policy=policy, keep_every=keep_every)
            engine = FabricEngine(form, settings=trial.scenario.settings())
            return run_fabric_trial(trial.scenario, "policy", engine, trial.seed, trial.flows)

        return Threads(self.jobs).calls(partial(run, *pair) for pair in pairs)
