"""What a hop can write into a header: unit, meaning, the signal that it carries, its cost; and the units of fields."""

from __future__ import annotations

from typing import Literal, NamedTuple

from lcca.inputs.errors import InputError, did_you_mean


class Carried(NamedTuple):
    """A signal that a field carries.

    Attributes:
        signal: its name.
        unit: of its numbers.
        rest: whether it is 1 less the field's.
        over_hops: which of the path counts.
    """

    signal: str
    unit: str
    rest: bool = False
    over_hops: Literal["max", "min"] = "max"


class Source(NamedTuple):
    """Something that a hop knows.

    Attributes:
        unit: of its number.
        doc: what it is.
        carries: the signal that senders have by it; None if none.
        absent: why hops of the simulators cannot write it, where they cannot: headers may have it all the same, as long
            as no signal depends on it.
        registers: that it takes in a switch, of 32 bits.
        operations: that it takes on a packet: one read unless more are given.
        varies: whether it differs from packet to packet, so that windows can average it.
    """

    unit: str
    doc: str
    carries: Carried | None = None
    absent: str = ""
    registers: int = 0
    operations: int = 1
    varies: bool = True


ELSEWHERE = {"queue_depth": "qlen_bytes", "queue_occupancy": "qlen_bytes", "utilisation": "util", "rtt": "base_rtt"}
"""What others call a source, and users write in its place."""

_QUEUE_TIME = Carried("queue_time", "us")
_PORTS = "hops of the simulators do not number their ports"

SOURCES: dict[str, Source] = {
    "qlen_bytes": Source("bytes", "bytes waiting", Carried("queue", "bytes")),
    "qlen_pkts": Source("packets", "packets waiting", Carried("queue", "packets")),
    # read a clock, subtract
    "qdelay": Source("ns", "time that the packet waited in the queue", _QUEUE_TIME, operations=2),
    "hop_delay": Source("ns", "time that the packet spent at the hop", Carried("hop_delay", "us"), operations=2),
    "util": Source("share", "share of the link used", Carried("link", "share")),
    "abw": Source("bit/s", "capacity of the link left unused", Carried("available_capacity", "bit/s", over_hops="min")),
    "abw_over_c": Source(
        "share", "share of the link left unused", Carried("link", "share", rest=True, over_hops="min")
    ),
    "tx_bytes": Source("bytes", "bytes sent since the hop started"),
    "link_rate": Source("bit/s", "rate of the link", Carried("capacity", "bit/s", over_hops="min"), varies=False),
    "ts_in": Source("ns", "time of arrival"),
    "ts_out": Source("ns", "time of departure"),
    "node_id": Source("", "number of the hop", absent="hops of the simulators have no numbers that a sender could use"),
    "port_in": Source("", "number of the ingress port", absent=_PORTS),
    "port_out": Source("", "number of the egress port", absent=_PORTS),
    "qid": Source("", "number of the queue", absent="ports have one queue"),
    "buf_bytes": Source("bytes", "bytes held in the shared buffer", absent="ports have buffers of their own"),
    # read the queue, multiply
    "nqd": Source("ns", "queue over the rate of the port, whatever its share of it", _QUEUE_TIME, operations=2),
    "mark": Source("flag", "decision of the queue's AQM to mark the packet", Carried("mark", "flag")),
    "drain_time": Source("ns", "bytes waiting over the rate of the link", _QUEUE_TIME, operations=2),
    "arrival_slack": Source(
        "bytes", "what the link could have carried beyond what arrived", absent="Bolt's supply tokens are not simulated"
    ),
    "flows": Source("", "number of active flows", Carried("flows", "")),
    "rank": Source("", "number of active flows with fewer bytes left than the packet says", Carried("rank", "")),
    "bytes_left": Source(
        "bytes",
        "bytes of the flow that the sender has not sent yet",
        absent="the sender writes it, and hops make the rank of it",
    ),
    "base_rtt": Source("ns", "largest RTT without queues, as the hop is set to", varies=False),
    # rate, mean RTT, bytes that came, end of the interval; RCP, equation 2 but for the update
    "fair_rate": Source(
        "bit/s",
        "rate that the hop grants each flow (RCP)",
        Carried("fair_rate", "bit/s", over_hops="min"),
        registers=4,
        operations=6,
        varies=False,
    ),
    # sums of this interval, shares of the last, what is left to grant; XCP, section 3.5
    "xcp_feedback": Source(
        "packets",
        "packets that the hop allows for this one, 1 to keep the window (XCP)",
        Carried("xcp_feedback", "packets", over_hops="min"),
        registers=11,
        operations=16,
        varies=False,
    ),
    # this interval's sum and the last, number of the interval; compare, add, read, multiply
    "senders": Source(
        "",
        "number of flows, by the gaps that their packets say, in the interval last completed",
        Carried("flows", ""),
        registers=3,
        operations=4,
        varies=False,
    ),
    "gap": Source(
        "us",
        "time that the sender takes for a full packet: RTT over window, or as it paces",
        absent="the sender writes it, and hops make the number of senders of it",
    ),
    "pru_tokens": Source(
        "packets",
        "packets that will be missing soon (Bolt's proactive ramp-up)",
        absent="Bolt's ramp-up tokens are not simulated",
    ),
    "host_ts": Source("ns", "the sender's clock", absent="the sender's clock is no hop's"),
    "hop_count": Source("", "number of hops so far, this one included"),
    "ttl": Source("", "the packet's time to live", absent="packets of the simulators have no time to live"),
    "trimmed": Source("flag", "whether the hop cut the packet's payload off"),
    "const": Source("", "always the field's `value`"),
}
"""Sources by name. Expressions (``expr:``) see their values in these units."""

UNITS: dict[str, tuple[str, float]] = {
    "": ("number", 1),
    "flag": ("number", 1),
    "ns": ("time", 1),
    "us": ("time", 1e3),
    "ms": ("time", 1e6),
    "s": ("time", 1e9),
    "bytes": ("data", 1),
    "kB": ("data", 1e3),
    "packets": ("packets", 1),
    "bit/s": ("rate", 1),
    "byte/s": ("rate", 8),
    "Mbit/s": ("rate", 1e6),
    "Gbit/s": ("rate", 1e9),
    "share": ("share", 1),
    "percent": ("share", 0.01),
}
"""Units by name: what they measure, and their size in the first unit of that kind."""


def convert(value: float, unit: str, into: str) -> float:
    """Return ``value`` (in ``unit``) in the unit ``into``.

    Raises:
        InputError: an unknown unit, or two that measure different things.
    """
    (kind, size), (other, other_size) = _unit(unit), _unit(into)
    if kind != other:
        raise InputError(f"{unit or 'a number'} cannot be told in {into or 'numbers'}: {kind} against {other}")
    return value if size == other_size else value * size / other_size


def _unit(name: str) -> tuple[str, float]:
    if name not in UNITS:
        raise InputError(f"there is no unit {name[:60]!r}{did_you_mean(name, [unit for unit in UNITS if unit])}")
    return UNITS[name]
