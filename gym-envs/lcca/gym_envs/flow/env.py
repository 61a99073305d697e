"""What environments of one learning flow have in common, for any simulator (``pip install 'lcca[drl]'``)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lcca.gym_envs.interface.episode import (
    FLOW_ENDED,
    Kind,
    NetworkSource,
    Own,
    Reward,
    networks_from,
    own_worth,
    read_source,
    reward_of,
)
from lcca.gym_envs.interface.spaces import action_array, action_space, agent_with, observation_space, policy_of
from lcca.inputs.errors import InputError
from lcca.inputs.extras import missing
from lcca.remy_plus.engine import Model
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.agents import Agent
from lcca.remy_plus.policies.policy import Policy

try:
    import gymnasium
except ImportError as error:
    raise missing("gymnasium", "environments") from error

Floats = NDArray[np.float32]
_MOST_TRIES = 1000
_PICTURE = 64  # pixels high


class LearningFlowEnv(gymnasium.Env[Floats, Any]):
    """One learning flow of a trial, of which `reset` begins an episode.

    Args:
        agent: what it sees and does.
        own_reward: what is no function of one's own is left to the environment.
        render_mode: None, or "rgb_array" for `render` to return a picture.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012

    def __init__(self, agent: Agent, own_reward: object, render_mode: str | None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise InputError(f"render_mode: must be rgb_array or None, got {render_mode!r:.60}")
        self.render_mode = render_mode
        self.agent = agent
        self.own_reward = own_reward if callable(own_reward) else None
        self.observation_space = cast("gymnasium.Space[Floats]", observation_space(agent))
        self.action_space = action_space(agent)
        self._info: dict[str, Any] = {}
        self._seen: Floats = np.zeros(agent.inputs, dtype=np.float32)
        self._due = False

    @abstractmethod
    def _act(self, action: Floats) -> tuple[Floats, float, int]:
        """Decide and go on; return what the agent sees, the reward, and 0, FLOW_ENDED or TRIAL_ENDED."""

    @abstractmethod
    def _now(self) -> float:
        """Return the time of the trial, µs."""

    def _begun(self, seen: Floats, **info: int) -> tuple[Floats, dict[str, Any]]:
        """Return what `reset` does, of an episode that has begun."""
        self._info, self._seen, self._due = info, seen, True
        return seen.copy(), {**info, "now_us": self._now()}

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Decide, and go on until the next decision or the end of the flow.

        Raises:
            InputError: the episode is over, or has not begun; or it is no action (see `action_array`), and the episode
                goes on.
        """
        if not self._due:
            raise InputError("step: the episode is over or has not begun; call reset first")
        chosen = action_array(self.action_space, action).astype(np.float32).reshape(-1)
        self._due = False  # unless it comes to another decision
        self._seen, reward, ended = self._act(chosen)
        self._due, info = ended == 0, {**self._info, "now_us": self._now()}
        if self.own_reward is not None:
            reward = own_worth(self.own_reward, self._seen, action, info)
        return self._seen.copy(), reward, ended == FLOW_ENDED, ended > FLOW_ENDED, info

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture of what the agent sees: a bar per input, full at its bound."""
        return None if self.render_mode is None else picture(self._seen, self.agent)


class FlowEnv(LearningFlowEnv):
    """One learning flow of a trial.

    An episode is the first flow of the first sender in a trial, from when it comes on: *terminated* when it goes off,
    *truncated* when the trial ends before. The first observation of a flow is all zeros, and the first action sets out
    from the initial window or rate. A step ends when the agent has to decide again: see `Decisions`. An observation
    comes with an acknowledgement, and the action acts at that instant on what is sent from then on; its effect is seen
    a round trip later, as it would be by a real sender.

    `reset` draws a network and a seed of the trial; with ``options={"trial_seed": s}`` the seed is s, and the
    trial is the one that the simulator runs with that seed. ``info`` has the network's id, the trial's seed and
    `now_us`.
    """

    def __init__(
        self,
        agent: Agent | str,
        networks: NetworkSource,
        reward: Reward | Kind | Own,
        others: Policy | str | None,
        duration: float,
        model: Model | None,
        render_mode: str | None,
    ) -> None:
        super().__init__(agent_with(agent) if isinstance(agent, str) else agent, reward, render_mode)
        self.networks = read_source(networks)
        self.reward = Reward() if callable(reward) else reward_of(reward)
        self.others = policy_of(others)
        self.duration = duration
        self.model = model or Model()

    @abstractmethod
    def _begin(self, network: Network, trial_seed: int) -> Floats | None:
        """Run a trial until its flow comes on, and return what the agent sees; None where none does."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begin a trial, and run it until the flow comes on.

        Raises:
            InputError: in 1,000 trials no flow came on, or none did with the seed that was asked for.
        """
        super().reset(seed=seed)
        drawn = networks_from(self.networks, int(self.np_random.integers(2**32)), 1)
        network = drawn[int(self.np_random.integers(len(drawn)))]
        network = replace(network, senders=1) if self.others is None else network
        given = (options or {}).get("trial_seed")
        self._due = False
        for _ in range(_MOST_TRIES if given is None else 1):
            trial_seed = int(self.np_random.integers(2**63)) if given is None else int(given)
            seen = self._begin(network, trial_seed)
            if seen is not None:
                return self._begun(seen, network=network.id, trial_seed=trial_seed)
        raise InputError(f"network {network.id}: no flow came on within {self.duration:g} µs")


def picture(seen: Floats, agent: Agent) -> NDArray[np.uint8]:
    """Return a picture, (64, 8 · inputs, 3), of what an agent sees: a bar per input, full at its bound."""
    tops = np.clip(seen / agent.bounds, 0, 1)[None, :] * _PICTURE
    below = np.arange(_PICTURE, 0, -1)[:, None] <= tops
    bars = np.kron(np.where(below, 40, 255), np.ones((1, 8))).astype(np.uint8)
    return np.repeat(bars[:, :, None], 3, axis=2)
