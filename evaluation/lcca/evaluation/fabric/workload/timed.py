"""Workloads whose flows start between two moments, at random or again and again: Poisson processes, incasts."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from lcca.evaluation.fabric.workload.load import LinkLoads, link_loads, onto
from lcca.evaluation.fabric.workload.part import (
    MOST_BYTES,
    MOST_US,
    NO_HOST,
    Component,
    Floats,
    Ints,
    Misfit,
    Part,
    Streams,
)
from lcca.evaluation.scenarios.sizes import NamedSizes, flow_sizes
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.workload import FlowSizes


class Timed(Part):
    """A workload without end, or that comes and goes: its flows start between two moments.

    Attributes:
        start_us: from then on.
        stop_us: and before then; within the whole duration if left out.
        size_scale: sizes that are drawn are multiplied by it, for flows that end within short trials.
    """

    start_us: float = Field(default=0, ge=0, le=MOST_US)
    stop_us: float | None = Field(default=None, gt=0, le=MOST_US)
    size_scale: float = Field(default=1, gt=0, le=1000)

    @model_serializer(mode="wrap")
    def _defaults_unsaid(self, content: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what was not always a key, where it has its default: a name by the content must not change."""
        said: dict[str, Any] = content(self)
        return {key: value for key, value in said.items() if (key, value) not in (("size_scale", 1), ("spread_us", 0))}

    @model_validator(mode="after")
    def _stops_after_its_start(self) -> Timed:
        if self.stop_us is not None and self.stop_us <= self.start_us:
            raise ValueError(f"stop_us must be after start_us ({self.start_us:g} µs), got {self.stop_us:g}")
        return self

    def drawn_from(self, sizes: str) -> FlowSizes:
        """Return a distribution of sizes by its name, in bytes and scaled."""
        return flow_sizes(sizes, packet_bytes=1 / self.size_scale)

    @property
    def ends(self) -> bool:
        """Whether it has a last flow, whatever the duration."""
        return self.stop_us is not None

    @property
    def moments_us(self) -> tuple[float, ...]:
        """When it begins; what it no longer asks when it is over needs no look."""
        return (self.start_us,)

    def loads(self, topology: FabricTopology, at_us: float = 0) -> LinkLoads | None:
        """Return the mean load of every link at a moment; nothing where it does not run."""
        runs = self.start_us <= at_us < (math.inf if self.stop_us is None else self.stop_us)
        return self.loads_while_on(topology) if runs else None

    @abstractmethod
    def loads_while_on(self, topology: FabricTopology) -> LinkLoads:
        """Return the mean load of every link while it runs."""

    def span_ns(self, duration_ns: float) -> tuple[float, float]:
        """Return when the first flow may start, and for how long flows may from then on, in ns."""
        first = self.start_us * 1000
        last = duration_ns if self.stop_us is None else min(duration_ns, self.stop_us * 1000)
        return first, max(last - first, 0.0)


class Poisson(Timed):
    """Flows that start at every host as a Poisson process, to any other host with equal chance or all to one.

    With `senders` they start at some hosts and go to the others. A host's rate of arrivals is proportional to the rate
    of its links. Hosts draw from streams of their own: every
    transport meets the same flows, and another load moves their starts only.

    Attributes:
        sizes: of flows: a packaged table, a YAML file, a CSV file (`bytes`, `cumulative`), `lognormal:MU:SIGMA` or
            `uniform:LOW:HIGH` (bytes).
        load: mean payload offered, as a share of the rate of the links that `load_of` names.
        load_of: "host-links", those of hosts that send; "tor-uplinks": all links from ToRs to other switches together,
            to which only flows that cross them count (CCEval's load); or "receiver-link", that of the receiver.
        receiver: the host that all others send to; each flow goes to a host of its own if left out.
        senders: so many hosts, the first, send to the others; all hosts do both if left out.
    """

    kind: Literal["poisson"]
    sizes: NamedSizes
    load: float = Field(gt=0)
    load_of: Literal["host-links", "tor-uplinks", "receiver-link"]
    receiver: int | None = Field(default=None, ge=0)
    senders: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _receiver_has_the_load(self) -> Poisson:
        if self.receiver is not None and self.senders is not None:
            raise ValueError("receiver and senders exclude each other: with a receiver all other hosts send")
        if (self.receiver is None) == (self.load_of == "receiver-link"):
            raise ValueError("receiver (a host) and load_of: receiver-link need each other")
        return self

    def problem(self, topology: FabricTopology) -> Misfit | None:
        """Return the key that does not fit the fabric, and why."""
        if misfit := _unknown(self.receiver, topology):
            return misfit
        if self.senders is not None and self.senders >= topology.hosts:
            return ("senders",), f"must be fewer than the hosts, {topology.hosts}: the others receive"
        if self.load_of == "tor-uplinks" and not self._full(topology).of_uplinks:
            return ("load_of",), "no flow crosses links between switches; use host-links"
        return None

    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return how many flows start within the duration, in the mean."""
        bits = self.drawn_from(self.sizes).mean_packets * 8
        return sum(self._gbps(topology)) * self.span_ns(duration_ns)[1] / bits

    def drawn(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the flows that start within the duration."""
        sizes, (first, span) = self.drawn_from(self.sizes), self.span_ns(duration_ns)
        gbps = self._gbps(topology)
        bits = sizes.mean_packets * 8
        starts = {h: first + streams.arrivals(h, bits / rate, span) for h, rate in enumerate(gbps) if rate}
        counts = {host: len(each) for host, each in starts.items()}
        receivers = [self._receivers(host, topology, streams, count) for host, count in counts.items()]
        drawn = [streams.sizes(host, sizes, count) for host, count in counts.items()]
        start = np.concatenate(list(starts.values()))
        order = np.argsort(start, kind="stable")
        senders = np.repeat(list(counts), list(counts.values()))
        receiver, size = np.concatenate(receivers), np.concatenate(drawn)
        return FabricFlows(senders[order], receiver[order], size[order], start[order])

    def _receivers(self, host: int, topology: FabricTopology, streams: Streams, count: int) -> Ints:
        if self.receiver is not None:
            return np.full(count, self.receiver)
        if self.senders is not None:
            return self.senders + streams.choices(host, topology.hosts - self.senders, count)
        other = streams.choices(host, topology.hosts - 1, count)
        return other + (other >= host)

    def loads_while_on(self, topology: FabricTopology) -> LinkLoads:
        """Return the mean load of every link while it runs."""
        return LinkLoads(topology, self._full(topology).gbps * self._share(topology))

    def _full(self, topology: FabricTopology) -> LinkLoads:
        return _full_loads(topology, self.receiver, self.senders)

    def _share(self, topology: FabricTopology) -> float:
        """Return what share of senders' or the receiver's links it fills."""
        return self.load / (self._full(topology).of_uplinks if self.load_of == "tor-uplinks" else 1)

    def _gbps(self, topology: FabricTopology) -> list[float]:
        """Return what each host sends while it runs, Gb/s."""
        sent, taken = _filled(topology, self.receiver, self.senders, self._share(topology))
        return list(onto(range(topology.hosts), taken, sent)[1].tolist())


def _filled(topology: FabricTopology, receiver: int | None, senders: int | None, share: float) -> tuple[Floats, Floats]:
    """Return traffic that fills a share of senders' or the receiver's links, as `onto` takes it."""
    rates, hosts = topology.host_gbps, np.arange(topology.hosts)
    if senders is not None:
        return np.where(hosts < senders, rates / (len(hosts) - senders) * share, 0), (hosts >= senders).astype(float)
    if receiver is None:
        return rates / (len(hosts) - 1) * share, np.ones(len(hosts))
    sent = np.where(hosts == receiver, 0.0, rates)
    return sent * (rates[receiver] / sent.sum()) * share, (hosts == receiver).astype(float)


@lru_cache(maxsize=8)
def _full_loads(topology: FabricTopology, receiver: int | None, senders: int | None) -> LinkLoads:
    """Return the loads of links where senders' links or the receiver's are full."""
    return link_loads(topology, *_filled(topology, receiver, senders, 1))


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
        spread_us: each flow starts up to so long after its event, all times equally likely.
    """

    kind: Literal["incast"]
    senders: int = Field(ge=1)
    bytes: int | None = Field(default=None, ge=1, le=MOST_BYTES)
    sizes: NamedSizes | None = None
    receiver: int | None = Field(default=None, ge=0)
    load: float | None = Field(default=None, gt=0)
    period_us: float | None = Field(default=None, gt=0)
    spread_us: float = Field(default=0, ge=0, le=MOST_US)

    @model_validator(mode="after")
    def _one_clock_and_size(self) -> Incast:
        if (self.load is None) == (self.period_us is None):
            raise ValueError("needs one of load (share of all host links) and period_us (µs between events)")
        if (self.bytes is None) == (self.sizes is None):
            raise ValueError("needs one of bytes (of each flow) and sizes (drawn for each)")
        if self.bytes is not None and self.size_scale != 1:
            raise ValueError("size_scale goes with sizes; write the scaled bytes")
        return self

    def problem(self, topology: FabricTopology) -> Misfit | None:
        """Return the key that does not fit the fabric, and why."""
        return _unknown(self.receiver, topology)

    def loads_while_on(self, topology: FabricTopology) -> LinkLoads:
        """Return the mean load of every link while it runs."""
        hosts, gbps = np.arange(topology.hosts), self.senders * self._mean_bytes * 8 / self._gap_ns(topology)
        taken = np.full(len(hosts), 1 / len(hosts)) if self.receiver is None else (hosts == self.receiver).astype(float)
        return link_loads(topology, np.full(len(hosts), gbps / (len(hosts) - 1)), taken)

    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return how many flows start within the duration, in the mean."""
        return self.senders * self.span_ns(duration_ns)[1] / self._gap_ns(topology)

    def drawn(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the flows that start within the duration."""
        starts = self._starts(topology, streams, duration_ns)
        receivers = streams.choices(NO_HOST, topology.hosts, len(starts)).tolist()
        groups = [self._group(topology, streams, event, receivers[event]) for event in range(len(starts))]
        src, dst = np.concatenate(groups, axis=1) if groups else np.empty((2, 0), dtype=np.int64)
        start = np.repeat(starts, self.senders)
        if self.spread_us:
            late = [streams.uniforms(Component.ARRIVAL, event, self.senders) for event in range(len(starts))]
            start = start + 1000 * self.spread_us * np.concatenate([*late, np.empty(0)])
        order = np.argsort(start, kind="stable")
        return FabricFlows(src[order], dst[order], self._sizes(streams, len(src))[order], start[order])

    @property
    def _mean_bytes(self) -> float:
        if self.sizes is not None:
            return self.drawn_from(self.sizes).mean_packets
        assert self.bytes is not None
        return self.bytes

    def _sizes(self, streams: Streams, count: int) -> Ints:
        if self.sizes is not None:
            return streams.sizes(NO_HOST, self.drawn_from(self.sizes), count)
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


def _unknown(receiver: int | None, topology: FabricTopology) -> Misfit | None:
    if receiver is not None and receiver >= topology.hosts:
        return ("receiver",), f"host {receiver} is unknown; the fabric has hosts 0 to {topology.hosts - 1}"
    return None
