"""Agent slots as a `VecEnv` of Stable-Baselines3: one policy for all flows (``pip install 'lcca[drl]'``)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.gym_envs.interface.episode import TRIAL_ENDED
from lcca.gym_envs.interface.slots import Slots
from lcca.gym_envs.interface.spaces import action_space, observation_space
from lcca.inputs.errors import InputError
from lcca.inputs.extras import missing

try:
    from stable_baselines3.common.vec_env.base_vec_env import VecEnv
except ImportError as error:
    raise missing("stable-baselines3", "vectorised environments") from error

_NOTHING: dict[str, Any] = {}  # the info of most slots, once for all: no Python per slot


class AgentSlotsVecEnv(VecEnv):
    """Every slot is an environment; episodes are flows.

    A slot without a flow sees −1 everywhere and has reward 0; its action is ignored, as is that of a slot that need not
    decide yet (see `acting`). When a flow ends, `dones` is set, ``info`` has
    ``terminal_observation``, ``TimeLimit.truncated`` (the trial ended, not the flow) and ``episode`` with the return
    ``r`` and the number of decisions ``l``; the observation is already the slot's next one.

    Args:
        slots: with whole rows.

    Raises:
        InputError: slots without whole rows.
    """

    def __init__(self, slots: Slots) -> None:
        if not slots.whole_rows:
            raise InputError("slots: a VecEnv needs slots with whole_rows=True")
        self.slots = slots
        self._actions: NDArray[Any] | None = None
        self._episodes = _Episodes(slots)
        self.agent = slots.agent
        super().__init__(slots.num_slots, observation_space(self.agent), action_space(self.agent))

    @property
    def acting(self) -> NDArray[np.bool_]:
        """(slots,) whose next action counts."""
        return self.slots.acting.astype(bool)

    def reset(self) -> NDArray[np.float32]:
        """Begin every environment anew, with the seed of the latest `seed`, or else with the same again."""
        seed = self._seeds[0]
        self.slots.reset(self.slots.seed if seed is None else seed)
        self._reset_seeds()
        self._reset_options()
        self._episodes.reset()
        return self.slots.observation.copy()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Decide, and run every environment to its next decision."""
        if self._actions is None:
            raise InputError("step_wait: call step_async first")
        self.slots.step(self._actions)
        self._actions = None
        dones = self.slots.ended != 0
        infos = [_NOTHING] * self.num_envs
        for slot, episode in self._episodes.step().items():
            infos[slot] = {
                "terminal_observation": self.slots.last_observation[slot].copy(),
                "TimeLimit.truncated": bool(self.slots.ended[slot] == TRIAL_ENDED),
                "episode": episode,
            }
        return self.slots.observation.copy(), self.slots.reward.copy(), dones, infos

    def close(self) -> None:
        """Nothing to close."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return the same value for every slot."""
        value = None if attr_name == "render_mode" else getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Slots have no attributes of their own."""
        raise InputError(f"{attr_name}: slots have no attributes of their own; set it where they are made")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Slots have no methods of their own."""
        raise InputError(f"{method_name}: slots have no methods of their own; see AgentSlotsVecEnv.slots")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Tell what `AgentSlotsVecEnv` does of itself: episodes' returns, as Monitor does."""
        from stable_baselines3.common.monitor import Monitor

        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Any]:
        """Return no pictures."""
        return [None] * self.num_envs


class _Episodes:
    """Sums rewards and counts decisions of each slot's flow, without Python per agent slot."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._returns = np.zeros(slots.num_slots)
        self._lengths = np.zeros(slots.num_slots, dtype=np.int64)
        self._began = time.monotonic()

    def reset(self) -> None:
        """Forget what was begun."""
        self._returns[:] = 0
        self._lengths[:] = self._slots.acting

    def step(self) -> dict[int, dict[str, float]]:
        """Take the slots' latest step in; return ``{"r", "l", "t"}`` of every slot whose flow ended in it."""
        self._returns += self._slots.reward
        done = np.flatnonzero(self._slots.ended)
        finished = {
            int(slot): {
                "r": float(self._returns[slot]),
                "l": int(self._lengths[slot]),
                "t": round(time.monotonic() - self._began, 6),
            }
            for slot in done
        }
        self._returns[done] = 0
        self._lengths[done] = 0
        self._lengths += self._slots.acting
        return finished
