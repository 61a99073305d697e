"""Trials on networks of a space, in the packet engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.scoring import trial_scores
from lcca.evaluation.trials.utility import Utility
from lcca.remy_plus import _core
from lcca.remy_plus.core.stamping import Stamping
from lcca.remy_plus.engine import Engine, compile_policy
from lcca.remy_plus.network import NetworkList
from lcca.remy_plus.policies.policy import with_header
from lcca.remy_plus.policies.rules import RuleTable
from lcca.trainers.rplus.lookups import Lookups, look_up
from lcca.trainers.rplus.trials.contract import Floats, Ints, Ran


@dataclass(frozen=True)
class DrawnNetworks:
    """Networks, each with the same seed; a `DrawnTrials`.

    Attributes:
        engine: runs them.
        networks: of the trials.
        seed: of all trials.
        utility: scores a trial.
        runs_of_cuts: see `Engine.cuts`.
    """

    engine: Engine
    networks: NetworkList
    seed: int
    utility: Utility
    runs_of_cuts: int = 3

    def __len__(self) -> int:
        """Return the number of networks."""
        return len(self.networks)

    def run(self, policies: Sequence[_core.Policy], policy: Ints, trial: Ints, keep_rule_hits: bool) -> Ran:
        """See `DrawnTrials.run`."""
        record = self.engine.run(
            policies, self.networks, policy, trial, self._seeds(len(trial)), keep_rule_hits=keep_rule_hits
        )
        hits = np.asarray(record["trial_rule_hits"], dtype=np.int64) if keep_rule_hits else None
        return Ran(trial_scores(record, self.utility), hits, record.packets)

    def look_ups(self, policy: _core.Policy, table: RuleTable) -> Lookups:
        """See `DrawnTrials.look_ups`."""
        return look_up(self.engine, policy, table, self.networks.networks, self.seed)

    def cuts(self, policy: _core.Policy, rule: int, signals: Sequence[str]) -> Floats:
        """See `DrawnTrials.cuts`."""
        everyone = np.arange(len(self))
        return self.engine.cuts(policy, self.networks, everyone, self._seeds(len(self)), rule, signals)

    def shortened(self, share: float) -> DrawnNetworks:
        """See `DrawnTrials.shortened`."""
        return replace(self, engine=replace(self.engine, duration=self.engine.duration * share))

    def _seeds(self, count: int) -> NDArray[np.uint64]:
        return np.full(count, self.seed, dtype=np.uint64)


@dataclass(frozen=True)
class NetworkTraining:
    """Trials on networks of a space: trial k is on its network k; a `TrainingTrials`.

    Attributes:
        engine: runs them.
        space: networks are drawn from it.
        utility: scores a trial.
        seed: networks are drawn by it, and all trials have it.
        header: of the policies.
    """

    engine: Engine
    space: NetworkSpace
    utility: Utility
    seed: int
    header: Stamping | None

    @property
    def block(self) -> int:
        """Networks in a block of the space."""
        return self.space.block

    def whole(self, count: int) -> int:
        """Return a number of networks rounded up to whole blocks."""
        return self.space.whole(count)

    def draw(self, count: int, first: int) -> DrawnNetworks:
        """See `TrainingTrials.draw`."""
        networks = NetworkList(self.space.draw(self.seed, count, first_id=first))
        return DrawnNetworks(self.engine, networks, self.seed, self.utility)

    def compiled(self, table: RuleTable) -> _core.Policy:
        """See `TrainingTrials.compiled`."""
        return compile_policy(with_header(table, self.header))
