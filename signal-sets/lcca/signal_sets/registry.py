"""All signals: what each means and where it comes from. To add one: see CONTRIBUTING.md.

"Paper" is "No Signal to Rule Them All", with its section; "R+" its public release, with the release's name.
Where the paper speaks of rates, gaps are stored (µs between packets): a small gap is a high rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from lcca.inputs.errors import InputError, did_you_mean, shown
from lcca.remy_plus.core.formulas import formula, quantity, registered
from lcca.remy_plus.core.signals import QUANTITIES, Quantity

Source: TypeAlias = Literal["end-to-end", "in-network", "hosts"]

_ELSEWHERE = {"queue_depth": "queue", "queue_occupancy": "queue", "utilization": "link", "utilisation": "link"}
"""What others call a signal, and users write in its place."""


@dataclass(frozen=True)
class Signal:
    """One signal of the engine.

    Attributes:
        name: how signal sets, policy files and the engine call it.
        label: how people call it.
        source: measured by the sender from what comes back, or by the network and carried in a header; or by selective
            hosts of a fabric, from ACKs and NACKs that they have anyway.
        smoothing: what the sender does with the samples: "none" or the weight of an EWMA.
        unit: unit of the value; empty for ratios and shares.
        range: smallest and largest value; every signal is 0 at the start of a flow.
        carries: what an in-network signal needs in the header; signals that carry the same share the field.
        header_bits: size of that field as the paper has it (32); 0 for others.
        reference: where the signal is defined.
        doc: what it tells.
    """

    name: str
    label: str
    source: Source
    smoothing: str
    unit: str
    range: tuple[float, float]
    carries: str | None
    header_bits: int
    reference: str
    doc: str


_HEADER_BITS = 32  # paper §4.3: an 8-byte header of two 32-bit fields

_MEMORY = "lcca: what laws remember (policies/law.h)"

MEANINGS: dict[str, tuple[str, str]] = {
    "send_ewma": (
        "paper §4.3 (send rate); R+ SEND_EWMA",
        "Gap between the sending times of successive acknowledged packets.",
    ),
    "receive_ewma": (
        "paper §4.3 (receive rate); R+ REC_EWMA",
        "Gap between the receive times of successive packets: the inverse of the delivery rate.",
    ),
    "rtt_ratio": (
        "paper §4.3; R+ RTT_RATIO",
        "Latest RTT over the smallest RTT of this flow; at least 1 from the flow's second packet on.",
    ),
    "slow_receive_ewma": (
        "paper §4.3 (slow receive rate); R+ SLOW_REC_EWMA",
        "Gap between receive times, remembered much longer.",
    ),
    "rtt_difference": ("R+ RTT_DIFF", "Latest RTT less the smallest RTT of this flow: the time spent in queues."),
    "queueing_delay": (
        "R+ QUEUEING_DELAY",
        "Receive EWMA times the packets outstanding when the latest one was acknowledged.",
    ),
    "loss": (
        "R+ SINCE_LAST_LOSS; paper §5.1",
        "Share of packets with a gap before them, counted from each flow's first packet.",
    ),
    "queue_ewma": (
        "R+ INT_QUEUE; paper A.5.1 (worse than the raw queue)",
        "Queue signal, smoothed by the sender as R+'s release does it.",
    ),
    "link_ewma": ("R+ INT_LINK; paper A.5.1", "Link signal, smoothed once more by the sender as R+'s release does it."),
    "queue": ("paper §4.3, A.5.1", "Packets left waiting when the acknowledged packet began its transmission."),
    "link": ("paper §4.3", "Share of the link used over the collection interval (10 µs by default)."),
    "available_capacity": ("paper §6.3", "Capacity of the link left unused over the collection interval."),
    "available_capacity_ewma": ("paper §6.3", "Available capacity, smoothed by the sender."),
    "send_ratio": (
        "paper §5.1, footnote 2",
        "Send rate over receive rate: receive EWMA / send EWMA. Above 1, packets pile up.",
    ),
    "slow_receive_ratio": (
        "paper §5.1, footnote 2",
        "Slow receive rate over receive rate: receive EWMA / slow receive EWMA.",
    ),
    "one_way_ratio": (
        "paper §6.1, footnote 3",
        "Latest one-way delay over the smallest one of this flow: the RTT ratio without the way back (needs "
        "equal clocks).",
    ),
    "hop_delay": (
        "CSIG max(PD), draft-ravi-ippm-csig-01",
        "Time from a packet's arrival at a hop to its departure, the largest of the path.",
    ),
    "queue_time": ("CSIG max(nQD), UEC 1.1 as in SAI", "Time that the queue of a hop takes, the largest of the path."),
    "flows": ("PRED, its count of flows", "Flows that are on and pass a hop, the largest of the path."),
    "mark": ("RFC 3168; DCTCP (SIGCOMM 2010)", "Share of packets that a hop's queue marked."),
    "load": (
        "HPCC (SIGCOMM 2019), equation 2; PINT (SIGCOMM 2020)",
        "What a formula in a header makes of a hop, such as HPCC's utilisation: rate and queue over the "
        "bandwidth-delay product. Only a header defines it.",
    ),
    "capacity": ("HPCC's B (SIGCOMM 2019)", "Rate of the link, the smallest of the path."),
    "fair_rate": (
        "RCP (Dukkipati and McKeown, CCR 2006), equation 2",
        "Rate that a hop grants every flow, from its spare capacity and its queue; the smallest of the path.",
    ),
    "xcp_feedback": (
        "XCP (Katabi et al., SIGCOMM 2002), section 3.5",
        "Packets that the acknowledged packet allows to send, 1 for an unchanged window; the fewest of the path.",
    ),
    "age": (_MEMORY, "Time since the flow's first packet was sent, in its smallest RTTs."),
    "since_queue": (
        _MEMORY,
        "Time since an ACK whose RTT was longer than the smallest by an eighth of the smallest gap between ACKs, in "
        "smallest RTTs.",
    ),
    "queued_share": (_MEMORY, "Share of ACKs that met a queue, over two RTTs; a half at the flow's first ACK."),
    "slow_rtt_difference": (_MEMORY, "RTT difference, remembered over 128 ACKs: queueing that lasts."),
    "rtt_difference_2": (_MEMORY, "RTT difference, averaged over two RTTs of time, however many ACKs these have."),
    "rtt_difference_8": (_MEMORY, "RTT difference, averaged over eight RTTs of time."),
    "smallest_ack_gap": (
        _MEMORY,
        "Smallest gap between ACKs of this flow, at least 1/2048 RTT: the inverse of the slowest link's rate once two "
        "packets have queued there.",
    ),
    "smallest_gap_ratio": (
        _MEMORY,
        "Smallest gap between ACKs over their mean over 8 ACKs: about the flow's share of the slowest link.",
    ),
    "gap_ratio": (_MEMORY, "Mean gap between ACKs over 8 ACKs to that over 64: above 1 the flow's rate falls."),
    "rank": (
        "PDQ (SIGCOMM 2012) and pFabric (SIGCOMM 2013): the flow with the fewest bytes left goes first",
        "Flows that pass a hop with fewer bytes left to send, the most of the path. On fabrics, in headers alone.",
    ),
    "trims": (
        "NDP (SIGCOMM 2017), Ultra Ethernet 1.0: NACKs of trimmed packets",
        "Share of NACKs among ACKs and NACKs over two base RTTs; 0 where switches do not trim.",
    ),
    "marked_ways": (
        "Ultra Ethernet 1.0: bitmap of penalties",
        "Share of the entropy values answered so far whose latest packet was marked, or trimmed before its last hop.",
    ),
    "credit": (
        "Ultra Ethernet 1.0: RCCC; facts of uet-htsim @40ccb05 (uec.cpp)",
        "Credit left at an ACK over the most, 1.5 bandwidth-delay products; 0 if overdrawn. Where receivers grant.",
    ),
    "receiver_rank": (
        "Homa (SIGCOMM 2018): receivers know which of their messages have fewer bytes left",
        "Flows whose data has begun to come to the receiver, and not ended, with fewer bytes left to send, or as many "
        "if they began before. Packets say in 2 bytes what is left, and ACKs bring the number back in 2.",
    ),
    "receiver_flows": (
        "ExpressPass (SIGCOMM 2017) and Homa (SIGCOMM 2018): receivers know how many flows share their link",
        "Flows whose data has begun to come to the receiver, and not ended. ACKs bring the number in 2 bytes.",
    ),
}
"""Where each signal is defined, and what it says."""


def _defined(name: str, found: Quantity) -> Signal:
    reference, doc = MEANINGS[name]
    return Signal(
        name=name,
        label=found.label,
        source="hosts" if found.of_hosts else "in-network" if found.field else "end-to-end",
        smoothing=found.smoothing,
        unit=found.unit,
        range=(0.0, found.largest),
        carries=found.field,
        header_bits=_HEADER_BITS if found.field else 0,
        reference=reference,
        doc=doc,
    )


SIGNALS: dict[str, Signal] = {name: _defined(name, found) for name, found in QUANTITIES.items()}
"""Signals by name, in the engine's order."""


def signal(name: str) -> Signal:
    """Return the signal of this name, or that is a formula.

    Raises:
        InputError: unknown; the message suggests the nearest name.
    """
    if own := formula(name):
        sources = [SIGNALS[part].source for part in registered([name])]
        source: Source = "in-network" if "in-network" in sources else "end-to-end"
        found = quantity(name)
        about = (own.name, own.name, source, found.smoothing, found.unit, (0.0, found.largest))
        return Signal(*about, None, 0, "its signal set", f"= {own.expr}")
    if name not in SIGNALS:
        raise InputError(f"unknown signal {shown(name)}{did_you_mean(_ELSEWHERE.get(name, name), SIGNALS)}")
    return SIGNALS[name]
