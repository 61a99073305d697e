"""Trials on a fabric: flows of fresh seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from lcca.evaluation.fabric.calls import in_threads
from lcca.evaluation.fabric.space import FabricSpace, NumberedTrial
from lcca.evaluation.fabric.trials import FabricTrial, run_fabric_trial
from lcca.evaluation.trials.ratio import Ratio
from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.signals import SIGNALS
from lcca.remy_plus.core.stamping import Stamping
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.learnt import Compiled, compiled
from lcca.remy_plus.policies.policy import with_header
from lcca.remy_plus.policies.rules import RuleTable, one_rule
from lcca.trainers.rplus import lookups
from lcca.trainers.rplus.lookups import Lookups, even_cut
from lcca.trainers.rplus.trials.contract import Floats, Ints, Ran


@dataclass(frozen=True)
class DrawnFlows:
    """Flows of some seeds; a `DrawnTrials`.

    Attributes:
        trials: whose flows they are.
        utility: scores a trial.
        form: how policies see the fabric, whatever their rules.
        jobs: threads; results do not depend on it.
        runs_of_cuts: all look-ups of one run are kept.
    """

    trials: Sequence[NumberedTrial]
    utility: Ratio
    form: Compiled
    jobs: int
    runs_of_cuts: int = 1

    def __len__(self) -> int:
        """Return the number of trials."""
        return len(self.trials)

    def run(self, policies: Sequence[_core.Policy], policy: Ints, trial: Ints, keep_rule_hits: bool) -> Ran:
        """See `DrawnTrials.run`."""
        pairs = [(policies[which], self.trials[number]) for which, number in zip(policy, trial, strict=True)]
        found = self._run(pairs)
        scores = np.array([each.score(self.utility) for each in found])
        hits = np.stack([each.record["rule_hits"] for each in found]) if keep_rule_hits else None
        # Without a flow that counts there is nothing to score, for all policies alike: no difference comes from there.
        return Ran(np.nan_to_num(scores, nan=0.0), hits, sum(each.packets for each in found))

    def look_ups(self, policy: _core.Policy, table: RuleTable) -> Lookups:
        """See `DrawnTrials.look_ups`."""
        return self._look_ups(policy, table, lookups.EVERY)

    def cuts(self, policy: _core.Policy, rule: int, signals: Sequence[str]) -> Floats:
        """See `DrawnTrials.cuts`."""
        seen = self._look_ups(policy, one_rule(tuple(signals)), 1)
        values = seen.values[seen.rule == rule]
        return np.array([even_cut(each) if len(each) else np.nan for each in values.T])

    def shortened(self, share: float) -> DrawnFlows:
        """See `DrawnTrials.shortened`."""
        raise InputError("trainer.prune: trials on a fabric have no shorter form; set it to false")

    def _look_ups(self, policy: _core.Policy, table: RuleTable, every: int) -> Lookups:
        found = [each.record for each in self._run([(policy, trial) for trial in self.trials], every)]
        axes = [SIGNALS.index(name) for name in table.signals]
        rules, values = (np.concatenate([each[f"look_up_{name}"] for each in found]) for name in ("rule", "values"))
        return Lookups(table, rules, values[:, axes])

    def _run(self, pairs: Sequence[tuple[_core.Policy, NumberedTrial]], keep_every: int = 0) -> list[FabricTrial]:
        def run(policy: _core.Policy, trial: NumberedTrial) -> FabricTrial:
            form = replace(self.form, policy=policy, keep_every=keep_every)
            engine = FabricEngine(form, settings=trial.scenario.settings())
            return run_fabric_trial(trial.scenario, "policy", engine, trial.seed, trial.flows)

        return in_threads([partial(run, *pair) for pair in pairs], self.jobs)


@dataclass(frozen=True)
class FabricTraining:
    """Trials of a fabric space; a `TrainingTrials`.

    Attributes:
        space: flows are drawn from it.
        utility: scores a trial.
        seed: of trial 0; that of trial k is larger by k.
        signals: that policies see.
        header: of the policies.
        jobs: threads.
    """

    space: FabricSpace
    utility: Ratio
    seed: int
    signals: tuple[str, ...]
    header: Stamping | None
    jobs: int

    @property
    def block(self) -> int:
        """Trials in a block of the space."""
        return self.space.block

    def whole(self, count: int) -> int:
        """Return a number of trials rounded up to whole blocks."""
        return self.space.whole(count)

    def draw(self, count: int, first: int) -> DrawnFlows:
        """See `TrainingTrials.draw`."""
        drawn = self.space.draw(self.seed, count, first)
        return DrawnFlows(drawn, self.utility, self._form(one_rule(self.signals)), self.jobs)

    def compiled(self, table: RuleTable) -> _core.Policy:
        """See `TrainingTrials.compiled`."""
        return self._form(table).policy

    def _form(self, table: RuleTable) -> Compiled:
        return compiled(with_header(table, self.header), self.space.scenarios[0].settings())
