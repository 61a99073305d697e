"""Numbered trials on a fabric: trial k has the flows of the k-th seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.trials import FabricTrial, run_fabric_trials
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.slowdown import Slowdown
from lcca.remy_plus.fabric.policies import engine_of
from lcca.remy_plus.policies.policy import Policy

BLOCK = 4
"""Trials are independent; means of some are less skewed, which is what intervals ask of a unit."""


@dataclass(frozen=True)
class FabricTrials:
    """Trials on a fabric; a `TrialSource`.

    Attributes:
        scenario: where.
        seed: of trial 0; that of trial k is larger by k.
        utility: scores a trial.
        jobs: threads; results do not depend on it.
    """

    scenario: FabricScenario
    seed: int
    utility: Slowdown
    jobs: int = 1
    unit: str = "seeds"
    block: int = BLOCK

    @property
    def origin(self) -> Mapping[str, str]:
        """The simulator and the scenario."""
        return {"simulator": "fabric", "scenario": self.scenario.name}

    def whole(self, count: int) -> int:
        """Return a number of seeds rounded up to whole blocks; less than a block stays as it is."""
        return count if count < self.block else -(-count // self.block) * self.block

    def trials(self, policies: Mapping[str, Policy], block: Block) -> list[FabricTrial]:
        """Run every policy on the flows of a stretch of seeds; the trials seed by seed.

        Raises:
            InputError: flows or a parameter that cannot be, or a policy that runs elsewhere only.
        """
        engines = {name: engine_of(policy, self.scenario.settings()) for name, policy in policies.items()}
        return run_fabric_trials(self.scenario, engines, range(*self._ends(block)), self.jobs)

    def rows(self, policies: Mapping[str, Policy], block: Block) -> pd.DataFrame:
        """Run every policy on a stretch of seeds; see `TrialSource.rows`, and `FabricTrial.row` for other columns."""
        trials = self.trials(policies, block)
        rows = [each.row(self.utility) for name in policies for each in trials if each.policy == name]
        table = pd.DataFrame(rows)
        table.insert(1, "network", table["seed"] - self.seed)
        return table.assign(simulator="fabric", status="ok", error="", utility=self.utility.name)

    def flow_rows(self, policies: Mapping[str, Policy], block: Block) -> pd.DataFrame:
        """Run every policy on a stretch of seeds and return a row per flow.

        Columns: policy, network (number of the trial), seed, flow (number within the trial), size_bytes, start_us,
        fct_us (NaN where it did not finish), ideal_fct_us, slowdown (their ratio), completed.
        """
        return pd.concat([self._flows(each) for each in self.trials(policies, block)], ignore_index=True)

    def _flows(self, trial: FabricTrial) -> pd.DataFrame:
        times, started = trial.times, trial.started
        found = pd.DataFrame(
            {
                "policy": trial.policy,
                "network": trial.seed - self.seed,
                "seed": trial.seed,
                "flow": started,
                "size_bytes": trial.flows.size_bytes[started],
                "start_us": trial.start_ns / 1000,
                "fct_us": times.taken / 1000,
                "ideal_fct_us": times.ideal / 1000,
                "completed": times.finished,
            }
        )
        return found.assign(slowdown=found["fct_us"] / found["ideal_fct_us"])

    def _ends(self, block: Block) -> tuple[int, int]:
        return self.seed + block.first, self.seed + block.end
