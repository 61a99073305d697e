"""The networks of one step of a search, and what policies score on them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.evaluation.trials.scoring import trial_scores
from lcca.evaluation.trials.utility import Utility
from lcca.remy_plus import _core
from lcca.remy_plus.engine import Engine, compile_policy
from lcca.remy_plus.network import NetworkList
from lcca.remy_plus.policies.policy import with_header
from lcca.remy_plus.policies.rules import RuleTable
from lcca.remy_plus.record import Record
from lcca.trainers.base import Task, first_network
from lcca.trainers.rplus.actions import Action
from lcca.trainers.rplus.lookups import Lookups, look_up

Floats = NDArray[np.float64]


class BudgetSpent(Exception):
    """The next batch of trials would exceed what may be run."""


@dataclass
class Effort:
    """What was simulated so far, and how many trials may be: any number where `most` is None."""

    trials: int = 0
    packets: int = 0
    most: int | None = None
    spent: bool = False

    def affordable(self, trials: int) -> int:
        """Return how many of these trials may still be run."""
        return trials if self.most is None else min(trials, self.most - self.trials)

    def check(self, trials: int) -> None:
        """Raise `BudgetSpent` unless a batch of so many trials may be run; from then on the budget counts as spent."""
        if self.affordable(trials) < trials:
            self.spent = True
            raise BudgetSpent


@dataclass(frozen=True)
class Sample:
    """Networks that all candidates of a step meet, each with the same seed: common random numbers."""

    engine: Engine
    networks: NetworkList
    seed: int
    utility: Utility
    effort: Effort = field(default_factory=Effort)

    def __len__(self) -> int:
        """Return the number of networks."""
        return len(self.networks)

    def shortened(self, share: float) -> Sample:
        """Return the same networks with a share of the duration."""
        return replace(self, engine=replace(self.engine, duration=self.engine.duration * share))

    def baseline(self, policy: _core.Policy) -> tuple[Floats, NDArray[np.int64]]:
        """Score one rule table on all networks.

        Returns:
            (networks,) scores in bits, and (networks, rules) look-ups.
        """
        index = np.arange(len(self))
        record = self._run([policy], np.zeros(len(self)), index, keep_rule_hits=True)
        return trial_scores(record, self.utility), np.asarray(record["trial_rule_hits"], dtype=np.int64)

    def scores(self, policies: list[_core.Policy], networks: list[NDArray[np.int64]]) -> list[Floats]:
        """Score policy i on the networks ``networks[i]``, all in one batch.

        Raises:
            BudgetSpent: there are more of them than may be run.
        """
        counts = [len(each) for each in networks]
        if not sum(counts):
            return [np.empty(0) for _ in counts]
        record = self._run(policies, np.repeat(np.arange(len(policies)), counts), np.concatenate(networks))
        return np.split(trial_scores(record, self.utility), np.cumsum(counts)[:-1])

    def each_once(self, policies: list[_core.Policy], networks: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
        """Score policy i on network ``networks[i]``; return (policies,) scores and (policies, rules) look-ups.

        Raises:
            BudgetSpent: there are more of them than may be run.
        """
        record = self._run(policies, np.arange(len(policies)), networks, keep_rule_hits=True)
        return trial_scores(record, self.utility), np.asarray(record["trial_rule_hits"], dtype=np.int64)

    def look_ups(self, policy: _core.Policy, table: RuleTable) -> Lookups:
        """Return what the rules of a table see on all networks.

        Raises:
            BudgetSpent: that takes more trials than may be run.
        """
        self.effort.check(len(self))
        self.effort.trials += len(self)
        return look_up(self.engine, policy, table, self.networks.networks, self.seed)

    def cuts(self, policy: _core.Policy, rule: int, signals: tuple[str, ...]) -> Floats:
        """Return where to cut one rule's box; see `Engine.cuts`, which needs three runs at most.

        Raises:
            BudgetSpent: they are more than may be run.
        """
        everyone = np.arange(len(self))
        self.effort.check(3 * len(self))
        self.effort.trials += 3 * len(self)
        return self.engine.cuts(policy, self.networks, everyone, np.full(len(self), self.seed), rule, signals)

    def _run(
        self,
        policies: list[_core.Policy],
        policy: ArrayLike,
        network: NDArray[np.int64],
        keep_rule_hits: bool = False,
    ) -> Record:
        self.effort.check(len(network))
        seeds = np.full(len(network), self.seed, dtype=np.uint64)
        record = self.engine.run(policies, self.networks, policy, network, seeds, keep_rule_hits=keep_rule_hits)
        self.effort.trials += record.trials
        self.effort.packets += record.packets
        return record


@dataclass(frozen=True)
class Samples:
    """Draws the networks of one step of a training.

    Attributes:
        engine: runs their trials.
        task: says space, header, utility and seed.
        step: names the networks: no two steps share any.
        effort: of the step.
    """

    engine: Engine
    task: Task
    step: int
    effort: Effort

    def draw(self, count: int, skipped: int = 0) -> Sample:
        """Draw networks of the step after the first `skipped` ones, which are whole blocks."""
        space, seed = self.task.space, self.task.seed
        networks = NetworkList(space.draw(seed, count, first_id=first_network(space, self.step) + skipped))
        return Sample(self.engine, networks, seed, self.task.utility, self.effort)

    def compiled(self, table: RuleTable) -> _core.Policy:
        """Return the engine's form of a table, with the task's header."""
        return compile_policy(with_header(table, self.task.header))


class CandidateScores:
    """Scores of candidate actions for one rule on the networks where the rule is used.

    Where the current table never looks the rule up, any other action of it gives the same run, bit for bit: those
    networks need no trial and change no comparison. "The first networks" below are the first of the used ones.

    Args:
        sample: the step's networks.
        policy: the current table.
        rule: the rule whose action is searched.
        current: its action.
        scores: (networks,) scores of the current table.
        rule_hits: (networks,) look-ups of the rule under the current table.
    """

    def __init__(
        self,
        sample: Sample,
        policy: _core.Policy,
        rule: int,
        current: Action,
        scores: Floats,
        rule_hits: NDArray[np.int64],
    ) -> None:
        self.sample = sample
        self.used = np.flatnonzero(rule_hits > 0)
        self._policy = policy
        self._rule = rule
        self._unused_sum = float(scores[rule_hits == 0].sum())
        self._known: dict[Action, Floats] = {current: scores[self.used]}

    def __len__(self) -> int:
        """Return the number of networks where the rule is used."""
        return len(self.used)

    def mean(self, action: Action) -> float | None:
        """Return the mean over all networks of the sample, or None where it is not known."""
        known = self._known.get(action)
        if known is None or len(known) < len(self):
            return None
        return (float(known.sum()) + self._unused_sum) / len(self.sample)

    def first(self, actions: list[Action], networks: int) -> Floats:
        """Return (actions, networks) scores on the first networks, simulating what is not known yet."""
        missing = [a for a in actions if len(self._known.get(a, ())) < networks]
        wanted = [self.used[len(self._known.get(a, ())) : networks] for a in missing]
        found = self.sample.scores([self.policy(a) for a in missing], wanted)
        for action, scores in zip(missing, found, strict=True):
            self._known[action] = np.concatenate([self._known.get(action, np.empty(0)), scores])
        return np.stack([self._known[a][:networks] for a in actions])

    def policy(self, action: Action) -> _core.Policy:
        """Return the policy in which the rule has this action."""
        return self._policy.with_action(self._rule, *action)
