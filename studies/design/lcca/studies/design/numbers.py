"""Numbers that a port can write into a field, with their codes; and those that say nothing, the placebos.

A number is a source or a formula with how it is measured. Which ones a place has follows from its `Ground`, and so do
the ranges of their codes: a code that saturates makes a good number look bad.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from lcca.studies.design.ground import Ground

Scale = Literal["count", "share", "ratio", "log"]
"""Of a code: whole numbers, equal steps up to the largest, equal ratios, or these with a code for 0."""

LOADS = 4.0
"""The largest load that codes reach, of the link's rate."""

QUEUES = 4.0
"""The longest queue, in bandwidth-delay products; the longest time, in base RTTs."""

LEFT = 3e7
"""Bytes left that codes reach."""

LEAST_QUEUE = 16
"""Packets that codes of queues reach at least."""

CLOCK = "ts_out % 4096"
"""ns within some 4 µs: what no flow can use."""


@dataclass(frozen=True)
class Number:
    """A number that a port writes.

    Attributes:
        name: of what it is, whatever the code and the window: numbers of one name are not combined.
        source: of the field, or ``expr:`` and a formula.
        unit: of the field.
        scale: of its code.
        low: smallest that the code tells apart from 0, or the smallest of all; in the unit.
        high: largest.
        agg: what hops do with it.
        measure: of the field.
        grants: whether it is a rate that flows may send at.
        oracle: whether no switch of bounded memory can know it.
        placebo: whether it says nothing.
        said: what senders say for it in a field of as many bits: source, unit, the smallest and the largest number.
    """

    name: str
    source: str
    unit: str
    scale: Scale
    low: float
    high: float
    agg: str = "max"
    measure: Mapping[str, Any] = field(default_factory=dict, hash=False)
    grants: bool = False
    oracle: bool = False
    placebo: bool = False
    said: tuple[str, str, float, float] | None = None

    @property
    def window(self) -> str:
        """How it is measured, as a part of names."""
        rtts, bits = self.measure.get("interval_rtts"), self.measure.get("memory_bits")
        parts = [f"{rtts:g}rtt" if rtts else "", "" if bits is None else f"map{bits}" if bits else "list"]
        return "-".join(part for part in parts if part)

    def label(self, bits: int) -> str:
        """Return what names it in a header, in so many bits."""
        return "-".join(part for part in (self.name, f"{bits}b", self.window) if part)

    def fields(self, bits: int) -> list[dict[str, Any]]:
        """Return the fields that it takes, the first of so many bits."""
        own: dict[str, Any] = {
            **{"name": self.name.replace("-", "_"), "source": self.source, "unit": self.unit, "bits": bits},
            **{"encode": self._code(bits), "agg": self.agg},
        }
        own |= {"measure": dict(self.measure)} if self.measure else {}
        own |= {"grants": True} if self.grants else {}
        return [*self._said(bits), own]

    def _said(self, bits: int) -> list[dict[str, Any]]:
        """Return the field in which senders say what hops make the number of, if there is one."""
        if self.source == "fair_rate":  # of RTTs, as in the catalogue's rcp-16
            return [{"name": "rtt", "source": "const", "bits": 16, "agg": "first", "scope": "src_once", "init": 0}]
        if self.said is None:
            return []
        name, unit, low, high = self.said
        code = {
            "kind": "log",
            "base": (high / low) ** (1 / max(1, 2**bits - 2)),
            "min": low,
            "zero": True,
            "round": "nearest",
        }
        return [
            {"name": name, "source": name, "unit": unit, "bits": bits, "encode": code}
            | {"agg": "first", "scope": "src_once"}
        ]

    def _code(self, bits: int) -> dict[str, Any]:
        top = 2**bits - 1
        if self.scale == "count" and self.high - self.low <= top:
            return {"kind": "linear", "base": self.low, "step": 1, "round": "nearest"}
        if self.scale == "share":
            return {"kind": "linear", "max": self.high, "round": "nearest"}
        zero = self.scale == "log" or self.low == 0
        low = max(self.low, 1.0) if self.scale == "count" else self.low
        base = (self.high / low) ** (1 / max(1, top - zero))
        return {"kind": "log", "base": base, "min": low, "zero": zero, "round": "nearest"}


@dataclass(frozen=True)
class Windows:
    """Over what numbers are measured: base RTTs of averages and of memories of flows, and bits of their maps."""

    rtts: Sequence[float]
    memories: Sequence[int]
    oracles: bool


def numbers(ground: Ground, windows: Windows) -> Iterator[Number]:
    """Return the numbers that ports of a place can write, each with every window."""
    return (each for each in _numbers(ground, windows) if each.low < each.high)  # others say nothing


def _numbers(ground: Ground, windows: Windows) -> Iterator[Number]:
    rate, rtt, packet = ground.rates, ground.rtts, float(ground.packet)
    service = packet * 8e9 / rate[1]  # ns
    longest = max(QUEUES * rtt[1], LEAST_QUEUE * service)  # ns
    averages = [{"window": "ewma", "interval_rtts": rtts} for rtts in windows.rtts]
    queue = Number("queue", "qlen_bytes", "bytes", "log", packet / 4, max(QUEUES * ground.bdp, LEAST_QUEUE * packet))
    wait = Number("drain", "drain_time", "ns", "log", service / 4, longest)
    yield from (queue, wait, replace(wait, name="waited", source="qdelay"))
    yield from (replace(queue, measure=each) for each in averages)
    use = Number("use", "util", "share", "share", 0.0, 1.0)
    load = Number("load", "expr:util + 8000000000 * qlen_bytes / (link_rate * base_rtt)", "share", "share", 0.0, LOADS)
    unused = Number("unused", "abw", "Mbit/s", "log", rate[1] / 1e9, rate[1] / 1e6, "min")
    yield from (replace(each, measure=over) for each in (use, load, unused) for over in averages)
    yield Number("capacity", "link_rate", "Mbit/s", "ratio", rate[0] / 1e6, rate[1] / 1e6, "min")
    fair = Number("rcp", "fair_rate", "Mbit/s", "ratio", rate[0] / 4e6 / ground.flows, rate[1] / 1e6, "min")
    yield fair
    for count in _counts(ground, windows):
        flows = Number("flows", "flows", "", "count", 1.0, float(ground.flows), measure=count)
        flows = replace(flows, oracle=not count or not count["memory_bits"])
        yield flows
        if not ground.fabric:  # laws for fabrics have no granted rate
            share = replace(fair, source="expr:link_rate * 0.000001 / max(1, flows)", low=rate[0] / 1e6 / ground.flows)
            yield replace(share, name="share", measure=count, grants=True, oracle=flows.oracle)
    gap = ("gap", "us", service / 1e3, longest / 1e3)
    for rtts in windows.rtts:
        over = {"window": "tumbling", "interval_rtts": rtts}
        yield Number("senders", "senders", "", "count", 1.0, float(ground.flows), measure=over, said=gap)
        if not ground.fabric:
            share = replace(
                fair, source="expr:link_rate * 0.000001 / max(1, senders)", low=rate[0] / 1e6 / ground.flows
            )
            yield replace(share, name="share-of-senders", measure=over, grants=True, said=gap)
    for rtts in windows.rtts if ground.fabric else ():
        for bits in (*windows.memories, *([0] if windows.oracles else [])):
            over = {"window": "aged", "interval_rtts": rtts, "memory_bits": bits}
            left = ("bytes_left", "kB", 1.0, LEFT / 1e3)
            yield Number("rank", "rank", "", "count", 0.0, 255.0, measure=over, oracle=not bits, said=left)


def _counts(ground: Ground, windows: Windows) -> Iterator[dict[str, Any]]:
    """Return the ways to count flows: by a map, by a list, or, on networks, as only an oracle knows."""
    for rtts in windows.rtts:
        for bits in (*windows.memories, *([0] if windows.oracles else [])):
            yield {"window": "aged", "interval_rtts": rtts, "memory_bits": bits}
    if windows.oracles and not ground.fabric:
        yield {}


def placebos(ground: Ground, count: int) -> list[Number]:
    """Return so many numbers that say nothing: clocks and constants, as every signal that laws take up."""
    rate, packets = ground.rates[1] / 1e6, max(QUEUES * ground.bdp / ground.packet, LEAST_QUEUE)
    made: list[tuple[str, str, str, Scale, float, float, str]] = [
        ("clock-load", f"expr:({CLOCK}) / 4096", "share", "share", 0.0, 1.0, "max"),
        ("clock-rate", f"expr:{rate:.6f} * (1 + {CLOCK}) / 4096", "Mbit/s", "ratio", rate / 1e4, rate, "min"),
        ("constant", "expr:hop_count * 0 + 0.5", "share", "share", 0.0, 1.0, "max"),
        ("clock-queue", f"expr:({CLOCK}) * {packets:.6g} / 4096", "packets", "log", packets / 1e3, packets, "max"),
        ("bits", "expr:(ts_out % 64) / 64", "share", "share", 0.0, 1.0, "max"),
        ("turns", "expr:(ts_out % 512) / 512", "share", "share", 0.0, 1.0, "max"),
        ("slow-clock", "expr:(ts_out % 131072) / 131072", "share", "share", 0.0, 1.0, "max"),
        (
            "other-rate",
            f"expr:{rate:.6f} * (1 + ts_out % 512) / 512",
            "Mbit/s",
            "ratio",
            rate / 1e3,
            rate,
            "min",
        ),
    ]
    grants = () if ground.fabric else ("clock-rate", "other-rate")
    own = [Number(*each, placebo=True) for each in made]
    return [replace(each, grants=each.name in grants) for each in own][:count]


NAMES = (
    "capacity",
    "drain",
    "flows",
    "load",
    "queue",
    "rank",
    "rcp",
    "senders",
    "share",
    "share-of-senders",
    "unused",
    "use",
    "waited",
)
"""Of numbers, whatever the place."""
