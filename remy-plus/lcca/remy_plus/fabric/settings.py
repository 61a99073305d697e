"""What holds for a whole fabric: conventions of frames and times, switches, and when a flow has ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from lcca.inputs.errors import InputError, did_you_mean
from lcca.remy_plus.switches.markers import Marking

FABRIC = "fabric"
"""The simulator of the whole fabric, packet by packet: `FabricEngine.run`."""

FLUID = "fluid"
"""The simulator of `fluid`, which stands in for it."""

USUAL: Mapping[str, float] = MappingProxyType({"arrival_bytes": 0.0, "ack_priority": -1.0})
"""What holds where neither the settings nor the transport say otherwise."""


@dataclass(frozen=True)
class FabricSettings:
    """Settings of the fabric engine; docs/background/fabric.md describes the model.

    Those that are None are the transport's own (`TransportKind.settings` and `marker`), or else `USUAL` and
    `markers.USUAL`.

    Attributes:
        payload_bytes: of all packets of a flow but the last.
        overhead_bytes: of a data packet on the wire, telemetry apart.
        ack_bytes: of an ACK, telemetry apart.
        pfc_bytes: of a pause or resume frame.
        whole_ns: cut serialisation to whole nanoseconds; else it is exact.
        lossless: PFC pauses the peers of full ingress ports; else what exceeds a queue's threshold is dropped, and
            receivers ask for what is missing (go-back-N).
        buffer_bytes: shared by all ports of a switch; headroom comes on top.
        buffer_bytes_per_port: unless it is 0, a switch has so much for each of its ports in place of `buffer_bytes`.
        alpha: share of the free buffer that one ingress port (lossless) or one queue (lossy) may hold.
        alpha_by_rate: with PFC, alpha doubles with every doubling of a port's rate over the slowest host link's.
        resume_below_bytes: an ingress that holds less resumes.
        resume_offset_bytes: so does one that is so far below its threshold.
        headroom_delays: headroom of a class of an ingress port: rate × delay × this, and unless it is 0 four full
            frames and two of PFC's for each other class.
        priorities: classes of traffic: 0 first, each before the next wherever packets wait; thresholds, headroom and
            pauses are those of a class.
        ack_priority: the class of ACKs; that of their data if left out.
        marker: ECN, of `lcca.remy_plus.switches.markers.MARKERS`.
        mark_at_dequeue: the marker is asked as a packet leaves the queue; else as it joins it.
        queue_quantum_bytes: unit of queue lengths in stamps.
        bytes_quantum_bytes: unit of byte counters in stamps.
        arrival_bytes: ports count the bytes that arrive at them in stamps, not those that they sent.
        fct_at_ack: a flow ends when the ACK of its last byte is at the sender; else when that byte is received.
        plain_ideal: ideal times are those of HPCC's simulator: propagation there and back, a full payload at every hop,
            all bytes at the slowest link; no ACK. A lone flow may have a slowdown below 1. Else they are exact.
        retransmit_after_us: a sender without progress for so long goes back to what is not acknowledged; 0 is never.
        give_up_after_us: a run ends in which nothing is delivered and no flow begins for so long and nothing but timers
            is due, such as one that PFC has locked; 0 is never.
        nack_gap_us: a receiver asks for the same packet only so often.
        base_rtt_ns: round trip without queues that transports go by; 0 is the largest of all pairs of hosts.
    """

    payload_bytes: int = 1000
    overhead_bytes: int = 48
    ack_bytes: int = 60
    pfc_bytes: int = 43
    whole_ns: bool = False
    lossless: bool = True
    buffer_bytes: float = 32 * 2**20
    buffer_bytes_per_port: float = 0
    alpha: float = 0.125
    alpha_by_rate: bool = True
    resume_below_bytes: float = 1248
    resume_offset_bytes: float = 2496
    headroom_delays: float = 3
    priorities: int = 1
    ack_priority: int | None = None
    marker: Marking | None = None
    mark_at_dequeue: bool = True
    queue_quantum_bytes: float = 320
    bytes_quantum_bytes: float = 512
    arrival_bytes: bool | None = None
    fct_at_ack: bool = False
    plain_ideal: bool = False
    retransmit_after_us: float = 1000
    give_up_after_us: float = 1e6
    nack_gap_us: float = 500
    base_rtt_ns: float = 0

    def values(self, own: Mapping[str, float]) -> dict[str, float]:
        """Return the settings but for the marker as the engine takes them, for a transport with its own."""
        usual = {**USUAL, **own}
        given = {name: getattr(self, name) for name in _NAMES if name != "marker"}
        return {name: float(usual[name] if value is None else value) for name, value in given.items()}


_NAMES = tuple(each.name for each in fields(FabricSettings))


PRESETS = {
    "default": FabricSettings(),
    # The conventions of the ns-3.39 port of HPCC's simulator (commit 6ddb4a4, 2025-05-23).
    "hpcc-ns3": FabricSettings(whole_ns=True, fct_at_ack=True, plain_ideal=True, retransmit_after_us=0),
}
"""Named conventions."""


def settings(preset: str = "default", **changes: Any) -> FabricSettings:
    """Return a preset with changes.

    Raises:
        InputError: the preset or a key is not known; names those that are.
    """
    if preset not in PRESETS:
        raise InputError(f"preset: {preset!r} is not known{did_you_mean(preset, PRESETS)}")
    unknown = sorted(set(changes) - set(_NAMES))
    if unknown:
        raise InputError(f"settings: {unknown[0]} is not known; one of {', '.join(_NAMES)}")
    return replace(PRESETS[preset], **changes)
