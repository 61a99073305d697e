"""The R+ round: improve the used rules, split the most used one, check for a regression; then the next round.

Every step draws networks of its own, named by the step, so a search can stop between two steps and go on later with
the same bits. Where R+ and this search differ is told in `docs/background/rplus.md`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.settling.verdict import SettlingRule
from lcca.evaluation.trials.blocks import Block, Decision, equal_blocks, run_blocks
from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.engine import Engine, compile_policy
from lcca.remy_plus.network import NetworkList
from lcca.remy_plus.policies.pacing import NAMED
from lcca.remy_plus.policies.policy import with_header
from lcca.remy_plus.policies.rules import RuleTable, bisect, lifted, one_rule
from lcca.trainers.base import Keeper, LearningRow, Task, WarmStart, first_network
from lcca.trainers.rplus.actions import Action, action_of, candidates
from lcca.trainers.rplus.config import RplusConfig
from lcca.trainers.rplus.exact import best_exact
from lcca.trainers.rplus.racing import best_racing
from lcca.trainers.rplus.sample import CandidateScores, Effort, Sample
from lcca.trainers.rplus.state import SearchState

CHECK_BLOCK = 50

BEFORE_FIRST_SPLIT = "before the first split"
"""Identity of a state that searches on other signals share."""


class RplusTrainer:
    """A search that checkpoints after every step; see `lcca.trainers.base.Trainer`.

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
        if self.task.warm_start is not None:
            return self._go_on(self.task.warm_start)
        table = one_rule(self.task.signals, self.config.pacing_of(self.task.signals))
        if self.shared is not None and self.shared.exists():
            return SearchState.load(self.shared, BEFORE_FIRST_SPLIT).with_one_rule(table)
        return SearchState(table, [0], table)

    def _go_on(self, start: WarmStart) -> SearchState:
        """Begin where the rules are improved and the next split is due."""
        table, passes = lifted(_rules(start), self.task.signals), self.config.passes
        return SearchState(table, [passes] * len(table), table, pass_=passes, step=start.step)

    @property
    def done(self) -> bool:
        """Whether the search has ended."""
        return self.state.stage == "done"

    @property
    def used(self) -> int:
        """Trials or rounds so far, as the budget has it."""
        return self.state.round if self.config.budget_trials is None else self.state.trials

    @property
    def learning(self) -> list[LearningRow]:
        """One row per step."""
        return self.state.learning

    @property
    def policy(self) -> RuleTable:
        """The rules so far."""
        return self.state.table

    def step(self) -> None:
        """Take one step and checkpoint it. Stopped anywhere inside, the search repeats the step with the same bits."""
        began, effort = time.process_time(), Effort()
        rules, round_ = len(self.state.table), self.state.round
        kind, score = self._check(effort) if self.state.stage == "check" else self._improve_or_split(effort)
        state = self.state
        state.step += 1
        state.trials += effort.trials
        state.packets += effort.packets
        state.cpu_s += time.process_time() - began
        row = LearningRow(state.step, round_, kind, rules, score, state.trials, state.packets, round(state.cpu_s, 3))
        state.learning.append(row)
        self._end_over_budget(kept=kind == "check")
        if self.checkpoint is not None:
            state.save(self.checkpoint, self.task.identity)

    def _end_over_budget(self, kept: bool) -> None:
        budget = self.config.budget_trials
        if not self.done and budget is not None and self.state.trials >= budget:
            if not kept:
                self.keep(self.state.round, self.state.table)
            self.state.stage = "done"

    # --- improving and splitting

    def _improve_or_split(self, effort: Effort) -> tuple[str, float]:
        sample = self._sample(self.config.networks, effort)
        compiled = self._compiled(self.state.table)
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
            grid = candidates(current, self.state.table.pacing_kind, self.config.optimise)
            best = self._best(scores, current, grid)
            if best == current:
                score = scores.mean(current)
                assert score is not None
                return current, score
            current = best

    def _best(self, scores: CandidateScores, current: Action, grid: list[Action]) -> Action:
        if self.config.mode == "exact":
            return best_exact(scores, current, grid, self.config.prune)
        return best_racing(scores, current, grid, self.config.racing)

    def _split(self, sample: Sample, compiled: _core.Policy, rule_hits: NDArray[np.int64]) -> None:
        if self.shared is not None and self._begins and not self.shared.exists():
            self.state.save(self.shared, BEFORE_FIRST_SPLIT)
        self.state.stage = "check"
        if self.state.round + 1 == self.config.rounds:  # the last round's split would train nothing
            return
        rule = int(np.argmax(rule_hits))
        cuts = self.engine.cuts(
            compiled,
            sample.networks,
            np.arange(len(sample)),
            np.full(len(sample), sample.seed),
            rule,
            self.task.signals,
        )
        sample.effort.trials += 3 * len(sample)
        cuts = np.where(self._parted(), cuts, np.nan)
        self.state.table = bisect(self.state.table, rule, cuts)

    @property
    def _begins(self) -> bool:
        return self.task.warm_start is None and self.state.round == 0

    def _parted(self) -> NDArray[np.bool_]:
        """Along which signals a split cuts: all, but the first one after a start only along those that are new."""
        start = self.task.warm_start
        old = _rules(start).signals if start and self.state.round == 0 else ()
        new = np.array([name not in old for name in self.task.signals])
        return new if new.any() else ~new

    # --- ending a round

    def _check(self, effort: Effort) -> tuple[str, float]:
        """Restore the round's first table if the new one is settled worse on fresh networks; begin the next round."""
        state = self.state
        worse, score = self._settled_worse(effort)
        if worse:
            state.table = state.before
        self.keep(state.round, state.table)
        state.round += 1
        state.pass_ = 0
        state.generations = [0] * len(state.table)
        state.before = state.table
        state.stage = "improve" if state.round < self.config.rounds else "done"
        return "check", score

    def _settled_worse(self, effort: Effort) -> tuple[bool, float]:
        """Whether the new table is settled worse than the old one, and the mean score of the one to keep."""
        limit = self.config.check_networks
        if not limit:
            return False, self.state.learning[-1].score_bits
        sample = self._sample(limit, effort)
        pair = [self._compiled(self.state.before), self._compiled(self.state.table)]
        settling = SettlingRule(ceiling=max(limit, 20)).start()

        def run(block: Block) -> list[NDArray[np.float64]]:
            return sample.scores(pair, [np.arange(block.first, block.end)] * 2)

        def decide(parts: Sequence[list[NDArray[np.float64]]], _: int) -> Decision[bool]:
            old, new = parts[-1]
            verdict = settling.feed(new - old).verdict
            return Decision(verdict.name == "worse", verdict.settled)

        parts, worse = run_blocks(equal_blocks(CHECK_BLOCK, limit), run, decide)
        old, new = (np.concatenate(scores) for scores in zip(*parts, strict=True))
        return worse, float((old if worse else new).mean())

    def _compiled(self, table: RuleTable) -> _core.Policy:
        return compile_policy(with_header(table, self.task.header))

    def _sample(self, count: int, effort: Effort) -> Sample:
        space, seed = self.task.space, self.task.seed
        networks = NetworkList(space.draw(seed, count, first_id=first_network(space, self.state.step)))
        return Sample(self.engine, networks, seed, self.task.utility, effort)


def _rules(start: WarmStart) -> RuleTable:
    if not isinstance(start.policy, RuleTable):
        raise InputError(f"warm start: a search goes on from a rule table, not from {type(start.policy).__name__}")
    return start.policy
