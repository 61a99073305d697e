"""`lcca/FabricFlow-v0`: one flow of a fabric that learns, among others (``pip install 'lcca[drl]'``)."""

from __future__ import annotations

import weakref
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lcca.gym_envs.batch.vector_env import AgentSlotsVectorEnv
from lcca.gym_envs.ecn.fabrics import Fabric, SmallFabric
from lcca.gym_envs.fabric.slots import FabricSlots
from lcca.gym_envs.fabric.trials import SEEDS, FabricTrials, Rows, Worth
from lcca.gym_envs.flow.env import picture
from lcca.gym_envs.interface.episode import FLOW_ENDED, Own, own_worth
from lcca.gym_envs.interface.slots import Floats
from lcca.gym_envs.interface.spaces import action_array, action_space, agent_with, header_with, observation_space
from lcca.gym_envs.interface.turns import Turns
from lcca.inputs.errors import InputError
from lcca.inputs.extras import missing
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord
from lcca.remy_plus.policies.agents import Agent
from lcca.signal_sets.headers.header import Header
from lcca.signal_sets.headers.simulated import stamping

try:
    import gymnasium
except ImportError as error:
    raise missing("gymnasium", "environments") from error

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


class FabricFlowEnv(gymnasium.Env[Floats, Any]):
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

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012

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
        if render_mode not in (None, "rgb_array"):
            raise InputError(f"render_mode: must be rgb_array or None, got {render_mode!r:.60}")
        self.render_mode = render_mode
        self.header, self.smallest_bytes = header_with(header), smallest_bytes
        self.own_reward = reward if callable(reward) else None
        worth = "slowdown" if callable(reward) else reward
        self.trials = _trials(agent, scenario, others, worth, self.header)
        self.agent = self.trials.agent
        self.observation_space = cast("gymnasium.Space[Floats]", observation_space(self.agent))
        self.action_space = action_space(self.agent)
        self._turns: Turns[Rows | FabricRecord, Floats] | None = None
        self._end: weakref.finalize[Any, Any] | None = None
        self._info: dict[str, Any] = {}
        self._seen: Floats = np.zeros(self.agent.inputs, dtype=np.float32)

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
                self._turns = turns
                self._info = {"trial_seed": trial_seed, "flow": flow, "size_bytes": int(flows.size_bytes[flow])}
                self._seen = rows["view"][0]
                return self._seen.copy(), self._now(rows)
        raise InputError(f"scenario: no flow of {self.smallest_bytes} bytes began; lower smallest_bytes")

    def _now(self, rows: Rows) -> dict[str, Any]:
        return {**self._info, "now_us": float(rows["now_us"][0])}

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Decide, and go on until the next decision or the end of the flow.

        Raises:
            InputError: the episode is over, or has not begun; or it is no action (see `action_array`), and the episode
                goes on.
        """
        if self._turns is None:
            raise InputError("step: the episode is over or has not begun; call reset first")
        chosen = action_array(self.action_space, action).astype(np.float32).reshape(1, -1)
        turns, self._turns = self._turns, None  # unless it comes to another decision
        rows = turns.after(chosen)
        ended = int(rows["ended"][0])
        if ended:
            turns.close()
        else:
            self._turns = turns
        reward, info = float(self.trials.worth(rows)[0]), self._now(rows)
        self._seen = rows["view"][0]
        if self.own_reward is not None:
            reward = own_worth(self.own_reward, self._seen, action, info)
        return self._seen.copy(), reward, ended == FLOW_ENDED, ended > FLOW_ENDED, info

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture of what the agent sees; see `picture`."""
        return None if self.render_mode is None else picture(self._seen, self.agent)

    def close(self) -> None:
        """End the episode that goes on."""
        self._turns = None
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
