"""Several hosts that send to one at the same time."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from lcca.evaluation.fabric.workload.part import Misfit, Sizes, Timed
from lcca.evaluation.fabric.workload.patterns import MOST_BYTES
from lcca.evaluation.fabric.workload.streams import NO_HOST, Floats, Ints, Streams
from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.topology import FabricTopology


class Incast(Timed):
    """Several hosts send to one at the same time, again and again.

    Attributes:
        senders: how many flows at once, each of another host than the receiver, drawn anew each time. Where there are
            more flows than hosts each sends as many, or one more.
        bytes: of each flow.
        sizes: that each flow draws its own from. One of `bytes` and `sizes` is given.
        receiver: a host; drawn anew each time if left out.
        load: events are a Poisson process whose traffic is this share of the rate of all host links together (as in
            HPCC, Li et al., SIGCOMM 2019, §5.1: 2 %).
        period_us: events come in equal distances, the first at `start_us`. One of `load` and `period_us` is given.
    """

    kind: Literal["incast"]
    senders: int = Field(ge=1)
    bytes: int | None = Field(default=None, ge=1, le=MOST_BYTES)
    sizes: Sizes | None = None
    receiver: int | None = Field(default=None, ge=0)
    load: float | None = Field(default=None, gt=0)
    period_us: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _one_clock_and_size(self) -> Incast:
        if (self.load is None) == (self.period_us is None):
            raise ValueError("needs one of load (share of all host links) and period_us (µs between events)")
        if (self.bytes is None) == (self.sizes is None):
            raise ValueError("needs one of bytes (of each flow) and sizes (drawn for each)")
        return self

    def problem(self, topology: FabricTopology) -> Misfit | None:
        """Return the key that does not fit the fabric, and why."""
        if self.receiver is not None and self.receiver >= topology.hosts:
            return ("receiver",), f"host {self.receiver} is unknown; the fabric has hosts 0 to {topology.hosts - 1}"
        return None

    def demand(self, topology: FabricTopology, at_us: float = 0) -> Floats | None:
        """Return the mean traffic between hosts at a moment, (hosts, hosts) Gb/s; nothing where it does not run."""
        if not self.runs(at_us):
            return None
        total = self.senders * self._mean_bytes * 8 / self._gap_ns(topology)
        found = np.zeros((topology.hosts, topology.hosts))
        receivers = slice(None) if self.receiver is None else self.receiver
        found[:, receivers] = total / (topology.hosts - 1) / (topology.hosts if self.receiver is None else 1)
        np.fill_diagonal(found, 0)
        return found

    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return how many flows start within the duration, in the mean."""
        return self.senders * self.span_ns(duration_ns)[1] / self._gap_ns(topology)

    def drawn(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the flows that start within the duration."""
        starts = self._starts(topology, streams, duration_ns)
        receivers = streams.choices(NO_HOST, topology.hosts, len(starts)).tolist()
        groups = [self._group(topology, streams, event, receivers[event]) for event in range(len(starts))]
        src, dst = np.concatenate(groups, axis=1) if groups else np.empty((2, 0), dtype=np.int64)
        return FabricFlows(src, dst, self._sizes(streams, len(src)), np.repeat(starts, self.senders))

    @property
    def _mean_bytes(self) -> float:
        if self.sizes is not None:
            return flow_sizes(self.sizes, packet_bytes=1).mean_packets
        assert self.bytes is not None
        return self.bytes

    def _sizes(self, streams: Streams, count: int) -> Ints:
        if self.sizes is not None:
            return streams.sizes(NO_HOST, flow_sizes(self.sizes, packet_bytes=1), count)
        return np.full(count, self.bytes)

    def _gap_ns(self, topology: FabricTopology) -> float:
        """Return the mean time between events."""
        if self.period_us is not None:
            return self.period_us * 1000
        assert self.load is not None
        return self.senders * self._mean_bytes * 8 / (self.load * float(topology.host_gbps.sum()))

    def _starts(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> Floats:
        (first, span), gap = self.span_ns(duration_ns), self._gap_ns(topology)
        if self.period_us is not None:
            return np.arange(first, first + span, gap)
        return first + streams.arrivals(NO_HOST, gap, span)

    def _group(self, topology: FabricTopology, streams: Streams, event: int, drawn: int) -> Ints:
        receiver = drawn if self.receiver is None else self.receiver
        others = np.delete(np.arange(topology.hosts), receiver)
        senders = np.sort(np.resize(streams.shuffled(event, others), self.senders))
        return np.stack([senders, np.full(self.senders, receiver)])
