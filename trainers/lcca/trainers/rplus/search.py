"""The R+ round: improve the used rules, split the most used one, check for a regression; then the next round.

Where R+ and this search differ is told in `docs/background/rplus.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.settling.units import block_means
from lcca.evaluation.settling.verdict import SettlingRule
from lcca.evaluation.trials.blocks import Block, Decision, equal_blocks, run_blocks
from lcca.remy_plus import _core
from lcca.remy_plus.policies.rules import bisect
from lcca.trainers.base import Keeper
from lcca.trainers.rplus.actions import Action, action_of, candidates
from lcca.trainers.rplus.config import RplusConfig
from lcca.trainers.rplus.exact import best_exact
from lcca.trainers.rplus.racing import best_racing
from lcca.trainers.rplus.sample import BudgetSpent, CandidateScores, Sample, Samples
from lcca.trainers.rplus.state import SearchState

CHECKED_BLOCKS = 3
"""Blocks of networks between two looks of the regression check."""

BEFORE_FIRST_SPLIT = "before the first split"
"""Identity of a state that searches on other signals share."""


@dataclass
class Search:
    """The steps of a search; each changes the state.

    Attributes:
        config: of the search.
        state: where it stands.
        samples: draws the networks of this step.
        keep: takes the policy of a round.
        parted: (signals,) along which of them a split may cut.
        shared: file to leave the state before the first split in, if this step comes to it.
    """

    config: RplusConfig
    state: SearchState
    samples: Samples
    keep: Keeper
    parted: NDArray[np.bool_]
    shared: Path | None = None

    def step(self) -> tuple[str, float]:
        """Take one step and return its kind and score; a budget may cut it short, with the best so far."""
        return self._check() if self.state.stage == "check" else self._improve_or_split()

    def _improve_or_split(self) -> tuple[str, float]:
        sample = self.samples.draw(self.samples.effort.affordable(self.config.networks))
        compiled = self.samples.compiled(self.state.table)
        scores, rule_hits = sample.baseline(compiled)
        rule = self._next_rule(rule_hits.sum(axis=0))
        if rule is None:
            self._split(sample, compiled, rule_hits.sum(axis=0))
            return "split", float(scores.mean())
        current = action_of(self.state.table, rule)
        best, score = self._climb(CandidateScores(sample, compiled, rule, current, scores, rule_hits[:, rule]), current)
        self.state.table = self.state.table.with_action(rule, *best)
        self.state.generations[rule] = self.state.pass_ + 1
        return "improve", score

    def _next_rule(self, rule_hits: NDArray[np.int64]) -> int | None:
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
            best = self._best(scores, current, candidates(current, self.state.table.pacing_kind, self.config.optimise))
            if best == current:
                score = scores.mean(current)
                assert score is not None
                return current, score
            current = best

    def _best(self, scores: CandidateScores, current: Action, grid: list[Action]) -> Action:
        try:
            if self.config.mode == "exact":
                return best_exact(scores, current, grid, self.config.prune)
            return best_racing(scores, current, grid, self.config.racing)
        except BudgetSpent:
            return current

    def _split(self, sample: Sample, compiled: _core.Policy, rule_hits: NDArray[np.int64]) -> None:
        if self.shared is not None and self.state.round == 0 and not self.shared.exists():
            self.state.save(self.shared, BEFORE_FIRST_SPLIT)
        self.state.stage = "check"
        if self.state.round + 1 == self.config.rounds:  # the last round's split would train nothing
            return
        rule = int(np.argmax(rule_hits))
        try:
            cuts = sample.cuts(compiled, rule, self.state.table.signals)
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
        limit = self.samples.effort.affordable(2 * self.config.check_networks) // 2
        if not limit:
            return False, self.state.learning[-1].score_bits
        sample = self.samples.draw(limit)
        pair = [self.samples.compiled(table) for table in (self.state.before, self.state.table)]
        size = self.samples.trials.block
        settling = SettlingRule().start()

        def run(block: Block) -> list[NDArray[np.float64]]:
            return sample.scores(pair, [np.arange(block.first, block.end)] * 2)

        def decide(parts: Sequence[list[NDArray[np.float64]]], _: int) -> Decision[bool]:
            old, new = parts[-1]
            verdict = settling.feed(block_means(new - old, size)).verdict
            return Decision(verdict.name == "worse", verdict.settled)

        parts, worse = run_blocks(equal_blocks(CHECKED_BLOCKS * size, limit), run, decide)
        old, new = (np.concatenate(scores) for scores in zip(*parts, strict=True))
        return worse, float((old if worse else new).mean())
