"""The networks of one step of a search, and what policies score on them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from lcca.remy_plus import _core
from lcca.remy_plus.policies.rules import RuleTable
from lcca.trainers.base import first_network
from lcca.trainers.rplus.actions import Action
from lcca.trainers.rplus.lookups import Lookups
from lcca.trainers.rplus.trials.contract import DrawnTrials, Floats, Ints, Ran, TrainingTrials


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
    """Trials that all candidates of a step meet: common random numbers. A network below is the one of a trial."""

    trials: DrawnTrials
    effort: Effort = field(default_factory=Effort)

    def __len__(self) -> int:
        """Return the number of networks."""
        return len(self.trials)

    def shortened(self, share: float) -> Sample:
        """Return the same networks with a share of the duration."""
        return replace(self, trials=self.trials.shortened(share))

    def baseline(self, policy: _core.Policy) -> tuple[Floats, Ints]:
        """Score one rule table on all networks.

        Returns:
            (networks,) scores in bits, and (networks, rules) look-ups.
        """
        return self._with_hits([policy], np.zeros(len(self), dtype=np.int64), np.arange(len(self)))

    def scores(self, policies: list[_core.Policy], networks: list[Ints]) -> list[Floats]:
        """Score policy i on the networks ``networks[i]``, all in one batch.

        Raises:
            BudgetSpent: there are more of them than may be run.
        """
        counts = [len(each) for each in networks]
        if not sum(counts):
            return [np.empty(0) for _ in counts]
        found = self._run(policies, np.repeat(np.arange(len(policies)), counts), np.concatenate(networks))
        return np.split(found.scores, np.cumsum(counts)[:-1])

    def each_once(self, policies: list[_core.Policy], networks: Ints) -> tuple[Floats, Ints]:
        """Score policy i on network ``networks[i]``; return (policies,) scores and (policies, rules) look-ups.

        Raises:
            BudgetSpent: there are more of them than may be run.
        """
        return self._with_hits(policies, np.arange(len(policies)), networks)

    def look_ups(self, policy: _core.Policy, table: RuleTable) -> Lookups:
        """Return what the rules of a table see on all networks.

        Raises:
            BudgetSpent: that takes more trials than may be run.
        """
        self._take(len(self))
        return self.trials.look_ups(policy, table)

    def cuts(self, policy: _core.Policy, rule: int, signals: tuple[str, ...]) -> Floats:
        """Return where to cut one rule's box; see `DrawnTrials.cuts`.

        Raises:
            BudgetSpent: that takes more trials than may be run.
        """
        self._take(self.trials.runs_of_cuts * len(self))
        return self.trials.cuts(policy, rule, signals)

    def _take(self, trials: int) -> None:
        self.effort.check(trials)
        self.effort.trials += trials

    def _with_hits(self, policies: list[_core.Policy], policy: Ints, network: Ints) -> tuple[Floats, Ints]:
        found = self._run(policies, policy, network, keep_rule_hits=True)
        assert found.rule_hits is not None
        return found.scores, found.rule_hits

    def _run(self, policies: list[_core.Policy], policy: Ints, network: Ints, keep_rule_hits: bool = False) -> Ran:
        self._take(len(network))
        found = self.trials.run(policies, policy, network, keep_rule_hits)
        self.effort.packets += found.packets
        return found


@dataclass(frozen=True)
class Samples:
    """Draws the networks of one step of a training.

    Attributes:
        trials: where they come from.
        step: names the networks: no two steps share any.
        seed: of the training.
        effort: of the step.
    """

    trials: TrainingTrials
    step: int
    seed: int
    effort: Effort

    def draw(self, count: int, skipped: int = 0) -> Sample:
        """Draw networks of the step after the first `skipped` ones, which are whole blocks."""
        return Sample(self.trials.draw(count, first_network(self.trials, self.step) + skipped), self.effort)

    def compiled(self, table: RuleTable) -> _core.Policy:
        """Return the simulator's form of a table, with the task's header."""
        return self.trials.compiled(table)


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
        rule_hits: Ints,
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
