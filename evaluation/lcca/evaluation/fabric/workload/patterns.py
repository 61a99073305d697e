"""Workloads in which nothing or little is random: all-to-all rounds and permutations."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from lcca.evaluation.fabric.workload.part import MOST_BYTES, MOST_US, NO_HOST, Floats, Ints, Misfit, Part, Streams
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.topology import FabricTopology


class AllToAll(Part):
    """Rounds in which every worker sends to every other one, as collectives of training jobs do.

    In a closed loop a round begins `off_us` after the last flow of the one before has ended, so that how many there are
    depends on the transport. In an open loop it begins `off_us` after the one before could have ended at best, which is
    when every worker has sent its bytes at the rate of its links; a round that takes longer overlaps with the next.
    PARALEON's training workload (section IV-B) is a closed loop of 20 workers, 12 MB from each to each and 20 ms off.

    Attributes:
        workers: how many hosts take part, spread evenly over the hosts' numbers; all if left out.
        bytes: from each worker to each other one, per round.
        off_us: time between rounds; in a closed loop never less than the shortest delay of a link, the time in which
            hosts can hear that a round has ended.
        start_us: when the first begins.
        rounds: how many at most; as many as begin within the duration if left out.
        loop: whether a round waits for the one before.
    """

    kind: Literal["all-to-all"]
    workers: int | None = Field(default=None, ge=2)
    bytes: int = Field(ge=1, le=MOST_BYTES)
    off_us: float = Field(ge=0, le=MOST_US)
    start_us: float = Field(default=0, ge=0, le=MOST_US)
    rounds: int | None = Field(default=None, ge=1)
    loop: Literal["closed", "open"] = "closed"

    @property
    def ends(self) -> bool:
        """Whether it has a last flow."""
        return self.rounds is not None

    def problem(self, topology: FabricTopology) -> Misfit | None:
        """Return the key that does not fit the fabric, and why."""
        if self.workers is not None and self.workers > topology.hosts:
            return ("workers",), f"must be at most the {topology.hosts} hosts, got {self.workers}"
        return None

    def period_ns(self, topology: FabricTopology) -> float:
        """Return the time from the start of a round to the start of the next: in a closed loop at best."""
        hosts = self._hosts(topology)
        slowest = float(topology.host_gbps[hosts].min())
        return (len(hosts) - 1) * self.bytes * 8 / slowest + self.off_us * 1000

    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return how many flows there are in the rounds that can begin within the duration at best."""
        workers = self.workers or topology.hosts
        rounds = max(duration_ns - self.start_us * 1000, 0) / self.period_ns(topology)
        return workers * (workers - 1) * min(rounds, self.rounds or rounds)

    def drawn(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the flows of the rounds that can begin within the duration at best; nothing is random.

        Worker i sends to i + 1 first, then to i + 2 and so on, so that no receiver is first on every list.
        """
        hosts = self._hosts(topology)
        starts = self._starts(self.start_us * 1000, duration_ns, self.period_ns(topology))
        step, worker = np.divmod(np.arange(len(hosts) * (len(hosts) - 1)), len(hosts))
        src, dst = hosts[worker], hosts[(worker + step + 1) % len(hosts)]
        size = np.full(len(src) * len(starts), self.bytes)
        number = np.repeat(np.arange(len(starts)), len(src))
        return FabricFlows(
            *(np.tile(src, len(starts)), np.tile(dst, len(starts)), size, np.repeat(starts, len(src))),
            round=number,
            after=number - 1 if self.loop == "closed" else np.full(len(number), -1),
            off_ns=np.full(len(number), self.off_us * 1000),
        )

    def _starts(self, first_ns: float, end_ns: float, period_ns: float) -> Floats:
        if self.rounds is not None:
            end_ns = min(end_ns, first_ns + period_ns * (self.rounds - 0.5))
        return np.arange(first_ns, end_ns, period_ns)

    def _hosts(self, topology: FabricTopology) -> Ints:
        count = self.workers or topology.hosts
        return np.arange(count) * topology.hosts // count


class Permutation(Part):
    """Every host sends one flow to another, and every host receives one: a random cycle through all hosts.

    Attributes:
        bytes: of each flow.
        start_us: when they start.
    """

    kind: Literal["permutation"]
    bytes: int = Field(ge=1, le=MOST_BYTES)
    start_us: float = Field(default=0, ge=0, le=MOST_US)

    ends: ClassVar[bool] = True

    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return how many flows there are."""
        return topology.hosts

    def drawn(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the flows."""
        cycle = streams.shuffled(NO_HOST, np.arange(topology.hosts))
        dst = np.empty(topology.hosts, dtype=np.int64)
        dst[cycle] = np.roll(cycle, -1)
        size, start = np.full(topology.hosts, self.bytes), np.full(topology.hosts, self.start_us * 1000)
        return FabricFlows(np.arange(topology.hosts), dst, size, start)
