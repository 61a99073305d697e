"""A benchmark's trials in the fast engine: scenarios whose rate stays, with a flow alone.

The engine resends nothing: a packet that is dropped is gone, and no time is spent on it again, so that a control that
drops much looks better here than in ns-3. The counts of an interval are what a trial that ends with it has counted less
what one that ends as it begins has: the same seed gives the same packets up to where the shorter one ends.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine, Runner, run_here
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import Policy, WithHeader, compile_policy
from lcca.remy_plus.policies.python_control import in_real_time
from lcca.studies.ccbench.description import PACKET_BITS, Description, Scenario
from lcca.studies.ccbench.scenario import Drawn, Measured

Floats = NDArray[np.float64]

TIME_SCALE = 1000.0
"""µs that a µs of the engine stands for."""

ALWAYS_MS = 1e12
"""Mean time that a sender stays on: it never goes off within a trial."""


@dataclass(frozen=True)
class EngineBench:
    """Runs a benchmark's trials in the fast engine; a `Runner`. A µs of the engine stands for a millisecond.

    A class in Python is told real µs; all else is meant for those of the engine.

    Attributes:
        jobs: threads; never changes a result.
        runner: of batches of trials.
    """

    jobs: int
    runner: Runner = run_here
    name: str = "engine"

    def check(self, benchmark: Description, policy: Policy) -> None:
        """Check that a control can run here, and all scenarios.

        Raises:
            InputError: it cannot; says why.
        """
        if isinstance(policy, WithHeader):
            raise InputError("benchmarks: packets have no headers of their own; name a policy without one")
        compile_policy(policy)
        changing = [each.name for each in benchmark.scenarios if each.factor != 1]
        missing = {
            f"rates that change ({(changing or [''])[0]})": bool(changing),
            "a first flow of another control": benchmark.first is not None,
            "marks (ecn)": benchmark.ecn is not None,
        }
        if what := next((name for name, asked in missing.items() if asked), None):
            raise InputError(f"{benchmark.name}: the fast engine has no {what}; use --simulator ns3")

    def key(self, benchmark: Description, policy: Policy, drawn: Drawn) -> str:
        """Return a hash of the policy, the scenario, the intervals and the seed."""
        plan = [repr(compile_policy(policy).__getstate__()), repr(drawn), benchmark.content()]
        return hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()

    def measure(self, benchmark: Description, asked: Sequence[tuple[Policy, Drawn]]) -> Iterator[tuple[int, Measured]]:
        """Run a control in each trial, those of one round-trip time together."""
        by_rtt: dict[float, list[int]] = defaultdict(list)
        for place, (_, drawn) in enumerate(asked):
            by_rtt[drawn.scenario.rtt_ms].append(place)
        ends = np.array(benchmark.intervals_s) * 1000.0  # ms
        for rtt_ms, places in by_rtt.items():
            there = [asked[place] for place in places]
            counted = {end: self._until(end, rtt_ms, there) for end in np.unique(ends)}
            for turn, place in enumerate(places):
                at = np.array([[counted[end][:, turn] for end in pair] for pair in ends])
                packets, delays = (at[:, 1] - at[:, 0]).T
                with np.errstate(invalid="ignore"):
                    delay = delays / packets - rtt_ms / 2
                mbps = np.where(packets > 0, packets * PACKET_BITS / 1000 / (ends[:, 1] - ends[:, 0]), np.nan)
                yield place, Measured(mbps, delay)

    def cpu_s(self, benchmark: Description, policy: Policy, drawn: Drawn) -> float:
        """Run one trial; return the CPU seconds that it took."""
        began = time.process_time()
        list(self.measure(benchmark, [(policy, drawn)]))
        return time.process_time() - began

    def _until(self, end_ms: float, rtt_ms: float, asked: Sequence[tuple[Policy, Drawn]]) -> Floats:
        """Return (2, trials): packets that left the link until then, and the sum of their round-trip times in ms.

        A packet counts when its ACK is back, a propagation round trip after it left.
        """
        if not end_ms:
            return np.zeros((2, len(asked)))
        engine, order = Engine(end_ms + rtt_ms, jobs=self.jobs, runner=self.runner), range(len(asked))
        networks = NetworkList([_network(each.scenario) for _, each in asked])
        policies = [engine.compile(in_real_time(policy, TIME_SCALE)) for policy, _ in asked]
        found = engine.run(policies, networks, order, order, [each.seed for _, each in asked])
        return np.array([found.floats("sender_delivered"), found.floats("sender_delay_sum_us")])


def _network(scenario: Scenario) -> Network:
    rate = scenario.link_mbps * 1000 / PACKET_BITS  # packets/ms
    return Network(0, rate, scenario.rtt_ms, 1, scenario.buffer_packets, ALWAYS_MS, 0.0, scenario.loss)
