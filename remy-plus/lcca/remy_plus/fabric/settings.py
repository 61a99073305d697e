"""What holds for a whole fabric: conventions of frames and times, switches, and when a flow has ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lcca.inputs.errors import InputError, did_you_mean
from lcca.remy_plus.switches.markers import Marking
from lcca.remy_plus.switches.transports import SCHEDULING, SPRAYING, WAYS

if TYPE_CHECKING:
    from lcca.remy_plus.fabric.topology import FabricTopology

FABRIC = "fabric"
"""The simulator of the whole fabric, packet by packet: `FabricEngine.run`."""

FLUID = "fluid"
"""The simulator of `fluid`, which stands in for it."""

USUAL: Mapping[str, float] = MappingProxyType(
    {
        "arrival_bytes": 0.0,
        "ack_priority": -1.0,
        "priorities": 1.0,
        "mark_to_hosts": 1.0,
        "scheduling": 0.0,
        "spraying": 0.0,
        "selective": 0.0,
        "ack_bytes_every": 0.0,
        "retransmit_after_us": 1000.0,
    }
)
"""What holds where neither the settings nor the transport say otherwise."""


@dataclass(frozen=True)
class Deployment:
    """Which switches write stamps, headers and rates into packets; the others leave them as they are. All mark.

    Attributes:
        switches: all of them, those with hosts (tor), those without (spine), or any (random).
        share: of these, drawn for each trial.
    """

    switches: str = "all"
    share: float = 1.0

    def silent(self, topology: FabricTopology, seed: int) -> list[int]:
        """Return the nodes of the switches that do not write, in a trial with this seed."""
        import numpy as np  # help of commands names simulators

        from lcca.remy_plus.core.shares import chosen
        from lcca.remy_plus.fabric.topology import TOR

        tier = topology.tier
        kinds = {"tor": tier == TOR, "spine": tier > TOR}
        those = np.flatnonzero(kinds.get(self.switches, tier >= TOR))
        writing = those[chosen(seed, 0, "deployment", 0, len(those), self.share)]
        return sorted({*range(topology.hosts, topology.nodes)} - {*writing.tolist()})


EVERYWHERE = Deployment()


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
            pauses are those of a class; 1 if left out.
        ack_priority: the class of ACKs; that of their data if left out.
        marker: ECN, of `lcca.remy_plus.switches.markers.MARKERS`.
        stamping: which switches write into packets.
        mark_at_dequeue: the marker is asked as a packet leaves the queue; else as it joins it.
        mark_when_sent: with `queue_bdps`: as its last bit leaves, by what waits then.
        mark_to_hosts: ports towards hosts mark too.
        thresholds_by_rate: thresholds of marks, and what own queues hold, change with the rate of their link; else they
            stay as they were built.
        queue_quantum_bytes: unit of queue lengths in stamps.
        bytes_quantum_bytes: unit of byte counters in stamps.
        queue_bdps: unless it is 0, the data of a port wait in a queue of its own, of so many bandwidth-delay products
            of a host's link in full frames, in place of a shared buffer; control packets go before data. Above it, a
            fair coin picks the packet that comes or the newest that waits.
        trim_bytes: what is left of the picked one, which goes before data; 0 drops it.
        spraying: how senders choose the entropy of a packet, by which switches choose its way: of `SPRAYING`; with
            `flow` each has one way.
        entropies: how many there are, a power of two.
        ways: how switches choose among equal ways, of `WAYS`: by a hash of the flow and of the packet's entropy; or the
            entropy alone numbers the way (source routes); with `shared` a host also keeps what it knows of ways by the
            switch of the receiver, for all flows together.
        write_to_hosts: ports towards hosts write headers and stamps too; under laws that choose ways they do not.
        adaptive: switches send each packet to the port with the shortest queue in place of a hash.
        queue_pairs: flows between the same hosts, in the same class, are messages of one queue pair: they share the
            hashes by which switches choose ways, and what the sender knows of entropies, and NSCC's window and base RTT
            go on from one to the next; else each flow has its own.
        feedback_per_packet: an ACK says of all packets that it newly acknowledges that their entropies are good, and a
            timeout blames the entropy of its packet; else an ACK speaks for the packet that it answers, and timeouts
            blame entropy 0, as in uet-htsim.
        selective: receivers reorder, and only what is lost is sent again; else go-back-N.
        sleek: what arrives at selective receivers far out of order says that packets before it are lost.
        granted: selective receivers grant credit to learnt policies, as RCCC's do; transports have their own.
        ack_bytes_every: of selective receivers: one ACK for so many bytes on the wire, unless there is cause for one.
        scheduling: which of its flows that may send a host sends of, of `SCHEDULING`: of each in turn, of that with the
            fewest bytes left to send, or of that with the fewest bytes sent; the transport's own if left out.
        arrival_bytes: ports count the bytes that arrive at them in stamps, not those that they sent.
        fct_at_ack: a flow ends when the ACK of its last byte is at the sender; else when that byte is received.
        plain_ideal: ideal times are those of HPCC's simulator: propagation there and back, a full payload at every hop,
            all bytes at the slowest link; no ACK. A lone flow may have a slowdown below 1. Else they are exact.
        retransmit_after_us: a sender without progress for so long goes back to what is not acknowledged, a selective
            one sends a packet again so long after it was sent, and neither before two round trips; with PFC only of
            flows that have lost something; 0 is never; 1000 if left out.
        give_up_after_us: a run ends in which nothing is delivered and no flow begins for so long and nothing but timers
            is due, such as one that PFC has locked; 0 is never.
        retransmit_rtts: unless it is 0, that time in base RTTs.
        nack_gap_us: a receiver asks for the same packet only so often.
        nack_gap_rtts: unless it is 0, that time in base RTTs.
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
    priorities: int | None = None
    ack_priority: int | None = None
    marker: Marking | None = None
    stamping: Deployment = EVERYWHERE
    mark_at_dequeue: bool = True
    mark_when_sent: bool = False
    mark_to_hosts: bool | None = None
    thresholds_by_rate: bool = False
    queue_quantum_bytes: float = 320
    bytes_quantum_bytes: float = 512
    scheduling: str | None = None
    arrival_bytes: bool | None = None
    queue_bdps: float = 0
    trim_bytes: int = 64
    spraying: str | None = None
    entropies: int = 64
    ways: str = "hashed"
    write_to_hosts: bool = True
    adaptive: bool = False
    queue_pairs: bool = False
    feedback_per_packet: bool = False
    selective: bool | None = None
    sleek: bool = False
    granted: bool = False
    ack_bytes_every: float | None = None
    fct_at_ack: bool = False
    plain_ideal: bool = False
    retransmit_after_us: float | None = None
    give_up_after_us: float = 1e6
    retransmit_rtts: float = 0
    nack_gap_us: float = 500
    nack_gap_rtts: float = 0
    base_rtt_ns: float = 0

    def values(self, own: Mapping[str, float]) -> dict[str, float]:
        """Return the settings but for the marker as the engine takes them, for a transport with its own."""
        usual = {**USUAL, **own}
        given = {name: getattr(self, name) for name in _NAMES if name not in ("marker", "stamping")}
        for name, names in (("spraying", SPRAYING), ("scheduling", SCHEDULING), ("ways", WAYS)):
            if given[name] is not None:
                given[name] = names.index(given[name])
        return {name: float(usual[name] if value is None else value) for name, value in given.items()}


_NAMES = tuple(each.name for each in fields(FabricSettings))


PRESETS = {
    "default": FabricSettings(),
    # The conventions of uet-htsim (commit 40ccb05, 2025-08-12).
    "uet-htsim": FabricSettings(
        payload_bytes=4086,
        overhead_bytes=64,
        ack_bytes=64,
        lossless=False,
        queue_bdps=1,
        mark_when_sent=True,
        fct_at_ack=True,
        retransmit_after_us=0,
    ),
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
