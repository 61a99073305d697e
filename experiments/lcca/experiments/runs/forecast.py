"""What a run costs, from a few of its trials."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lcca.evaluation.trials.blocks import Block

ENOUGH_CPU_S = 5.0
"""CPU seconds of trials that a pace is judged by, where there are so many."""


@dataclass(frozen=True)
class Cost:
    """What the first so many trials of a run cost.

    Attributes:
        count: networks, pairs, seeds or scenarios.
        unit: which of them, in the plural.
        cpu_s: of all policies together.
        jobs: threads or worker processes.
        by: what sets the count: keys of the configuration, or an option.
    """

    count: int
    unit: str
    cpu_s: float
    jobs: int
    by: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values; `time_s` if nothing else wants the processors."""
        known = {self.unit: self.count, "cpu_s": self.cpu_s, "time_s": self.cpu_s / self.jobs}
        return known | {"by": self.by} if self.by else known


def cpu_s_per_weight(
    run: Callable[[Block], object], weights: Sequence[float], enough_s: float = ENOUGH_CPU_S
) -> tuple[float, int]:
    """Return the CPU seconds that trials take per weight, and how many were run: one, then two more, then four.

    Args:
        run: runs a stretch of trials.
        weights: of all trials: what a trial costs is in proportion, as far as known.
        enough_s: no more are begun after so many CPU seconds.
    """
    spent, done, size = 0.0, 0, 1
    while done < len(weights) and spent < enough_s:
        block = Block(0, done, min(size, len(weights) - done))
        before = cpu_s()
        run(block)
        spent, done, size = spent + cpu_s() - before, block.end, 2 * size
    return spent / sum(weights[:done]), done


def cpu_s() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    found = os.times()
    return time.process_time() + found.children_user + found.children_system
