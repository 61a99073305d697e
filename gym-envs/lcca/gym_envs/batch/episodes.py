"""Returns and lengths of episodes, without Python per agent slot."""

from __future__ import annotations

import time

import numpy as np

from lcca.gym_envs.batch.agent_slots import AgentSlots


class Episodes:
    """Sums rewards and counts decisions of each slot's flow."""

    def __init__(self, slots: AgentSlots) -> None:
        self._slots = slots
        self._returns = np.zeros(slots.num_slots)
        self._lengths = np.zeros(slots.num_slots, dtype=np.int64)
        self._began = time.time()

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
                "t": round(time.time() - self._began, 6),
            }
            for slot in done
        }
        self._returns[done] = 0
        self._lengths[done] = 0
        self._lengths += self._slots.acting
        return finished
