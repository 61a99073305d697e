"""What a hop can write into a header, and the units that it may be written in."""

from __future__ import annotations

from typing import NamedTuple

from lcca.inputs.errors import InputError, did_you_mean


class Source(NamedTuple):
    """Something that a hop knows: its ``unit``, and what it is."""

    unit: str
    doc: str


ELSEWHERE = {"queue_depth": "qlen_bytes", "queue_occupancy": "qlen_bytes", "utilisation": "util", "rtt": "base_rtt"}
"""What others call a source, and users write in its place."""

SOURCES: dict[str, Source] = {
    "qlen_bytes": Source("bytes", "bytes waiting"),
    "qlen_pkts": Source("packets", "packets waiting"),
    "qdelay": Source("ns", "time that the packet waited in the queue"),
    "hop_delay": Source("ns", "time that the packet spent at the hop"),
    "util": Source("share", "share of the link used"),
    "abw": Source("bit/s", "capacity of the link left unused"),
    "abw_over_c": Source("share", "share of the link left unused"),
    "tx_bytes": Source("bytes", "bytes sent since the hop started"),
    "link_rate": Source("bit/s", "rate of the link"),
    "ts_in": Source("ns", "time of arrival"),
    "ts_out": Source("ns", "time of departure"),
    "node_id": Source("", "number of the hop"),
    "port_in": Source("", "number of the ingress port"),
    "port_out": Source("", "number of the egress port"),
    "qid": Source("", "number of the queue"),
    "buf_bytes": Source("bytes", "bytes held in the shared buffer"),
    "nqd": Source("ns", "queue over the rate of the port, whatever its share of it"),
    "mark": Source("flag", "decision of the queue's AQM to mark the packet"),
    "drain_time": Source("ns", "bytes waiting over the rate of the link"),
    "arrival_slack": Source("bytes", "what the link could have carried beyond what arrived"),
    "flows": Source("", "number of active flows"),
    "rank": Source("", "number of active flows with fewer bytes left than the packet says"),
    "bytes_left": Source("bytes", "bytes of the flow that the sender has not sent yet"),
    "base_rtt": Source("ns", "largest RTT without queues, as the hop is set to"),
    "fair_rate": Source("bit/s", "rate that the hop grants each flow (RCP)"),
    "xcp_feedback": Source("packets", "packets that the hop allows for this one, 1 to keep the window (XCP)"),
    "pru_tokens": Source("packets", "packets that will be missing soon (Bolt's proactive ramp-up)"),
    "host_ts": Source("ns", "the sender's clock"),
    "hop_count": Source("", "number of hops so far, this one included"),
    "ttl": Source("", "the packet's time to live"),
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
