"""Flows that start at hosts as Poisson processes."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from lcca.evaluation.fabric.workload.load import link_loads
from lcca.evaluation.fabric.workload.part import Misfit, Sizes, Timed
from lcca.evaluation.fabric.workload.streams import Floats, Ints, Streams
from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.remy_plus.fabric.flows import FabricFlows, in_order
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.workload import FlowSizes


class Poisson(Timed):
    """Flows that start at every host as a Poisson process, to any other host with equal chance or all to one.

    With `senders` they start at some hosts and go to the others. A host's rate of arrivals is proportional to the rate
    of its links. Hosts draw from streams of their own: every
    transport meets the same flows, and another load moves their starts only.

    Attributes:
        sizes: of flows.
        load: mean payload offered, as a share of the rate of the links that `load_of` names.
        load_of: "host-links", those of hosts that send; "tor-uplinks": all links from ToRs to other switches together,
            to which only flows that cross them count (CCEval's load); or "receiver-link", that of the receiver.
        receiver: the host that all others send to; each flow goes to a host of its own if left out.
        senders: so many hosts, the first, send to the others; all hosts do both if left out.
    """

    kind: Literal["poisson"]
    sizes: Sizes
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
        if self.receiver is not None and self.receiver >= topology.hosts:
            return ("receiver",), f"host {self.receiver} is unknown; the fabric has hosts 0 to {topology.hosts - 1}"
        if self.senders is not None and self.senders >= topology.hosts:
            return ("senders",), f"must be fewer than the hosts, {topology.hosts}: the others receive"
        if (
            self.load_of == "tor-uplinks"
            and not link_loads(topology, self._full(topology)).gbps[topology.uplinks].any()
        ):
            return ("load_of",), "no flow crosses links between switches; use host-links"
        return None

    def demand(self, topology: FabricTopology, at_us: float = 0) -> Floats | None:
        """Return the mean traffic between hosts at a moment, (hosts, hosts) Gb/s; nothing where it does not run."""
        return self._demand(topology) if self.runs(at_us) else None

    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return how many flows start within the duration, in the mean."""
        bits = flow_sizes(self.sizes, packet_bytes=1).mean_packets * 8
        return float(self._demand(topology).sum()) * self.span_ns(duration_ns)[1] / bits

    def drawn(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the flows that start within the duration."""
        sizes, (first, span) = flow_sizes(self.sizes, packet_bytes=1), self.span_ns(duration_ns)
        gbps = self._demand(topology).sum(axis=1).tolist()
        starts = {
            h: first + streams.arrivals(h, sizes.mean_packets * 8 / rate, span) for h, rate in enumerate(gbps) if rate
        }
        return in_order([self._from_host(host, topology, streams, sizes, each) for host, each in starts.items()])

    def _from_host(
        self, host: int, topology: FabricTopology, streams: Streams, sizes: FlowSizes, starts: Floats
    ) -> FabricFlows:
        count = len(starts)
        receivers = self._receivers(host, topology, streams, count)
        return FabricFlows(np.full(count, host), receivers, streams.sizes(host, sizes, count), starts)

    def _receivers(self, host: int, topology: FabricTopology, streams: Streams, count: int) -> Ints:
        if self.receiver is not None:
            return np.full(count, self.receiver)
        if self.senders is not None:
            return self.senders + streams.choices(host, topology.hosts - self.senders, count)
        other = streams.choices(host, topology.hosts - 1, count)
        return other + (other >= host)

    def _demand(self, topology: FabricTopology) -> Floats:
        """Return the mean traffic between hosts while it runs, (hosts, hosts) Gb/s."""
        full = self._full(topology)
        if self.load_of == "tor-uplinks":
            return full * (self.load / link_loads(topology, full).of_uplinks)
        return full * self.load

    def _full(self, topology: FabricTopology) -> Floats:
        """Return the traffic between hosts that fills the links of senders, or of the receiver, (hosts, hosts) Gb/s."""
        rates = topology.host_gbps
        if self.senders is not None:
            first = np.arange(topology.hosts) < self.senders
            return np.where(np.outer(first, ~first), rates[:, None] / (topology.hosts - self.senders), 0.0)
        if self.receiver is None:
            full = np.repeat(rates[:, None] / (topology.hosts - 1), topology.hosts, axis=1)
            np.fill_diagonal(full, 0)
            return full
        senders = np.where(np.arange(topology.hosts) == self.receiver, 0.0, rates)
        full = np.zeros((topology.hosts, topology.hosts))
        full[:, self.receiver] = senders * (rates[self.receiver] / senders.sum())
        return full
