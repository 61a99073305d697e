"""What runs in the processes of ns-3: a trial from its plan, or one that is played piece by piece (`Session`).

It imports nothing that a process would have to load before it can begin.
"""

from __future__ import annotations

import time
from typing import Any

BOTTLENECK = "lcca.gym_envs.ns3.host:BottleneckHost"


def run_plan(plan: dict[str, Any]) -> dict[str, Any]:
    """Run one trial in this process."""
    from lcca.ns3 import run_trial

    found: dict[str, Any] = run_trial(plan)
    return found


def run_long_plan(plan: dict[str, Any]) -> dict[str, Any]:
    """Run one trial of long flows in this process; return what it counted, and the CPU seconds that it took."""
    began = time.process_time()
    found = run_plan(plan)
    return {name: found[name] for name in ("windows", "sent", "events")} | {"cpu_s": time.process_time() - began}


class BottleneckHost:
    """Trials in which an agent steers the first flow of the first sender."""

    _driver: Any = None

    def begin(self, plan: dict[str, Any], agent: dict[str, Any], reward: dict[str, Any], base_delay: float) -> Any:
        """Play a trial up to its first decision; return (due, observation, reward, ending, µs)."""
        from lcca.ns3 import BottleneckDriver

        self._driver = None  # ns-3 is global: the last trial must end first
        self._driver = BottleneckDriver(plan, agent, reward, base_delay)
        return self._driver.start()

    def act(self, action: list[float]) -> Any:
        """Decide, and play on to the next decision or the flow's end."""
        return self._driver.act(action)
