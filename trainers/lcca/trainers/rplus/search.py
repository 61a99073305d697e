"""The R+ search: improve the used rules, split the most used one, check for a regression; then the next round.

Where R+ and this search differ is in `docs/reproductions/rplus-search.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from lcca.evaluation.settling.rules import SettlingRule
from lcca.evaluation.settling.units import block_means
from lcca.evaluation.trials.blocks import Block, Decision, equal_blocks, run_blocks
from lcca.remy_plus import _core
from lcca.remy_plus.policies.rules import bisect
from lcca.trainers.base import Keeper
from lcca.trainers.rplus.actions import Action, Floats, action_of, candidates
from lcca.trainers.rplus.config import RacingConfig, RplusConfig
from lcca.trainers.rplus.state import SearchState
from lcca.trainers.search.trials import BudgetSpent, Ints, Sample, StepTrials

CHECKED_BLOCKS = 3
"""Blocks of networks between two looks of the regression check."""

BEFORE_FIRST_SPLIT = "before the first split"
"""Identity of a state that searches on other signals share."""

PRUNE_SHARE = 0.3
"""Share of the duration at which R+ scores candidates before it prunes."""

PRUNE_LOSS = 0.05
"""R+ keeps a short-run score that is at most this share worse than the score to beat."""


@dataclass
class Search:
    """The steps of a search; each changes the state. A network below is the one of a trial.

    Attributes:
        config: of the search.
        state: where it stands.
        trials: of this step.
        keep: takes the policy of a round.
        parted: (signals,) along which of them a split may cut.
        shared: file to leave the state before the first split in, if this step comes to it.
    """

    config: RplusConfig
    state: SearchState
    trials: StepTrials
    keep: Keeper
    parted: NDArray[np.bool_]
    shared: Path | None = None

    def step(self) -> tuple[str, float]:
        """Take one step and return its kind and score; a budget may cut it short, with the best so far."""
        return self._check() if self.state.stage == "check" else self._improve_or_split()

    def _improve_or_split(self) -> tuple[str, float]:
        """Improve the most-used rule that is due; split the most-used one where none is."""
        sample = self.trials.draw(self.trials.effort.affordable(self.config.networks))
        policy = self.trials.compiled(self.state.table)
        scores, rule_hits = sample.baseline(policy)
        rule = self._next_rule(rule_hits.sum(axis=0))
        if rule is None:
            self._split(sample, policy, int(np.argmax(rule_hits.sum(axis=0))))
            return "split", float(scores.mean())
        current = action_of(self.state.table, rule)
        best, score = self._climb(CandidateScores(sample, policy, rule, current, scores, rule_hits[:, rule]), current)
        self.state.table = self.state.table.with_action(rule, *best)
        self.state.generations[rule] = self.state.pass_ + 1
        return "improve", score

    def _next_rule(self, rule_hits: Ints) -> int | None:
        """Return the most-used rule that this pass has not improved; raise the pass while there is none."""
        while self.state.pass_ < self.config.passes:
            due = np.array(self.state.generations) <= self.state.pass_
            counts = np.where(due, rule_hits, 0)
            if counts.any():
                return len(counts) - 1 - int(np.argmax(counts[::-1]))  # of equals the later one, as in R+
            self.state.pass_ += 1
            self.state.generations = [max(g, self.state.pass_) for g in self.state.generations]
        return None

    def _climb(self, scores: CandidateScores, current: Action) -> tuple[Action, float]:
        """Move to the best candidate until there is no better one; return it and its mean score."""
        while True:
            grid = candidates(current, self.state.table.pacing_kind, self.config.optimise)
            try:
                if self.config.mode == "exact":
                    best = best_exact(scores, current, grid, self.config.prune)
                else:
                    best = best_racing(scores, current, grid, self.config.racing)
            except BudgetSpent:
                best = current
            if best == current:
                score = scores.mean(current)
                assert score is not None
                return current, score
            current = best

    def _split(self, sample: Sample, policy: _core.Policy, rule: int) -> None:
        """Cut a rule's box at the medians of what it saw, but in the last round, whose split would train nothing."""
        if self.shared is not None and self.state.round == 0 and not self.shared.exists():
            self.state.save(self.shared, BEFORE_FIRST_SPLIT)
        self.state.stage = "check"
        if self.state.round + 1 == self.config.rounds:
            return
        try:
            cuts = sample.cuts(policy, rule, self.state.table.signals)
        except BudgetSpent:
            return
        self.state.table = bisect(self.state.table, rule, np.where(self.parted, cuts, np.nan))

    def _check(self) -> tuple[str, float]:
        """Restore the round's first table if the new one is settled worse on fresh networks; begin the next round."""
        state = self.state
        worse, score = self._settled_worse()
        if worse:
            state.table = state.before
        self.keep(state.round, state.table)
        state.round += 1
        state.pass_ = 0
        state.generations = [0] * len(state.table)
        state.before = state.table
        state.stage = "improve" if state.round < self.config.rounds else "searched"
        return "check", score

    def _settled_worse(self) -> tuple[bool, float]:
        """Whether the new table is settled worse than the old one, and the mean score of the one to keep."""
        limit = self.trials.effort.affordable(2 * self.config.check_networks) // 2
        if not limit:
            return False, self.state.learning[-1].score_bits
        sample = self.trials.draw(limit)
        pair = [self.trials.compiled(table) for table in (self.state.before, self.state.table)]
        size = self.trials.space.block
        settling = SettlingRule().start()

        def run(block: Block) -> list[Floats]:
            return sample.scores(pair, [np.arange(block.first, block.end)] * 2)

        def decide(parts: Sequence[list[Floats]], _: int) -> Decision[bool]:
            old, new = parts[-1]
            verdict = settling.feed(block_means(new - old, size)).verdict
            return Decision(verdict.name == "worse", verdict.settled)

        parts, worse = run_blocks(equal_blocks(CHECKED_BLOCKS * size, limit), run, decide)
        old, new = (np.concatenate(scores) for scores in zip(*parts, strict=True))
        return worse, float((old if worse else new).mean())


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
        self, sample: Sample, policy: _core.Policy, rule: int, current: Action, scores: Floats, rule_hits: Ints
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
        known = {action: self._known.get(action, np.empty(0)) for action in actions}
        missing = [action for action in actions if len(known[action]) < networks]
        wanted = [self.used[len(known[action]) : networks] for action in missing]
        new = self.sample.scores([self.policy(action) for action in missing], wanted)
        for action, scores in zip(missing, new, strict=True):
            self._known[action] = np.concatenate([known[action], scores])
        return np.stack([self._known[action][:networks] for action in actions])

    def policy(self, action: Action) -> _core.Policy:
        """Return the policy in which the rule has this action."""
        return self._policy.with_action(self._rule, *action)


def _best_of(scores: CandidateScores, actions: list[Action]) -> Action:
    """Return the action with the best mean on all networks; the first unless one is strictly better."""
    return actions[int(np.argmax(scores.first(actions, len(scores)).mean(axis=1)))]


# --- choosing by racing: most candidates meet a few networks instead of all


def best_racing(scores: CandidateScores, current: Action, grid: list[Action], config: RacingConfig) -> Action:
    """Return the winner of the race, the current action unless a rival is strictly better on all networks.

    Each look drops a candidate that is as good as its rival with probability at most `alpha`, if it has one. Among
    many equals the leader is the luckiest and more are dropped; the cap on how many go on adds to that.
    """
    rivals = [action for action in grid if action != current]
    for networks in blocks(config, len(scores))[:-1]:
        matrix = scores.first([current, *rivals], networks)
        at_most = max(config.fewest, int(config.block_trials / networks))
        rivals = [rivals[i] for i in survivors(matrix, config.alpha, at_most)]
        if not rivals:
            return current
    return _best_of(scores, [current, *rivals])


def blocks(config: RacingConfig, networks: int) -> list[int]:
    """Return the numbers of networks at which candidates are compared, the last one all of them."""
    sizes = [min(config.first_block, networks)]
    while sizes[-1] < networks:
        sizes.append(min(math.ceil(sizes[-1] * config.growth), networks))
    return sizes


def survivors(matrix: Floats, alpha: float, at_most: int) -> list[int]:
    """Return which rivals go on, best first, as indices that do not count the current action.

    Args:
        matrix: (1 + rivals, networks) scores in bits; row 0 is the current action, which always stays.
        alpha: level of the one-sided paired t-test against the leader.
        at_most: how many may go on.
    """
    means = matrix.mean(axis=1)
    leader = int(np.argmax(means))
    difference = matrix - matrix[leader]
    error = difference.std(axis=1, ddof=1) / math.sqrt(matrix.shape[1])
    reach = means - means[leader] + stdtrit(matrix.shape[1] - 1, 1 - alpha) * error
    order = np.argsort(-means[1:], kind="stable")
    return [int(i) for i in order if reach[i + 1] >= 0][:at_most]


# --- choosing as R+ does


def best_exact(scores: CandidateScores, current: Action, grid: list[Action], prune: bool) -> Action:
    """Return the candidate with the best mean over all networks, the current action unless one is strictly better."""
    rivals = [action for action in grid if action != current]
    if prune:
        rivals = _pruned(scores, rivals, scores.mean(current))
    return _best_of(scores, [current, *rivals]) if rivals else current


def _pruned(scores: CandidateScores, rivals: list[Action], target: float | None) -> list[Action]:
    """R+'s prune: short runs of every candidate, full-length scores as they are where they are known."""
    assert target is not None
    short = scores.sample.shortened(PRUNE_SHARE)
    means = {action: scores.mean(action) for action in rivals}
    unknown = [action for action, mean in means.items() if mean is None]
    ran = short.scores([scores.policy(action) for action in unknown], [np.arange(len(short))] * len(unknown))
    means |= {action: float(each.mean()) for action, each in zip(unknown, ran, strict=True)}
    values = np.array([means[action] for action in rivals])
    bar = max(min(target * (1 - PRUNE_LOSS), target * (1 + PRUNE_LOSS)), np.sort(values)[len(values) // 2])
    return [action for action, value in zip(rivals, values, strict=True) if value >= bar]
