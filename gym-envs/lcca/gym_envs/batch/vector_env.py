"""AgentSlots as a `VectorEnv` of Gymnasium (``pip install 'lcca[drl]'``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.gym_envs.batch.agent_slots import AgentSlots, Rules
from lcca.gym_envs.interface.episode import (
    DEFAULT_NETWORK,
    FLOW_ENDED,
    TRIAL_ENDED,
    Kind,
    NetworkSource,
    Reward,
    reward_of,
)
from lcca.gym_envs.interface.slots import Slots
from lcca.gym_envs.interface.spaces import action_space, agent_with, observation_space, policy_of
from lcca.inputs.errors import InputError
from lcca.inputs.extras import missing
from lcca.remy_plus.policies.agents import Agent
from lcca.remy_plus.policies.policy import Policy

try:
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise missing("gymnasium", "environments") from error

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


class AgentSlotsVectorEnv(VectorEnv[Floats, Any, Any]):
    """Every slot is an environment; episodes are flows; a slot starts its next flow by itself.

    When a flow ends, ``infos["final_obs"]`` has what it saw last, in the rows where ``infos["_final_obs"]`` is set, and
    the observation is already the slot's next one. ``infos["acting"]`` is set for slots whose next action
    counts: a slot without a flow sees −1 everywhere and has reward 0.

    Args:
        slots: with whole rows.

    Raises:
        InputError: slots without whole rows.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(self, slots: Slots) -> None:
        if not slots.whole_rows:
            raise InputError("slots: a VectorEnv needs slots with whole_rows=True")
        self.slots = slots
        self.num_envs = slots.num_slots
        self.render_mode = None
        self.single_observation_space = observation_space(slots.agent)
        self.single_action_space = action_space(slots.agent)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begin every environment anew."""
        super().reset(seed=seed, options=options)
        self.slots.reset(seed)
        return self.slots.observation.copy(), {"acting": self.slots.acting.astype(bool)}

    def step(self, actions: Any) -> tuple[Floats, Any, Bools, Bools, dict[str, Any]]:
        """Decide, and run every environment to its next decision."""
        self.slots.step(actions)
        ended = self.slots.ended
        infos: dict[str, Any] = {"acting": self.slots.acting.astype(bool)}
        if ended.any():
            infos |= {"final_obs": self.slots.last_observation.copy(), "_final_obs": ended != 0}
        rewards = self.slots.reward.copy()
        return self.slots.observation.copy(), rewards, ended == FLOW_ENDED, ended == TRIAL_ENDED, infos


def bottlenecks(
    num_envs: int = 1,
    agent: Agent | str = "e2e",
    networks: NetworkSource = DEFAULT_NETWORK,
    reward: Reward | Kind = "power",
    others: Policy | str | None = None,
    duration: float = 10_000.0,
    patience: float = 8.0,
    max_episode_steps: int | None = None,
) -> AgentSlotsVectorEnv:
    """Return `num_envs` learning flows, each on a network of its own, for ``gymnasium.make_vec``.

    Arguments as of `BottleneckEnv`; without others, networks must have one sender. What Gymnasium says of
    `max_episode_steps` is not looked at: flows end by themselves.
    """
    rules = Rules(
        agent_with(agent) if isinstance(agent, str) else agent,
        reward_of(reward),
        policy_of(others),
        duration,
        patience=patience,
    )
    return AgentSlotsVectorEnv(AgentSlots(rules, networks, environments=num_envs, slots=1, whole_rows=True))
