"""Workloads of a fixed pattern: incast, all-to-all rounds, permutations."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from lcca.evaluation.fabric.part import Misfit, Part
from lcca.evaluation.fabric.streams import Floats, Ints, Streams
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.topology import FabricTopology

MOST_BYTES = 10**12
"""Of a flow."""
MOST_US = 1e9
"""Of a time that a workload waits."""

_EVENTS = -1 % 2**64
"""Key of the streams that belong to no host."""


class Incast(Part):
    """Several hosts send to one at the same time, again and again.

    Attributes:
        senders: how many send at once: others than the receiver, drawn anew each time.
        bytes: that each of them sends.
        receiver: a host; drawn anew each time if left out.
        load: events are a Poisson process whose traffic is this share of the rate of all host links together (as in
            HPCC, Li et al., SIGCOMM 2019, §5.1: 2 %).
        period_us: events come in equal distances, the first at `start_us`. One of `load` and `period_us` is given.
        start_us: when the first may come.
    """

    kind: Literal["incast"]
    senders: int = Field(ge=1)
    bytes: int = Field(ge=1, le=MOST_BYTES)
    receiver: int | None = Field(default=None, ge=0)
    load: float | None = Field(default=None, gt=0)
    period_us: float | None = Field(default=None, gt=0)
    start_us: float = Field(default=0, ge=0, le=MOST_US)

    ends: ClassVar[bool] = False

    @model_validator(mode="after")
    def _one_clock(self) -> Incast:
        if (self.load is None) == (self.period_us is None):
            raise ValueError("needs one of load (share of all host links) and period_us (µs between events)")
        return self

    def problem(self, topology: FabricTopology) -> Misfit | None:
        """Return the key that does not fit the fabric, and why."""
        if self.senders >= topology.hosts:
            return ("senders",), f"must be less than the {topology.hosts} hosts, got {self.senders}"
        if self.receiver is not None and self.receiver >= topology.hosts:
            return ("receiver",), f"host {self.receiver} is unknown; the fabric has hosts 0 to {topology.hosts - 1}"
        return None

    def demand(self, topology: FabricTopology) -> Floats:
        """Return the mean traffic between hosts, (hosts, hosts) Gb/s."""
        total = self.senders * self.bytes * 8 / self._gap_ns(topology)
        found = np.zeros((topology.hosts, topology.hosts))
        receivers = slice(None) if self.receiver is None else self.receiver
        found[:, receivers] = total / (topology.hosts - 1) / (topology.hosts if self.receiver is None else 1)
        np.fill_diagonal(found, 0)
        return found

    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return how many flows start within the duration, in the mean."""
        return self.senders * max(duration_ns - self.start_us * 1000, 0) / self._gap_ns(topology)

    def drawn(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the flows that start within the duration."""
        starts = self._starts(topology, streams, duration_ns)
        receivers = streams.choices(_EVENTS, topology.hosts, len(starts)).tolist()
        groups = [self._group(topology, streams, event, receivers[event]) for event in range(len(starts))]
        src, dst = np.concatenate(groups, axis=1) if groups else np.empty((2, 0), dtype=np.int64)
        return FabricFlows(src, dst, np.full(len(src), self.bytes), np.repeat(starts, self.senders))

    def _gap_ns(self, topology: FabricTopology) -> float:
        """Return the mean time between events."""
        if self.period_us is not None:
            return self.period_us * 1000
        assert self.load is not None
        return self.senders * self.bytes * 8 / (self.load * float(topology.host_gbps.sum()))

    def _starts(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> Floats:
        first, gap = self.start_us * 1000, self._gap_ns(topology)
        if self.period_us is not None:
            return np.arange(first, duration_ns, gap)
        return first + streams.arrivals(_EVENTS, gap, max(duration_ns - first, 0))

    def _group(self, topology: FabricTopology, streams: Streams, event: int, drawn: int) -> Ints:
        receiver = drawn if self.receiver is None else self.receiver
        others = np.delete(np.arange(topology.hosts), receiver)
        senders = np.sort(streams.shuffled(event, others)[: self.senders])
        return np.stack([senders, np.full(self.senders, receiver)])


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

    def demand(self, topology: FabricTopology) -> Floats | None:
        """Return nothing: its rounds are as fast as the fabric at best, whatever it asks."""
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

    def problem(self, topology: FabricTopology) -> Misfit | None:
        """Return nothing: it fits every fabric."""
        return None

    def demand(self, topology: FabricTopology) -> Floats | None:
        """Return nothing: its flows take what the fabric gives."""
        return None

    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return how many flows there are."""
        return topology.hosts

    def drawn(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the flows."""
        cycle = streams.shuffled(_EVENTS, np.arange(topology.hosts))
        dst = np.empty(topology.hosts, dtype=np.int64)
        dst[cycle] = np.roll(cycle, -1)
        size, start = np.full(topology.hosts, self.bytes), np.full(topology.hosts, self.start_us * 1000)
        return FabricFlows(np.arange(topology.hosts), dst, size, start)
