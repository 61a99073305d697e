"""What a port does with a packet to fill a header, a step a line, for who builds it; `switch_cost` counts it."""

from __future__ import annotations

from collections.abc import Iterator

from lcca.signal_sets.headers.field import HeaderField
from lcca.signal_sets.headers.header import Header

NOW = {
    "qlen_bytes": "bytes that wait behind the packet",
    "qdelay": "now − when the packet came, ns",
    "drain_time": "8e9 · bytes that wait / link_rate, ns",
    "link_rate": "rate of the link, bit/s",
    "base_rtt": "largest base RTT of the network, ns",
    "ts_out": "now, ns",
    "hop_count": "hops that the packet has passed, this one too",
}
"""What a port knows without memory of its own."""

USES = {"util": "u", "abw": "link_rate · max(0, 1 − u)"}


def steps(header: Header) -> list[str]:
    """Return what a port does with a packet that it sends, a step a line; registers have 32 bits.

    `T` is what a field is measured over, at least a packet's time on the link; `now` is when the packet leaves, `s` its
    time on the link. Flows and senders are counted by data packets alone.
    """
    lines = list[str]()
    for field in (each for each in header.fields if each.scope == "hop"):
        for source in sorted(field.measured):
            lines += _known(source, field)
        number = field.source.removeprefix("expr:")
        combined = f"{field.agg}(header.{field.name}, code)" if field.agg in ("min", "max", "sum") else "code"
        lines += [f"code = {number}, coded in {field.bits} bits", f"header.{field.name} = {combined}"]
    return lines


def _known(source: str, field: HeaderField) -> Iterator[str]:
    """Return how a port comes to know a number."""
    measure = field.measure
    time = f"{measure.interval_rtts:g} base RTTs" if measure.interval_rtts else "an interval"
    if source in USES:
        yield f"u = a · e^((until − now) / T), T = {time} # registers a, until; e^x by a table"
        yield "a = 1 − (1 − u) · e^(−s / T); until = now + s"
        yield f"{source} = {USES[source]}"
    elif source == "flows" and measure.memory_bits:
        bits = measure.memory_bits
        yield f"every {time}: before = this; this = 0 # two maps of {bits:,} bits, and when they turned"
        yield f"this[hash(flow) mod {bits}] = 1 # its ones and those of before counted as they come"
        yield f"flows = −{bits} · ln(max(1, zeros of (this or before)) / {bits}) # by a table"
    elif source == "rank" and measure.memory_bits:
        cells = measure.memory_bits // 4
        yield f"every {time}: before = this; this = 0 # two arrays of {cells} cells of 4 bits"
        yield "b = bucket of bytes left: 0 for none, 1 below 4 KiB, one more for every doubling, at most 15"
        yield "take the flow's cells, by hash, out of this and before; put b into this, 0 being empty"
        yield "rank = flows in buckets below b of both # a register for each bucket of each array"
    elif source in ("flows", "rank"):
        yield f"{source} = exactly, from a list of flows # no switch keeps it"
    elif source == "senders":
        yield "as a packet is queued: sum = sum + its gap # registers sum, last, end of the interval"
        yield f"every {time}: last = sum; sum = 0"
        yield "senders = last / T"
    elif source == "fair_rate":
        alpha, beta, portion, _ = field.gains
        yield "d = d + 0.02 · (the RTT that a packet says − d); every d: # registers d, R, end of the interval, y, q"
        yield f"f = 1 + ({alpha:g} · (C − y) − {beta:g} · q / d) / C, C = {portion:g} link_rate # y came in, q waits"
        yield "R = R · max(f, 1/2), at most link_rate, at least link_rate / 10,000"
        yield "fair_rate = R"
    elif measure.window == "ewma" and source in ("qlen_bytes", "qdelay", "drain_time"):
        yield f"x = {NOW[source]}"
        yield f"a = x + (a − x) · e^((last − now) / T); last = now, T = {time} # registers a, last; e^x by a table"
        yield f"{source} = a"
    elif source in NOW:
        yield f"{source} = {NOW[source]}"
