"""Lanes as a `VecEnv` of Stable-Baselines3: one policy for all flows (``pip install 'lcca[drl]'``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.gym_envs.batch.agent_slots import TRIAL_ENDED, Lanes
from lcca.gym_envs.batch.episodes import Episodes
from lcca.gym_envs.batch.spaces import action_space, observation_space
from lcca.inputs.errors import InputError
from lcca.inputs.extras import missing

try:
    from stable_baselines3.common.vec_env.base_vec_env import VecEnv
except ImportError as error:
    raise missing("stable-baselines3", "vectorised environments") from error

_NOTHING: dict[str, Any] = {}  # what most lanes have to tell, once for all: no Python per lane


class LanesVecEnv(VecEnv):
    """Every lane is an environment; episodes are flows.

    A lane without a flow sees −1 everywhere, earns 0, and what is said for it is ignored, as is what is said for one
    that need not decide yet; `acting` tells them apart. When a flow ends, `dones` is set, ``info`` has
    ``terminal_observation``, ``TimeLimit.truncated`` (the trial ended, not the flow) and ``episode`` with the return
    ``r`` and the number of decisions ``l``; the observation is already the lane's next one.

    Args:
        lanes: with whole rows.

    Raises:
        InputError: lanes without whole rows.
    """

    def __init__(self, lanes: Lanes) -> None:
        if not lanes.whole_rows:
            raise InputError("lanes: a VecEnv needs Lanes(…, whole_rows=True)")
        self.lanes = lanes
        self._actions: NDArray[Any] | None = None
        self._episodes = Episodes(lanes)
        agent = lanes.rules.agent
        super().__init__(lanes.num_lanes, observation_space(agent), action_space(agent))

    @property
    def acting(self) -> NDArray[np.bool_]:
        """(lanes,) whose next action counts."""
        return self.lanes.acting.astype(bool)

    def reset(self) -> NDArray[np.float32]:
        """Begin every game anew, with the seed of the latest `seed`, or else the one after the last."""
        seed = self._seeds[0]
        self.lanes.reset(self.lanes.seed if seed is None else seed)
        self._reset_seeds()
        self._reset_options()
        self._episodes.reset()
        return self.lanes.observation.copy()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Decide, and play every game to its next decision."""
        if self._actions is None:
            raise InputError("step_wait: call step_async first")
        self.lanes.step(self._actions)
        self._actions = None
        dones = self.lanes.ended != 0
        infos = [_NOTHING] * self.num_envs
        for lane, told in self._episodes.step().items():
            infos[lane] = {
                "terminal_observation": self.lanes.last_observation[lane].copy(),
                "TimeLimit.truncated": bool(self.lanes.ended[lane] == TRIAL_ENDED),
                "episode": told,
            }
        return self.lanes.observation.copy(), self.lanes.reward.copy(), dones, infos

    def close(self) -> None:
        """Nothing to close."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return the same value for every lane."""
        value = None if attr_name == "render_mode" else getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Lanes have no attributes of their own."""
        raise InputError(f"{attr_name}: lanes have no attributes of their own; set it where the Lanes are made")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Lanes have no methods of their own."""
        raise InputError(f"{method_name}: lanes have no methods of their own; see LanesVecEnv.lanes")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Tell what `LanesVecEnv` does of itself: episodes' returns, as Monitor does."""
        from stable_baselines3.common.monitor import Monitor

        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Any]:
        """Return no pictures."""
        return [None] * self.num_envs
