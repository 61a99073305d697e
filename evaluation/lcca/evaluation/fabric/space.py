"""Fabric scenarios as a place, and the numbered trials there: trial k has the flows of the k-th of a seed's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pandas as pd
from pydantic import Discriminator, Field, PrivateAttr, Tag, model_validator

from lcca.evaluation.fabric.merit import packed
from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.trials import (
    FabricTrial,
    require_rounds,
    require_runs,
    require_scored,
    require_told,
    run_fabric_trials,
)
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.scenarios.seeds import number_of, seed_of
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.layout import SLOWDOWNS
from lcca.evaluation.trials.metrics import of_flows
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.ratio import Ratio
from lcca.evaluation.trials.source import OnPlace
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.evaluation.trials.utility import Utility
from lcca.inputs.documents import Document, way_of, with_value
from lcca.inputs.errors import Place, about, require
from lcca.inputs.model import Model
from lcca.inputs.units import PACKET_BYTES
from lcca.inputs.validation import validate
from lcca.remy_plus import _core
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.observation import Observation
from lcca.remy_plus.fabric.settings import FABRIC, FLUID
from lcca.remy_plus.policies.policy import Policy
from lcca.workers.pool import Pool, Threads

FEWEST = 4
"""In a block. Trials are independent; means of some are less skewed, which is what intervals ask of a unit."""


@dataclass(frozen=True, eq=False)
class NumberedTrial:
    """What a trial is, but for its policy.

    Attributes:
        number: of the trial.
        scenario: where.
        seed: of the flows, of their paths and of the marks.
    """

    number: int
    scenario: FabricScenario
    seed: int

    @cached_property
    def flows(self) -> FabricFlows:
        """The flows: the same for all policies."""
        return self.scenario.flows(self.seed)


Scenarios = Annotated[
    Annotated[FabricScenario, Tag("one")] | Annotated[tuple[FabricScenario, ...], Tag("several"), Field(min_length=1)],
    Discriminator(lambda value: "several" if isinstance(value, list | tuple) else "one"),
]
"""One scenario or several."""


class FabricSpace(Model):
    """One fabric scenario or several; trials go through them in turn, each with flows of its own.

    Attributes:
        fabric: the scenarios, with names that differ and packets of one size.
    """

    fabric: Scenarios

    _assumed: tuple[str, ...] = PrivateAttr(default=())

    simulators: ClassVar[tuple[str, ...]] = (FABRIC, FLUID)
    unit: ClassVar[str] = "seeds"
    usual_utility: ClassVar[str] = "slowdown"
    percent_of: ClassVar[str] = "typical slowdown"
    length: ClassVar[None] = None
    free_signals: ClassVar[bool] = False

    def assuming(self, texts: Sequence[str]) -> FabricSpace:
        """Return the same, whose file of another program left these to be assumed."""
        found = self.model_copy()
        found._assumed = tuple(texts)
        return found

    @property
    def assumed(self) -> tuple[str, ...]:
        """What a file of another program left to be assumed; of no result."""
        return self._assumed

    @property
    def scenarios(self) -> tuple[FabricScenario, ...]:
        """The scenarios."""
        return self.fabric if isinstance(self.fabric, tuple) else (self.fabric,)

    @property
    def name(self) -> str:
        """The names of the scenarios."""
        return ", ".join(each.name for each in self.scenarios)

    @property
    def packet_bytes(self) -> int:
        """Of a full data packet without a header; the same in all scenarios."""
        return self.scenarios[0].payload_bytes + self.scenarios[0].overhead_bytes + _core.FABRIC_SENT_TIME_BYTES

    @property
    def duration(self) -> float:
        """Within which flows start, µs, in the longest scenario; 0 where all end by themselves."""
        return max(each.duration_us or 0.0 for each in self.scenarios)

    def packet_of(self, said: int) -> int:
        """Return the bytes of a full data packet without a header.

        Raises:
            ValueError: a user said something else.
        """
        size = self.packet_bytes
        if said not in (size, PACKET_BYTES):
            raise ValueError(f"packets of the fabric have {size}: leave it out, or change the scenario's payload_bytes")
        return size

    @property
    def block(self) -> int:
        """How many trials a block has: as many of each scenario."""
        count = len(self.scenarios)
        return count * -(-FEWEST // count)

    def whole(self, count: int) -> int:
        """Return a number of trials rounded up to whole blocks; less than a block stays as it is."""
        return count if count < self.block else -(-count // self.block) * self.block

    def draw(self, seed: int, count: int, first_id: int = 0) -> list[NumberedTrial]:
        """Return trials first_id … first_id + count − 1: trial k is of scenario k modulo their number.

        Args:
            seed: which trials (`seed_of`).
            count: how many.
            first_id: number of the first.
        """
        met, numbers = self.scenarios, range(first_id, first_id + count)
        return [NumberedTrial(k, met[k % len(met)], seed_of(seed, k)) for k in numbers]

    def changed(self, numbers: Mapping[str, float]) -> FabricSpace:
        """Return its first scenario alone with other numbers, by dotted keys such as `workload.load`.

        Raises:
            InputError: there are no such keys, or they cannot have these numbers.
        """
        document = Document(Path(), {"fabric": self.scenarios[0].model_dump(mode="json")}, {(): Place("")})
        with about(f"at {', '.join(f'{key}={number:g}' for key, number in numbers.items())}"):
            for key, number in numbers.items():
                way = way_of(document, ("fabric", *key.split(".")))
                document = with_value(document, way, number, {(): Place("")})
            return validate(document, FabricSpace)

    def numbers(self, keys: Sequence[str]) -> list[list[float]]:
        """Return the numbers that scenarios have at dotted keys, a row for each scenario.

        Raises:
            InputError: one says no number there.
        """
        rows = []
        for each in self.scenarios:
            document = Document(Path(), each.model_dump(mode="json"), {(): Place("")})
            row = [document.at(way_of(document, key.split("."))) for key in keys]
            for key, value in zip(keys, row, strict=True):
                require(isinstance(value, int | float), f"{each.name} has no number {key}; say it in the scenario")
            rows.append([float(value) for value in row])
        return rows

    def utility(self, name: str) -> Ratio:
        """See `Place.utility`."""
        return fabric_utility(name)

    def trials(
        self,
        seed: int,
        utility: Utility,
        execution: Execution,
        seeds: Sequence[int] = (),
        keep_delays: bool = False,
    ) -> FabricTrials:
        """See `Place.trials`."""
        scored, simulator = fabric_utility(utility.name), execution.simulator or FABRIC
        return FabricTrials(self, seed, scored, execution.workers, simulator)

    @model_validator(mode="before")
    @classmethod
    def _is_no_space_of_networks(cls, value: Any) -> Any:
        if isinstance(value, dict) and (also := sorted(value.keys() & NetworkSpace.model_fields)):
            raise ValueError(
                f"fabric and {', '.join(also)} exclude each other; --set 'networks={{fabric: FILE}}' replaces a space"
            )
        return value

    @model_validator(mode="after")
    def _go_together(self) -> FabricSpace:
        names = [each.name for each in self.scenarios]
        if twice := [name for i, name in enumerate(names) if name in names[:i]]:
            raise ValueError(f"fabric: two scenarios are called {twice[0]!r}; give each a name of its own")
        packets = {(each.payload_bytes, each.overhead_bytes) for each in self.scenarios}
        if len(packets) > 1:
            raise ValueError(
                "fabric: windows of policies count packets: payload_bytes and overhead_bytes must be the same in all "
                "scenarios"
            )
        return self


def is_fabric(value: Any) -> bool:
    """Tell whether a value of a configuration, a mapping or a model, is a fabric space and no space of networks."""
    return "fabric" in value if isinstance(value, Mapping) else isinstance(value, FabricSpace)


@dataclass(frozen=True)
class FabricTrials(OnPlace):
    """Trials on a fabric; a `TrialSource`.

    Attributes:
        space: where.
        seed: which trials (`seed_of`).
        utility: scores a trial.
        pool: runs trials; results do not depend on it.
        simulator: `FABRIC` or `FLUID`, which tells of flows only.
        watched: flows of trial 0, by their id, whose rates are sampled.
        observed: keeps the looks of tuners in trial 0, by the names of the policies; changes no result.
        keep_flows: whether rows keep the slowdowns of their flows too, packed (`lcca.evaluation.fabric.merit`).

    Raises:
        InputError: the utility scores rounds, and a scenario has none, or ports, and the simulator tells of flows.
    """

    space: FabricSpace
    seed: int
    utility: Ratio
    pool: Pool = field(default_factory=lambda: Threads(1))
    simulator: str = FABRIC
    watched: Sequence[int] = ()
    observed: Mapping[str, Observation] = field(default_factory=dict)
    keep_flows: bool = False

    def __post_init__(self) -> None:
        """Check that there is something to score."""
        require_rounds(self.space.scenarios, self.utility)
        require_told(self.simulator, self.utility)

    def require_scored(self) -> None:
        """Check that some flow counts on each scenario in the first block of trials; nothing is run.

        Raises:
            InputError: none does.
        """
        for group in _by_scenario(self._drawn(Block(0, 0, self.block))):
            require_scored(group[0].scenario, self.utility, [each.seed for each in group])

    @property
    def origin(self) -> Mapping[str, str]:
        """The simulator and the scenarios."""
        return {"simulator": self.simulator, "scenario": self.space.name}

    def weights(self, count: int) -> Sequence[float]:
        """Return 1 for every seed: the same load."""
        return [1.0] * count

    def trials(self, policies: Mapping[str, Policy], block: Block) -> list[FabricTrial]:
        """Run every policy on the flows of a stretch of seeds; the trials in the order of their seeds.

        Raises:
            InputError: flows or a parameter that cannot be, or a policy that runs elsewhere only.
        """
        found: list[FabricTrial] = []
        for group in _by_scenario(self._drawn(block)):
            scenario = group[0].scenario
            engines = {name: engine_of(policy, scenario.settings()) for name, policy in policies.items()}
            for name, engine in engines.items():
                require_runs(scenario, name, engine, self.utility)
            seeds = [each.seed for each in group]
            watched, observed = ((), {}) if group[0].number else (self.watched, self.observed)
            found += run_fabric_trials(scenario, engines, seeds, self.pool, watched, observed, self.simulator)
        return sorted(found, key=self.number)

    def number(self, trial: FabricTrial) -> int:
        """Return the number of one of its trials."""
        return number_of(trial.seed, self.seed)

    def rows(self, policies: Mapping[str, Policy], block: Block) -> pd.DataFrame:
        """Run every policy on a stretch of seeds; see `TrialSource.rows`, and `FabricTrial.row` for other columns."""
        trials = self.trials(policies, block)
        found = [each for name in policies for each in trials if each.policy == name]
        table = pd.DataFrame([each.row(self.utility) for each in found])
        if self.keep_flows:
            table[SLOWDOWNS] = [packed(each) for each in found]
        numbers, met = [self.number(each) for each in found], self.space.scenarios
        table.insert(1, "network", numbers)
        scenario = [met[number % len(met)].name for number in numbers]
        return table.assign(
            scenario=scenario, simulator=self.simulator, status="ok", error="", utility=self.utility.name
        )

    def flow_rows(self, policies: Mapping[str, Policy], block: Block) -> pd.DataFrame:
        """Run every policy on a stretch of seeds and return a row per flow.

        Columns: policy, network (number of the trial), seed, flow (number within the trial), size_bytes, start_us,
        ideal_fct_us, completed, and what flows are measured by (`lcca.evaluation.trials.metrics.FLOWS`), NaN where a
        flow did not finish.
        """
        return pd.concat([self._flows(each) for each in self.trials(policies, block)], ignore_index=True)

    def _flows(self, trial: FabricTrial) -> pd.DataFrame:
        times, started = trial.times, trial.started
        return pd.DataFrame(
            {
                "policy": trial.policy,
                "network": self.number(trial),
                "seed": trial.seed,
                "flow": started,
                "size_bytes": trial.flows.size_bytes[started],
                "start_us": trial.start_ns / 1000,
                "ideal_fct_us": times.ideal / 1000,
                "completed": times.finished,
                **of_flows(times),
            }
        )

    def _drawn(self, block: Block) -> list[NumberedTrial]:
        return self.space.draw(self.seed, block.size, block.first)


def _by_scenario(trials: Sequence[NumberedTrial]) -> list[list[NumberedTrial]]:
    """Return trials in groups, one for each of their scenarios."""
    groups: dict[str, list[NumberedTrial]] = {}
    for each in trials:
        groups.setdefault(each.scenario.name, []).append(each)
    return list(groups.values())
