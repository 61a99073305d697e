"""Who runs the trials of a benchmark, and what comes back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.bench.scenario import Drawn
from lcca.remy_plus.policies.policy import Policy

if TYPE_CHECKING:
    from lcca.evaluation.bench.benchmark import Benchmark

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """What a control did in each interval of a scenario.

    Attributes:
        mbps: (intervals,) throughput: what left the link, over the time from the first to the last departure.
        delay_ms: (intervals,) mean one-way delay of packets; NaN where none left.
        error: why the trial failed; nothing where it did not.
    """

    mbps: Floats
    delay_ms: Floats
    error: str = ""


class Runner(Protocol):
    """Runs trials of a benchmark in a simulator."""

    @property
    def name(self) -> str:
        """Of the simulator."""

    def check(self, benchmark: Benchmark, policy: Policy) -> None:
        """Check that a control can run, and the scenarios.

        Raises:
            InputError: it cannot; says why.
        """

    def cpu_s(self, benchmark: Benchmark, policy: Policy, drawn: Drawn) -> float:
        """Run one trial; return the CPU seconds that it took."""

    def key(self, benchmark: Benchmark, policy: Policy, drawn: Drawn) -> str:
        """Return a hash of all that a trial's result depends on, the code left out."""

    def measure(self, benchmark: Benchmark, asked: Sequence[tuple[Policy, Drawn]]) -> Iterator[tuple[int, Measured]]:
        """Run a control in each trial; yield (place among those that were asked for, what it did) as they come."""
