"""A benchmark's trials in ns-3."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lcca.evaluation.bench.benchmark import Benchmark
from lcca.evaluation.bench.sampling import Drawn, draw
from lcca.evaluation.bench.source import Measured
from lcca.gym_envs.ns3.long_flows import Bottleneck, LongFlow, LongResult, LongTrial, WindowCounts
from lcca.gym_envs.ns3.long_plan import long_plan, run_long_trials
from lcca.gym_envs.ns3.simulator import installed
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

    def run(self, benchmark: Benchmark, asked: Sequence[tuple[Policy, Drawn]]) -> list[Measured]:
        """Return what each control did in its trial."""
        trials = [_trial(benchmark, *each) for each in asked]
        return [_measured(found) for found in run_long_trials(trials, self.jobs)]


def _trial(benchmark: Benchmark, policy: Policy, drawn: Drawn) -> LongTrial:
    """Return a trial; its clock begins with the first flow, or `late_s` before the control's."""
    first, steps, scenario = benchmark.first, benchmark.steps, drawn.scenario
    start = drawn.late_s + (first.lead_s if first else 0.0)
    end = start + benchmark.duration_s
    rates = scenario.rates(start - drawn.late_s + steps.first_s, steps.every_s, end)
    flows = [LongFlow(policy, start)]
    if first is not None:
        flows.append(LongFlow(baseline(first.policy), 0.0))
    return LongTrial(
        link=Bottleneck(rates=rates, rtt_ms=scenario.rtt_ms, buffer_packets=scenario.buffer_packets),
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
