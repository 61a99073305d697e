"""Lanes as a `VectorEnv` of Gymnasium (``pip install 'lcca[drl]'``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.gym_envs.batch.agent_slots import FLOW_ENDED, TRIAL_ENDED, Lanes, Rules
from lcca.gym_envs.batch.rewards import Kind, Reward
from lcca.gym_envs.batch.sources import DEFAULT_NETWORK, NetworkSource
from lcca.gym_envs.batch.spaces import action_space, agent_with, observation_space
from lcca.inputs.errors import InputError
from lcca.inputs.extras import missing
from lcca.remy_plus.policies.agents import Agent
from lcca.remy_plus.policies.policy import Policy, baseline

try:
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise missing("gymnasium", "environments") from error

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


class LanesVectorEnv(VectorEnv[Floats, Any, Any]):
    """Every lane is an environment; episodes are flows; a lane starts its next flow by itself.

    When a flow ends, ``infos["final_obs"]`` has what it saw last, in the rows where ``infos["_final_obs"]`` is set, and
    the observation is already the lane's next one. ``infos["acting"]`` tells whose next action counts: a lane without
    a flow sees −1 everywhere and earns 0.

    Args:
        lanes: with whole rows.

    Raises:
        InputError: lanes without whole rows.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(self, lanes: Lanes) -> None:
        if not lanes.whole_rows:
            raise InputError("lanes: a VectorEnv needs Lanes(…, whole_rows=True)")
        self.lanes = lanes
        self.num_envs = lanes.num_lanes
        self.render_mode = None
        self.single_observation_space = observation_space(lanes.rules.agent)
        self.single_action_space = action_space(lanes.rules.agent)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begin every game anew."""
        super().reset(seed=seed, options=options)
        self.lanes.reset(seed)
        return self.lanes.observation.copy(), {"acting": self.lanes.acting.astype(bool)}

    def step(self, actions: Any) -> tuple[Floats, Any, Bools, Bools, dict[str, Any]]:
        """Decide, and play every game to its next decision."""
        self.lanes.step(actions)
        ended = self.lanes.ended
        infos: dict[str, Any] = {"acting": self.lanes.acting.astype(bool)}
        if ended.any():
            infos |= {"final_obs": self.lanes.last_observation.copy(), "_final_obs": ended != 0}
        rewards = self.lanes.reward.copy()
        return self.lanes.observation.copy(), rewards, ended == FLOW_ENDED, ended == TRIAL_ENDED, infos


def bottlenecks(
    num_envs: int = 1,
    agent: Agent | str = "e2e",
    networks: NetworkSource = DEFAULT_NETWORK,
    reward: Reward | Kind = "power",
    others: Policy | str | None = None,
    duration: float = 10_000.0,
    patience: float = 8.0,
) -> LanesVectorEnv:
    """Return `num_envs` learning flows, each on a network of its own, for ``gymnasium.make_vec``.

    Arguments as of `BottleneckEnv`; without others, networks must have one sender.
    """
    rules = Rules(
        agent_with(agent) if isinstance(agent, str) else agent,
        Reward(reward) if isinstance(reward, str) else reward,
        baseline(others) if isinstance(others, str) else others,
        duration,
        patience=patience,
    )
    return LanesVectorEnv(Lanes(rules, networks, games=num_envs, lanes=1, whole_rows=True))
