"""Returns and lengths of the flows that lanes bring forth, without Python per lane."""

from __future__ import annotations

import time

import numpy as np

from lcca.gym_envs.batch.agent_slots import Lanes


class Episodes:
    """Sums rewards and counts decisions per lane; tells them when a flow ends."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes
        self._returns = np.zeros(lanes.num_lanes)
        self._lengths = np.zeros(lanes.num_lanes, dtype=np.int64)
        self._began = time.time()

    def reset(self) -> None:
        """Forget what was begun."""
        self._returns[:] = 0
        self._lengths[:] = self._lanes.acting

    def step(self) -> dict[int, dict[str, float]]:
        """Take the lanes' latest step in; return ``{"r", "l", "t"}`` of every lane whose flow ended in it."""
        self._returns += self._lanes.reward
        done = np.flatnonzero(self._lanes.ended)
        told = {
            int(lane): {
                "r": float(self._returns[lane]),
                "l": int(self._lengths[lane]),
                "t": round(time.time() - self._began, 6),
            }
            for lane in done
        }
        self._returns[done] = 0
        self._lengths[done] = 0
        self._lengths += self._lanes.acting
        return told
