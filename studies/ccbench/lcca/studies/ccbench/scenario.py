"""Scenarios of a benchmark, the order in which they are run, their trials, and what runs these.

A scenario is one link, whose rate may change. One of each stratum comes in turn, all before any comes again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lcca.gym_envs.ns3.long_flows import Bottleneck, LongFlow, LongTrial
from lcca.remy_plus.policies.hand_designed import baseline
from lcca.remy_plus.policies.policy import Policy
from lcca.studies.ccbench.description import Description, Scenario

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Drawn:
    """One trial of a benchmark.

    Attributes:
        number: of the trial.
        scenario: what is run.
        repetition: how often the scenario came before.
        late_s: by how much the flow starts later, against steps of the rate and a first flow; 0 at first.
        seed: of the trial.
    """

    number: int
    scenario: Scenario
    repetition: int
    late_s: float
    seed: int


def draw(benchmark: Description, seed: int, count: int, first: int) -> list[Drawn]:
    """Return trials first … first + count − 1.

    Trial k is of stratum k % strata. Strata are stretches of the scenarios in the order of the file, so that their
    scenarios are alike; each is gone through in a random order of its own, a new one for every repetition.
    """
    return [_drawn(benchmark, seed, number) for number in range(first, first + count)]


def _drawn(benchmark: Description, seed: int, number: int) -> Drawn:
    parts = benchmark.block
    size = len(benchmark.scenarios) // parts
    turn, stratum = divmod(number, parts)
    repetition, place = divmod(turn, size)
    order = np.random.default_rng([seed, repetition, stratum]).permutation(size)
    rng = np.random.default_rng([seed, number])
    late = float(rng.uniform(0, benchmark.jitter_s)) if repetition else 0.0
    scenario = benchmark.scenarios[stratum * size + int(order[place])]
    return Drawn(number, scenario, repetition, late, int(rng.integers(1 << 32)))


def megabits(benchmark: Description, drawn: Drawn) -> float:
    """Return what a trial's link carries at most until the trial ends, in Mb."""
    trial = long_trial(benchmark, baseline("cubic"), drawn)
    return trial.link.megabits(0, trial.duration_s)


def long_trial(benchmark: Description, policy: Policy, drawn: Drawn) -> LongTrial:
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

    def check(self, benchmark: Description, policy: Policy) -> None:
        """Check that a control can run, and the scenarios.

        Raises:
            InputError: it cannot; says why.
        """

    def cpu_s(self, benchmark: Description, policy: Policy, drawn: Drawn) -> float:
        """Run one trial; return the CPU seconds that it took."""

    def key(self, benchmark: Description, policy: Policy, drawn: Drawn) -> str:
        """Return a hash of all that a trial's result depends on, the code left out."""

    def measure(self, benchmark: Description, asked: Sequence[tuple[Policy, Drawn]]) -> Iterator[tuple[int, Measured]]:
        """Run a control in each trial; yield (place among those that were asked for, what it did) as they come."""
