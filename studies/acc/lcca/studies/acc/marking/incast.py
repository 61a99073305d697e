"""Many senders, one receiver: the traffic that a switch's egress queue meets, and its trial in ns-3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np
from pydantic import Field, field_validator

from lcca.gym_envs.ns3.baselines import with_hand_designed
from lcca.gym_envs.ns3.plan import Ns3Options, trial_plan
from lcca.gym_envs.ns3.simulator import UNUSED
from lcca.inputs.model import Model
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus.engine import Model as NetworkModel
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.hand_designed import HandDesigned

HEADER_BYTES = 54
"""Of a packet: TCP, IP, framing."""

Positive = Annotated[float, Field(gt=0)]
Sizes: TypeAlias = tuple[Annotated[float, Field(ge=1)], Annotated[float, Field(le=1e9)]]
Trace: TypeAlias = list[list[tuple[float, int]]]
"""Per connection its flows: (µs of the start, packets)."""


class Incast(Model):
    """Hosts that send to one receiver through one queue: section VI-C.3 of PRED's paper, with its open ends tied.

    Each host has two connections: for small and for large flows. Both kinds come in waves, in which every host starts
    one flow of a size that is drawn uniformly, at the same instant: the paper has both "sent synchronously" and gives
    no rates. A trace is the sizes; starts are given by the waves. DCTCP drives all flows, in real time.

    Attributes:
        hosts: senders.
        gbps: of the bottleneck and of the hosts' links.
        rtt_us: propagation of a round trip: the paper has 10 µs per link, so 40.
        buffer: packets that may wait.
        small: sizes of small flows, bytes (the paper's workload 1).
        large: sizes of large flows, bytes (workload 2).
        small_every_us: between waves of small flows.
        large_every_us: between waves of large flows.
        duration_us: of a trial.
        min_rto_us: DCTCP's smallest retransmission timeout (its paper: 10 ms).
    """

    units: ClassVar[Mapping[str, str]] = {"buffer": "whole packets", "small": "bytes", "large": "bytes"}

    hosts: Annotated[int, Field(ge=1, le=1000)] = 18
    gbps: Positive = 10.0
    rtt_us: Positive = 40.0
    buffer: Annotated[int, Field(ge=1)] = 1000
    small: Sizes = (3e3, 6e3)
    large: Sizes = (30e3, 600e3)
    small_every_us: Positive = 1000.0
    large_every_us: Positive = 8000.0
    duration_us: Positive = 16_000.0
    min_rto_us: Positive = 10_000.0

    @field_validator("small", "large")
    @classmethod
    def _in_order(cls, sizes: Sizes) -> Sizes:
        if sizes[0] > sizes[1]:
            raise ValueError(f"sizes must be [smallest, largest], got {list(sizes)}")
        return sizes

    @classmethod
    def packet_size(cls, data: Mapping[str, Any]) -> float:
        """Return the bytes of a packet."""
        return PACKET_BYTES

    @property
    def bytes_per_us(self) -> float:
        """Of the bottleneck."""
        return self.gbps * 125

    def trace(self, seed: int) -> Trace:
        """Return the flows of all connections: first the hosts' small ones, then the large ones."""
        draws = np.random.default_rng(seed)
        kinds = ((self.small, self.small_every_us), (self.large, self.large_every_us))
        return [flows for sizes, every in kinds for flows in self._kind(draws, sizes, every)]

    def _kind(self, draws: np.random.Generator, sizes: Sizes, every: float) -> Trace:
        starts = np.arange(0.0, self.duration_us, every)
        drawn = np.ceil(draws.uniform(*sizes, (self.hosts, len(starts))) / (PACKET_BYTES - HEADER_BYTES))
        return [[(float(at), int(size)) for at, size in zip(starts, row, strict=True)] for row in drawn]

    def ideal_us(self, packets: int) -> float:
        """Return a flow's completion time on an empty network: over the bottleneck, and over a host's link and back."""
        return self.rtt_us / 2 + (packets + 2) * PACKET_BYTES / self.bytes_per_us

    def plan(self, trace: Trace, seed: int) -> dict[str, Any]:
        """Return the plan of a trial.

        Args:
            trace: what is sent.
            seed: of the draws that decide which packets are marked.
        """
        rate = self.bytes_per_us / PACKET_BYTES
        network = Network(0, rate, self.rtt_us, len(trace), self.buffer, 1.0, 1.0, 0.0, "bytes")
        options = Ns3Options(packet_bytes=PACKET_BYTES, header_bytes=0, host_gbps=self.gbps)
        plan = trial_plan(network, UNUSED, seed, self.duration_us, NetworkModel(), options, False)
        dctcp = HandDesigned("dctcp", {"time_scale": 1.0, "min_rto": self.min_rto_us, "mark_threshold": 2.0})
        plan = with_hand_designed(plan, dctcp, network)
        return {**plan, "queue": "marking", "queue_attributes": {}, "flow_trace": trace}
