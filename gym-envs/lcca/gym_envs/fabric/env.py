"""`lcca/FabricFlow-v0`: one flow of a fabric that learns, among others (``pip install 'lcca[drl]'``)."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from lcca.gym_envs.batch.vector_env import AgentSlotsVectorEnv
from lcca.gym_envs.fabric.fabrics import Fabric, SmallFabric
from lcca.gym_envs.fabric.slots import FabricSlots
from lcca.gym_envs.fabric.trials import SEEDS, FabricTrials, Rows, Worth
from lcca.gym_envs.flow.env import LearningFlowEnv
from lcca.gym_envs.interface.episode import Own
from lcca.gym_envs.interface.slots import Floats
from lcca.gym_envs.interface.spaces import agent_with, header_with
from lcca.gym_envs.interface.turns import Turns
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord
from lcca.remy_plus.policies.agents import Agent
from lcca.signal_sets.headers.header import Header
from lcca.signal_sets.headers.simulated import stamping

_MOST_TRIES = 100


def _trials(
    agent: Agent | str,
    scenario: Fabric | None,
    others: str | FabricEngine,
    reward: Worth,
    header: Header | None,
    patience_us: float = 0.0,
) -> FabricTrials:
    seen = agent_with(agent) if isinstance(agent, str) else agent
    stamped = None if header is None else stamping(header)
    return FabricTrials(seen, scenario or SmallFabric(), others, reward, patience_us, stamped)


class FabricFlowEnv(LearningFlowEnv):
    """One learning flow of a trial on a fabric; the other flows run a transport.

    An episode is the flow, from its start: *terminated* with its last acknowledgement, *truncated* at the end of the
    trial. A step ends when the agent has to decide again: see `Decisions`. `reset` draws a trial and a flow of it;
    ``options={"trial_seed": s, "flow": i}`` sets them. ``info`` has both, the flow's size and `now_us`.

    Args:
        agent: what it sees and does, or the name of a signal set for once per round trip and a factor of the window.
        scenario: fabric and workload; a small one if left out.
        others: what the other flows run: a name as for `lcca evaluate`, or an engine.
        reward: see `FabricTrials`; or a function of what the agent sees after the step, its action and `info`.
        smallest_bytes: of a flow that is drawn.
        header: of all packets, or its name or file.
        render_mode: None, or "rgb_array" for `render` to return a picture.

    Raises:
        InputError: any of it is impossible.
    """

    def __init__(
        self,
        agent: Agent | str = "e2e",
        scenario: Fabric | None = None,
        others: str | FabricEngine = "dcqcn",
        reward: Worth | Own = "slowdown",
        smallest_bytes: int = 100_000,
        header: Header | str | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.header, self.smallest_bytes = header_with(header), smallest_bytes
        worth = "slowdown" if callable(reward) else reward
        self.trials = _trials(agent, scenario, others, worth, self.header)
        super().__init__(self.trials.agent, reward, render_mode)
        self._turns: Turns[Rows | FabricRecord, Floats] | None = None
        self._end: weakref.finalize[Any, Any] | None = None
        self._now_us = 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begin a trial, and run it until the flow begins.

        Raises:
            InputError: in 100 trials no flow was large enough or began, or there is no such flow.
        """
        super().reset(seed=seed)
        options = options or {}
        for _ in range(1 if {"trial_seed", "flow"} <= options.keys() else _MOST_TRIES):
            self.close()
            drawn = int(self.np_random.integers(SEEDS))
            trial_seed = int(options.get("trial_seed", drawn))
            flows = self.trials.scenario.flows(trial_seed)
            large = np.flatnonzero(flows.size_bytes >= self.smallest_bytes)
            place = int(self.np_random.integers(max(len(large), 1)))
            if "flow" not in options and not len(large):
                continue
            flow = int(options.get("flow", large[place] if len(large) else 0))
            turns = self.trials.begin(trial_seed, 1, (flow,), flows)
            self._end = weakref.finalize(self, turns.close)
            rows = turns.first()
            if "slot" in rows:
                self._turns, self._now_us = turns, float(rows["now_us"][0])
                size = int(flows.size_bytes[flow])
                return self._begun(rows["view"][0], trial_seed=trial_seed, flow=flow, size_bytes=size)
        raise InputError(f"scenario: no flow of {self.smallest_bytes} bytes began; lower smallest_bytes")

    def _now(self) -> float:
        return self._now_us

    def _act(self, action: Floats) -> tuple[Floats, float, int]:
        assert self._turns is not None
        rows = self._turns.after(action.reshape(1, -1))
        ended, self._now_us = int(rows["ended"][0]), float(rows["now_us"][0])
        if ended:
            self._turns.close()
        return rows["view"][0], float(self.trials.worth(rows)[0]), ended

    def close(self) -> None:
        """End the episode that goes on."""
        self._due = False
        if self._end is not None:
            self._end()


def fabric_flows(
    num_envs: int = 1,
    agent: Agent | str = "e2e",
    scenario: Fabric | None = None,
    others: str | FabricEngine = "dcqcn",
    reward: Worth = "slowdown",
    header: Header | str | None = None,
    patience_us: float = 2.0,
    max_episode_steps: int | None = None,
) -> AgentSlotsVectorEnv:
    """Return the flows of one fabric in `num_envs` slots, for ``gymnasium.make_vec``.

    Arguments as of `FabricFlowEnv` and `FabricTrials`; flows that find no slot free run what the others do. What
    Gymnasium says of `max_episode_steps` is not looked at: flows end by themselves.
    """
    trials = _trials(agent, scenario, others, reward, header_with(header), patience_us)
    return AgentSlotsVectorEnv(FabricSlots(trials, num_envs))
