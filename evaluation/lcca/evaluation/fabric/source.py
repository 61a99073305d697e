"""Numbered trials on a fabric: trial k has the flows of the k-th seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from lcca.evaluation.fabric.space import SEEDS, FabricSpace, NumberedTrial, by_scenario
from lcca.evaluation.fabric.trials import FabricTrial, require_rounds, require_told, run_fabric_trials
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.ratio import Ratio
from lcca.remy_plus.fabric.fluid import FABRIC
from lcca.remy_plus.fabric.observation import Observation
from lcca.remy_plus.fabric.policies import engine_of
from lcca.remy_plus.policies.policy import Policy


@dataclass(frozen=True)
class FabricTrials:
    """Trials on a fabric; a `TrialSource`.

    Attributes:
        space: where.
        seed: of trial 0; that of trial k is larger by k.
        utility: scores a trial.
        jobs: threads; results do not depend on it.
        simulator: `FABRIC` or `FLUID`, which tells of flows only.
        watched: flows of trial 0, by their id, whose rates are sampled.
        observed: keeps the looks of tuners in trial 0, by the names of the policies; changes no result.

    Raises:
        InputError: the utility scores rounds, and a scenario has none, or ports, and the simulator tells of flows.
    """

    space: FabricSpace
    seed: int
    utility: Ratio
    jobs: int = 1
    simulator: str = FABRIC
    unit: str = "seeds"
    watched: Sequence[int] = ()
    observed: Mapping[str, Observation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that there is something to score."""
        require_rounds(self.space.scenarios, self.utility)
        require_told(self.simulator, self.utility)

    @property
    def origin(self) -> Mapping[str, str]:
        """The simulator and the scenarios."""
        return {"simulator": self.simulator, "scenario": self.space.name}

    @property
    def block(self) -> int:
        """Trials in a block of the space."""
        return self.space.block

    def whole(self, count: int) -> int:
        """Return a number of seeds rounded up to whole blocks; less than a block stays as it is."""
        return self.space.whole(count)

    def weights(self, count: int) -> Sequence[float]:
        """Return 1 for every seed: the same load."""
        return [1.0] * count

    def trials(self, policies: Mapping[str, Policy], block: Block) -> list[FabricTrial]:
        """Run every policy on the flows of a stretch of seeds; the trials in the order of their seeds.

        Raises:
            InputError: flows or a parameter that cannot be, or a policy that runs elsewhere only.
        """
        found: list[FabricTrial] = []
        for group in by_scenario(self._drawn(block)):
            scenario = group[0].scenario
            engines = {name: engine_of(policy, scenario.settings()) for name, policy in policies.items()}
            seeds = [each.seed for each in group]
            watched, observed = ((), {}) if group[0].number else (self.watched, self.observed)
            found += run_fabric_trials(scenario, engines, seeds, self.jobs, watched, observed, self.simulator)
        order = {each.seed: each.number for each in self._drawn(block)}
        return sorted(found, key=lambda each: order[each.seed])

    def rows(self, policies: Mapping[str, Policy], block: Block) -> pd.DataFrame:
        """Run every policy on a stretch of seeds; see `TrialSource.rows`, and `FabricTrial.row` for other columns."""
        trials = self.trials(policies, block)
        rows = [each.row(self.utility) for name in policies for each in trials if each.policy == name]
        table = pd.DataFrame(rows)
        met = {each.seed: each for each in self._drawn(block)}
        table.insert(1, "network", [met[seed].number for seed in table["seed"]])
        scenario = [met[seed].scenario.name for seed in table["seed"]]
        return table.assign(
            scenario=scenario, simulator=self.simulator, status="ok", error="", utility=self.utility.name
        )

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
                "network": (trial.seed - self.seed) % SEEDS,
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

    def _drawn(self, block: Block) -> list[NumberedTrial]:
        return self.space.draw(self.seed, block.size, block.first)
