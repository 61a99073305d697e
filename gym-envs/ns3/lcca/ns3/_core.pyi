# SPDX-License-Identifier: GPL-2.0-only
from collections.abc import Sequence
from typing import Any

NS3_VERSION: str

def run_trial(plan: dict[str, Any]) -> dict[str, Any]:
    """Runs the trial that a dictionary describes; returns what was measured. One at a time in a process."""

def buffer_work() -> dict[str, int]:
    """What searches in TCP's buffers took since the process began: calls of this module's functions, segments that they
    looked at, calls that they left to ns-3's own."""

def registered_controls() -> dict[str, dict[str, str]]:
    """The congestion controls of this process by TypeId, with their attributes and defaults as ns-3 writes them."""

class BottleneckDriver:
    """A trial in which an agent steers the first flow."""

    def __init__(
        self, plan: dict[str, Any], agent: dict[str, Any], reward: dict[str, Any], base_delay: float
    ) -> None: ...
    def start(self) -> tuple[bool, list[float], float, int, float]:
        """Plays to the flow's start: (due, observation, reward, ending, now)."""
    def act(self, action: Sequence[float]) -> tuple[bool, list[float], float, int, float]:
        """Acts, and plays on to the next decision or the flow's end."""

class SwitchDriver:
    """A trial with a queue whose marking is set from outside."""

    def __init__(self, plan: dict[str, Any]) -> None: ...
    def start(self) -> None: ...
    def advance(
        self, min_k: float, max_k: float, max_p: float, us: float
    ) -> tuple[float, float, float, int, float, bool]:
        """Plays an interval: (its length, mean queue, bytes sent, packets marked, now, over)."""
    def collect(self) -> dict[str, Any]:
        """At the end, once: the trial's record, and for how many ns so many packets waited."""
