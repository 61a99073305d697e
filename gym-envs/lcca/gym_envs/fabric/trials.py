"""Trials on a fabric that stop where an agent has to decide for a flow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from lcca.gym_envs.fabric.fabrics import Fabric, SmallFabric
from lcca.gym_envs.interface.episode import Kind, Reward, reward_of
from lcca.gym_envs.interface.turns import Turns
from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.stamping import Stamping
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord, brought, engine_of
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.policies.agents import Agent
from lcca.signal_sets.load import resolve

Floats = NDArray[np.float32]
Rows: TypeAlias = Mapping[str, NDArray[Any]]
"""A row per decision or end: `slot`, `flow`, `ended` (0: the slot has to decide), (rows, inputs) `view`, `reward`, and
`elapsed_us` and since the decision before, `now_us`, and `ideal_us` of the flow."""

SEEDS = 2**53
"""The engine takes them as floating-point numbers."""

Worth: TypeAlias = Kind | Literal["slowdown"] | Reward


@dataclass(frozen=True)
class FabricTrials:
    """What all trials have in common.

    Attributes:
        agent: what the learner sees and does, in packets of the fabric's payload and µs.
        scenario: fabric and workload; its horizon ends a trial.
        others: what flows run that the agent does not steer: a name as for `lcca evaluate`, or an engine with
            its parameters, whose settings are replaced.
        reward: ``slowdown``: minus the time since the last decision, over what the flow takes alone from its start to
            its last acknowledgement, so that an episode adds up to minus its slowdown; or a reward of one bottleneck,
            whose throughput is the flow's own, its link rate that of the host's link and its base delay the flow's.
        patience_us: 0: a flow decides at the acknowledgement that asks for it; more: all flows that are due decide
            together at the next multiple of it.
        header: of all packets.

    Raises:
        InputError: signals that a fabric does not tell, or a transport that cannot be among agents.
    """

    agent: Agent
    scenario: Fabric = field(default_factory=SmallFabric)
    others: str | FabricEngine = "dcqcn"
    reward: Worth = "slowdown"
    patience_us: float = 0.0
    header: Stamping | None = None

    def __post_init__(self) -> None:
        """Check it by what the engine makes of it."""
        if not 0 <= self.patience_us <= 1e6:
            raise InputError(f"patience_us: must be 0 to 1e6, got {self.patience_us:g}")
        if self.reward != "slowdown":
            object.__setattr__(self, "reward", reward_of(self.reward))
        if self._engine.tuner is not None:
            raise InputError("others: agents steer flows while nobody tunes switches; leave the tuner out")
        _ = self.engine(lambda rows: rows["view"], 1).telemetry_bytes

    @cached_property
    def _engine(self) -> FabricEngine:
        settings = self.scenario.settings()
        if isinstance(self.others, str):
            return engine_of(resolve(self.others, "fabric").policy, settings)
        return replace(self.others, settings=settings)

    def engine(self, decide: Callable[[Rows], Floats], slots: int, flows: Sequence[int] = ()) -> FabricEngine:
        """Return the engine that asks for decisions.

        Args:
            decide: from rows to (rows, numbers) actions; those of ends do not count.
            slots: flows that are steered at once; others run as `others` do.
            flows: that may be steered; all if empty.
        """
        looks_at_hops, header = brought(self.agent.looked_at, self.header, self._engine.settings)
        reward = self.reward if isinstance(self.reward, Reward) else Reward()

        def around(transport: Any) -> _core.FabricAgents:
            return _core.FabricAgents(
                transport,
                agent=self.agent.compile(),
                reward=reward.compile(),
                decide=decide,
                slots=slots,
                patience_us=self.patience_us,
                flows=list(flows),
                looks_at_hops=looks_at_hops,
                header=None if header is None else header.content(),
            )

        return replace(self._engine, around=around)

    def begin(
        self, seed: int, slots: int, flows: Sequence[int] = (), drawn: FabricFlows | None = None
    ) -> Turns[Rows | FabricRecord, Floats]:
        """Begin a trial; its questions are rows, and the record at its end."""
        scenario = self.scenario

        def run(ask: Callable[[Rows | FabricRecord], Floats]) -> FabricRecord:
            these = scenario.flows(seed) if drawn is None else drawn
            engine = self.engine(cast("Callable[[Rows], Floats]", ask), slots, flows)
            horizon = scenario.horizon_ns(these)
            return engine.run(scenario.fabric, these, seed % SEEDS, horizon, last_round_ns=scenario.end_ns)

        return Turns(run)

    def worth(self, rows: Rows) -> Floats:
        """Return (rows,) rewards."""
        if isinstance(self.reward, Reward):
            return rows["reward"]
        return np.asarray(-rows["elapsed_us"] / rows["ideal_us"], dtype=np.float32)
