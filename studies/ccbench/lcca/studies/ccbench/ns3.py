"""A benchmark's trials in ns-3."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lcca.gym_envs.ns3.long_flows import LongResult, WindowCounts
from lcca.gym_envs.ns3.long_plan import iterate_long_trials, long_plan, run_long_trial
from lcca.gym_envs.ns3.simulator import installed, libraries
from lcca.remy_plus.policies.policy import Policy
from lcca.studies.ccbench.description import Description
from lcca.studies.ccbench.scenario import Drawn, Measured, draw, long_trial
from lcca.workers.pool import Pool


@dataclass(frozen=True)
class Ns3Bench:
    """Runs a benchmark's trials in ns-3; a `Runner`.

    Attributes:
        jobs: worker processes; never changes a result.
        pool: that is used in their place.

    Raises:
        InputError: ns-3 is not installed.
    """

    jobs: int
    pool: Pool | None = None

    def __post_init__(self) -> None:
        """Check that ns-3 is there."""
        installed()

    @property
    def name(self) -> str:
        """The word in the column ``simulator``."""
        return f"ns-{installed()}"

    def check(self, benchmark: Description, policy: Policy) -> None:
        """Check that a control can run here.

        Raises:
            InputError: it cannot; says why.
        """
        long_plan(long_trial(benchmark, policy, draw(benchmark, 0, 1, 0)[0]))

    def key(self, benchmark: Description, policy: Policy, drawn: Drawn) -> str:
        """Return a hash of a trial's plan and of ns-3's libraries."""
        plan = long_plan(long_trial(benchmark, policy, drawn))
        text = json.dumps(plan, sort_keys=True, default=repr)  # of classes and bytes
        return hashlib.sha256(f"{self.name} {libraries()} {text}".encode()).hexdigest()

    def measure(self, benchmark: Description, asked: Sequence[tuple[Policy, Drawn]]) -> Iterator[tuple[int, Measured]]:
        """Run a control in each trial, in worker processes."""
        trials = [long_trial(benchmark, *each) for each in asked]
        for place, found in iterate_long_trials(trials, self.jobs, self.pool):
            yield place, _measured(found)

    def cpu_s(self, benchmark: Description, policy: Policy, drawn: Drawn) -> float:
        """Run one trial; return the CPU seconds that it took."""
        return run_long_trial(long_trial(benchmark, policy, drawn)).cpu_s


def _measured(found: LongResult) -> Measured:
    """Return what the control's flow, the first of the trial, did."""
    windows = found.windows[0] if not found.error else ()
    mbps = np.array([_mbps(each) for each in windows])
    return Measured(mbps, np.array([each.delay_ms for each in windows]), found.error)


def _mbps(window: WindowCounts) -> float:
    """Return bits over the time from the first to the last departure, as ccBench counts them."""
    taken = window.last_s - window.first_s
    return 8e-6 * window.bytes / taken if taken > 0 else math.nan
