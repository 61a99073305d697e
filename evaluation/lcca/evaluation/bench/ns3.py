"""A benchmark's trials in ns-3."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lcca.evaluation.bench.benchmark import Benchmark
from lcca.evaluation.bench.runner import Measured
from lcca.evaluation.bench.sampling import Drawn, draw
from lcca.gym_envs.ns3.long_flows import Bottleneck, LongFlow, LongResult, LongTrial, WindowCounts
from lcca.gym_envs.ns3.long_plan import iterate_long_trials, long_plan, run_long_trial
from lcca.gym_envs.ns3.simulator import installed, libraries
from lcca.remy_plus.policies.policy import Policy, baseline


@dataclass(frozen=True)
class Ns3Bench:
    """Runs a benchmark's trials in ns-3; a `Runner`.

    Attributes:
        jobs: worker processes; never changes a result.

    Raises:
        InputError: ns-3 is not installed.
    """

    jobs: int

    def __post_init__(self) -> None:
        """Check that ns-3 is there."""
        installed()

    @property
    def name(self) -> str:
        """The word in the column ``simulator``."""
        return f"ns-{installed()}"

    def check(self, benchmark: Benchmark, policy: Policy) -> None:
        """Check that a control can run here.

        Raises:
            InputError: it cannot; says why.
        """
        long_plan(_trial(benchmark, policy, draw(benchmark, 0, 1, 0)[0]))

    def key(self, benchmark: Benchmark, policy: Policy, drawn: Drawn) -> str:
        """Return a hash of a trial's plan and of ns-3's libraries."""
        plan = json.dumps(long_plan(_trial(benchmark, policy, drawn)), sort_keys=True, default=repr)  # classes, bytes
        return hashlib.sha256(f"{self.name} {libraries()} {plan}".encode()).hexdigest()

    def measure(self, benchmark: Benchmark, asked: Sequence[tuple[Policy, Drawn]]) -> Iterator[tuple[int, Measured]]:
        """Run a control in each trial, in worker processes."""
        trials = [_trial(benchmark, *each) for each in asked]
        for place, found in iterate_long_trials(trials, self.jobs):
            yield place, _measured(found)

    def cpu_s(self, benchmark: Benchmark, policy: Policy, drawn: Drawn) -> float:
        """Run one trial; return the CPU seconds that it took."""
        return run_long_trial(_trial(benchmark, policy, drawn)).cpu_s


def megabits(benchmark: Benchmark, drawn: Drawn) -> float:
    """Return what a trial's link carries at most until the trial ends, in Mb."""
    trial = _trial(benchmark, baseline("cubic"), drawn)
    return trial.link.megabits(0, trial.duration_s)


def _trial(benchmark: Benchmark, policy: Policy, drawn: Drawn) -> LongTrial:
    """Return a trial; its clock begins with the first flow, or `late_s` before the control's."""
    first, steps, scenario = benchmark.first, benchmark.steps, drawn.scenario
    start = drawn.late_s + (first.lead_s if first else 0.0)
    end = start + max(last for _, last in benchmark.intervals_s)
    rates = scenario.rates(start - drawn.late_s + steps.first_s, steps.every_s, end)
    flows = [LongFlow(policy, start)]
    if first is not None:
        flows.append(LongFlow(baseline(first.policy), 0.0))
    marked = benchmark.mark_packets(scenario)
    return LongTrial(
        link=Bottleneck(rates, scenario.rtt_ms, scenario.buffer_packets, scenario.loss, marked),
        flows=tuple(flows),
        duration_s=end,
        windows_s=tuple((start + a, start + b) for a, b in benchmark.intervals_s),
        seed=drawn.seed,
    )


def _measured(found: LongResult) -> Measured:
    """Return what the control's flow, the first of the trial, did."""
    windows = found.windows[0] if not found.error else ()
    mbps = np.array([_mbps(each) for each in windows])
    return Measured(mbps, np.array([each.delay_ms for each in windows]), found.error)


def _mbps(window: WindowCounts) -> float:
    """Return bits over the time from the first to the last departure, as ccBench counts them."""
    taken = window.last_s - window.first_s
    return 8e-6 * window.bytes / taken if taken > 0 else math.nan
