"""What hops write into packets and what senders read from it: a header as plain data for the simulators.

`lcca.signal_sets.headers.simulated` makes a `Stamping` from the description of a header. Everything that the C++ code
needs is in it, and nothing else: it can be hashed, pickled and written as JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from lcca.inputs.errors import InputError
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus import _core
from lcca.remy_plus.core.signals import CARRIED

Token: TypeAlias = tuple[str, float | str]
"""One step of a formula in postfix order: ("number", 2.0), ("source", name), ("field", index) or (operator, "")."""

Gains: TypeAlias = tuple[float, float, float, float]
"""Of a hop that says a rate or a change of the window: alpha, beta, portion (RCP's target, XCP's shuffled share) and
interval (µs; 0 for the mean RTT)."""

Window: TypeAlias = Literal["instant", "rolling", "tumbling", "ewma", "counter", "aged"]


@dataclass(frozen=True)
class Coding:
    """How the numbers of a field become codes.

    Attributes:
        kind: "linear" (also whole numbers and counters), "grid" (any ascending numbers), "float", "enum", "flag", or
            "exact": the number itself, in no bits that a wire has.
        bits: size of the field.
        base: number of code 0, of "linear".
        step: distance of codes, of "linear" and "float".
        largest: number of the largest code where it is told; else base and step tell it.
        mantissa: bits, of "float".
        numbers: of all codes in order ("grid"), or those listed ("enum").
        codes: of the listed numbers ("enum").
        rounding: "floor", "ceil", "nearest" or "stochastic".
        wraps: codes modulo ``2**bits``; else numbers saturate.
        invalid: code for "not known".
        nearest: "enum" takes the nearest listed number instead of refusing others.
    """

    kind: Literal["linear", "grid", "float", "enum", "flag", "exact"]
    bits: int = 64
    base: float = 0.0
    step: float = 1.0
    largest: float | None = None
    mantissa: int = 0
    numbers: tuple[float, ...] = ()
    codes: tuple[int, ...] = ()
    rounding: Literal["floor", "ceil", "nearest", "stochastic"] = "floor"
    wraps: bool = False
    invalid: int | None = None
    nearest: bool = False


@dataclass(frozen=True)
class StampedField:
    """One field as hops treat it.

    Attributes:
        name: of the field.
        source: name of what is written; "formula" for `formula`.
        formula: in postfix order.
        when: condition in postfix order; empty for always.
        value: written for "const", or where "mark" holds, as a number; None for what the source says.
        scale: a source's number times the first over the second is in the field's unit.
        window: how the source, or each source of the formula, is measured.
        interval: µs of the window; 0 for the model's own (``link_interval``).
        gains: of the sources `fair_rate` and `xcp_feedback`.
        rtts: base RTTs of the window, where `interval` is 0.
        memory_bits: by which flows are counted; 0 for exact counts, None for the engine's own (`_core.COUNT_BITS`).
        refresh: µs between readings of what is written; 0 for one with every packet.
        delay: µs from a reading until it is written.
        bias: mean error of a reading, as a share of it.
        noise: standard deviation of its error, as a share of it.
        shift: mean error in the field's unit.
        shift_noise: standard deviation in the field's unit.
        begins: its first bit on the wire, counted from the header's, in the record of the first hop if each has one; -1
            where there is no wire. Real packets have it there; no simulation depends on it.
        at: "enqueue" or "dequeue".
        coding: numbers to codes.
        agg: min, max, sum, last, first, or, and, count, per_hop or with.
        follows: index of the field that "with" follows, else -1.
        init: code that the sender writes.
        only: label under which a field of one-of headers travels, else -1.
        writes: whether hops write it at all.
    """

    name: str
    source: str
    coding: Coding
    agg: str
    formula: tuple[Token, ...] = ()
    when: tuple[Token, ...] = ()
    value: float | None = None
    scale: tuple[float, float] = (1.0, 1.0)
    window: Window = "instant"
    interval: float = 0.0
    at: Literal["enqueue", "dequeue"] = "dequeue"
    follows: int = -1
    init: int = 0
    only: int = -1
    writes: bool = True
    gains: Gains = (0.0, 0.0, 0.0, 0.0)
    rtts: float = 0.0
    memory_bits: int | None = None
    refresh: float = 0.0
    delay: float = 0.0
    bias: float = 0.0
    noise: float = 0.0
    shift: float = 0.0
    shift_noise: float = 0.0
    begins: int = -1

    @property
    def measured(self) -> set[str]:
        """The sources that hops need for it."""
        terms = {str(name) for kind, name in (*self.formula, *self.when) if kind == "source"}
        return {self.source, *terms} if self.writes else set()


@dataclass(frozen=True)
class Reading:
    """How the sender gets one signal out of the fields that came back.

    Attributes:
        signal: of the engine.
        field: index of the field.
        kind: "value" of the field, "mark" (1 where the code is `marked`, else 0), or "throughput": what a hop sent
            between two packets, over its rate; then `field` counts bytes.
        count: index of a field to divide by (mean along the path), or -1.
        rate: index of the field with the hop's rate in bit/s, of "throughput".
        time: index of the field with the hop's clock in ns, of "throughput".
        rest: 1 less the value: what is used in place of what is unused.
        over_hops: which of several records counts.
        marked: code of a mark; -1 for any but 0.
        factor: of the value, into the signal's unit.
        per_packet: whether the value counts bytes, to be told in packets.
        factors: of `rate` into bit/s and of `time` into ns, of "throughput".
    """

    signal: str
    field: int
    kind: Literal["value", "mark", "throughput"] = "value"
    count: int = -1
    rate: int = -1
    time: int = -1
    rest: bool = False
    over_hops: Literal["max", "min"] = "max"
    marked: int = -1
    factor: float = 1.0
    factors: tuple[float, float] = (1.0, 1.0)
    per_packet: bool = False


@dataclass(frozen=True)
class Stamping:
    """A header in the simulators.

    Attributes:
        name: of the header.
        packet_bytes: of a data packet without the header: what a packet of the network's numbers is.
        fields: those that some signal depends on, in the order of the wire; others cost their bytes alone.
        readings: what the sender sees; signals without one are 0.
        two_way: whether the hops on the way back write too.
        sent_bytes: that the header adds to a data packet after 0, 1, … hops; the last number holds for more hops.
        reflected_bytes: the same of an acknowledgement that reflects it, by hops that wrote.
        max_hops: records that there is room for; 0 for a scalar header.
        overwrites: whether hops beyond overwrite the oldest record; else they write none.
        labels: of one-of headers, of which each packet carries one; empty for the others.
        turns: which label: "fixed" (the first), "round_robin" or "random".
        probability: that a packet carries the header at all.
        every_packets: one of so many data packets is reflected.
        every_us: or one in so many µs, at least so far apart.
        stamp_loss: probability that a hop writes nothing into a packet.
        plain: whether queue, link and available capacity are those without a header, free and exact.
    """

    name: str
    packet_bytes: int
    fields: tuple[StampedField, ...]
    readings: tuple[Reading, ...]
    two_way: bool = False
    sent_bytes: tuple[int, ...] = (0,)
    reflected_bytes: tuple[int, ...] = (0,)
    max_hops: int = 0
    overwrites: bool = False
    labels: tuple[int, ...] = ()
    turns: Literal["fixed", "round_robin", "random"] = "fixed"
    probability: float = 1.0
    every_packets: int = 1
    every_us: float = 0.0
    stamp_loss: float = 0.0
    plain: bool = False

    @cached_property
    def signals(self) -> tuple[str, ...]:
        """The signals that it carries, smoothed ones not counted."""
        return tuple(reading.signal for reading in self.readings)

    @property
    def ranks(self) -> bool:
        """Whether hops rank flows by the bytes that senders have left."""
        return any("rank" in field.measured for field in self.fields)

    @property
    def charged(self) -> bool:
        """Whether its bytes take time on links."""
        return any(self.sent_bytes) or any(self.reflected_bytes)

    def on_packets(self, packet_bytes: int) -> Stamping:
        """Return it for data packets of so many bytes, without the header.

        Raises:
            InputError: there are no such packets.
        """
        if not 1 <= packet_bytes <= 65536:
            raise InputError(f"packet_bytes must be from 1 to 65536, got {packet_bytes}")
        return replace(self, packet_bytes=packet_bytes)

    def content(self) -> dict[str, Any]:
        """Return it as JSON values: what an identity or a hash should cover."""
        stamped = tuple(_grown(field) | {"coding": _shallow(field.coding)} for field in self.fields)
        return _grown(self) | {"fields": stamped, "readings": tuple(map(_shallow, self.readings))}

    def require(self, signals: tuple[str, ...]) -> None:
        """Check that in-network signals are carried.

        Raises:
            InputError: the first that is not, with those that are.
        """
        for name in signals:
            carried = CARRIED.get(name)
            if carried is not None and carried not in self.signals and not (self.plain and carried in PLAIN):
                known = ", ".join(self.signals) or "none"
                raise InputError(f"header {self.name} does not carry the signal {name} (it carries: {known})")


def _shallow(of: Stamping | StampedField | Coding | Reading) -> dict[str, Any]:
    """Return what it has by name, without a copy: grids have tens of thousands of numbers, compiled for every trial."""
    return {each.name: getattr(of, each.name) for each in fields(of)}


_LATER = ("rtts", "memory_bits", "refresh", "delay", "bias", "noise", "shift", "shift_noise", "stamp_loss")


def _grown(of: Stamping | StampedField) -> dict[str, Any]:
    """Return what it has, less what was not always there and has its default: hashes must not change."""
    has = {key: v for key, v in _shallow(of).items() if key != "begins"}
    return {key: v for key, v in has.items() if key not in _LATER or v != getattr(type(of), key)}


PLAIN = ("queue", "link", "available_capacity")
"""In-network signals that the simulators have without any header."""

_PER_BIT = 1 / (8e6 * PACKET_BYTES)  # packets/µs of a bit/s
_LARGEST = int(np.float64(np.finfo(np.float64).max).view(np.uint64))
"""Code of an exact field that any hop's value replaces as the smallest."""


class _Raw(NamedTuple):
    """How a signal comes without a header: from which source, the largest or smallest of the path, times a factor."""

    source: str
    factor: float = 1.0
    agg: str = "max"
    gains: Gains = (0.0, 0.0, 0.0, 0.0)


_RAW = {
    "hop_delay": _Raw("hop_delay", 1e-3),  # ns to µs
    "queue_time": _Raw("qdelay", 1e-3),
    "flows": _Raw("flows"),
    "mark": _Raw("mark"),
    "capacity": _Raw("link_rate", _PER_BIT, "min"),
    "fair_rate": _Raw("fair_rate", _PER_BIT, "min", _core.RCP_GAINS),
    "xcp_feedback": _Raw("xcp_feedback", 1.0, "min", _core.XCP_GAINS),
}

KNOWN_LATER = {
    "qdelay": "how long a packet will wait",
    "hop_delay": "how long a packet will wait",
    "ts_out": "when a packet will leave",
}
"""Sources that a port of a fabric has as a packet leaves alone, for a pause may come: what it does not know before."""

ONLY_IN_HEADERS = set(CARRIED.values()) - set(PLAIN) - _RAW.keys()
"""Signals that only a header can define."""


def raw_stamping(signals: tuple[str, ...]) -> Stamping | None:
    """Return what brings in-network signals to a policy without a header: exact and free.

    The largest of the path, but the smallest of capacity, fair rate and XCP's feedback, which hops on the way back do
    not write. None where the simulators have all of them anyway.

    Raises:
        InputError: a signal that only a header can define.
    """
    wanted = [CARRIED[name] for name in dict.fromkeys(signals) if name in CARRIED and CARRIED[name] not in PLAIN]
    if not wanted:
        return None
    for name in wanted:
        if name in ONLY_IN_HEADERS:
            raise InputError(f"the signal {name} is what a header makes of it: use one that carries it")
    raws = {name: _RAW[name] for name in wanted}
    fields = tuple(
        StampedField(
            name, raw.source, Coding("exact"), raw.agg, init=_LARGEST if raw.agg == "min" else 0, gains=raw.gains
        )
        for name, raw in raws.items()
    )
    readings = tuple(
        Reading(name, at, "mark" if name == "mark" else "value", factor=_RAW[name].factor)
        for at, name in enumerate(wanted)
    )
    both_ways = not any(name in ("fair_rate", "xcp_feedback") for name in wanted)
    return Stamping("none", PACKET_BYTES, fields, readings, two_way=both_ways, plain=True)
