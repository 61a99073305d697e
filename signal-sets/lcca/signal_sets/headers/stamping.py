"""From the description of a header to what the simulators do with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from lcca.inputs.errors import InputError
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus.core.stamping import Coding, Reading, StampedField, Stamping, Token
from lcca.signal_sets.headers.codec import field_codec, initial_code
from lcca.signal_sets.headers.encoding import LARGEST_TABLE_BITS, Counter, Enum, Flag, Float, Linear, Log, Table, Uint
from lcca.signal_sets.headers.expression import Expression
from lcca.signal_sets.headers.field import HeaderField
from lcca.signal_sets.headers.header import Header
from lcca.signal_sets.headers.parts import PerHop, SelectOneOf, SelectSample
from lcca.signal_sets.headers.simulated import require_simulated, require_simulated_source
from lcca.signal_sets.headers.sources import SOURCES, UNITS, convert


class Carried(NamedTuple):
    """A signal that a field carries: its name, the unit of its numbers, and whether it is 1 less the field's."""

    signal: str
    unit: str
    rest: bool = False


_CARRIED = {
    "qlen_pkts": Carried("queue", "packets"),
    "qlen_bytes": Carried("queue", "bytes"),
    "util": Carried("link", "share"),
    "abw_over_c": Carried("link", "share", rest=True),
    "abw": Carried("available_capacity", "bit/s"),
    "hop_delay": Carried("hop_delay", "us"),
    "qdelay": Carried("queue_time", "us"),
    "nqd": Carried("queue_time", "us"),
    "drain_time": Carried("queue_time", "us"),
    "flows": Carried("flows", ""),
    "link_rate": Carried("capacity", "bit/s"),
    "fair_rate": Carried("fair_rate", "bit/s"),
    "xcp_feedback": Carried("xcp_feedback", "packets"),
    "mark": Carried("mark", "flag"),
}
_LEAST = ("available_capacity", "capacity", "fair_rate", "xcp_feedback")
"""Signals of which the smallest of the path counts."""

_CARRIED_BY_UNIT = {
    "time": Carried("queue_time", "us"),
    "data": Carried("queue", "bytes"),
    "packets": Carried("queue", "packets"),
    "rate": Carried("available_capacity", "bit/s"),
    "share": Carried("load", "share"),
}


def header_signals(header: Header) -> tuple[str, ...]:
    """Return the engine's signals that a policy can use when this header carries them, smoothed ones not counted.

    A formula tells the load if its unit is a share, available capacity if it is a rate, the queue if it is packets or
    bytes, queueing time if it is a time, marks if it is a flag; nothing without a unit.
    """
    return tuple(dict.fromkeys(reading.signal for reading in _readings(header)))


def stamping(header: Header, *, charged: bool = True, packet_bytes: int = PACKET_BYTES) -> Stamping:
    """Return what the simulators do for a header.

    Args:
        header: the description.
        charged: whether its bytes take time on links. False is the convention of the paper's training: free signals.
        packet_bytes: of a data packet without the header; ns-3 uses its own packets' size instead.

    Raises:
        InputError: the header declares what the simulators cannot do; the message names it.
    """
    require_simulated(header)
    if not 1 <= packet_bytes <= 65536:
        raise InputError(f"packet_bytes must be from 1 to 65536, got {packet_bytes}")
    readings = _readings(header)
    kept = _kept(header, readings)
    place = {name: at for at, name in enumerate(kept)}
    fields = tuple(_field(header, header.field(name), place) for name in kept)
    stack = header.stack if isinstance(header.stack, PerHop) else None
    sent, back = _bytes(header) if charged else ((0,), (0,))
    return Stamping(
        header.name,
        packet_bytes,
        fields,
        tuple(found.placed(place) for found in readings),
        two_way=header.direction == "two_way",
        sent_bytes=sent,
        reflected_bytes=back,
        max_hops=stack.max_hops if stack else 0,
        overwrites=stack is not None and stack.overflow == "modulo",
        labels=_labels(header),
        turns=header.select.policy if isinstance(header.select, SelectOneOf) else "fixed",
        probability=header.select.prob if isinstance(header.select, SelectSample) else 1.0,
        every_packets=header.reflect.every_packets if header.reflect else 1,
        every_us=max(header.reflect.every_us or 0.0, header.reflect.min_gap_us) if header.reflect else 0.0,
    )


# --- what the sender reads


class _Read(NamedTuple):
    """A `Reading` with names in place of indices."""

    signal: str
    field: str
    kind: str = "value"
    counter: str = ""
    rate: str = ""
    time: str = ""
    rest: bool = False
    over_hops: str = "max"
    marked: int = -1
    factor: float = 1.0
    factors: tuple[float, float] = (1.0, 1.0)
    per_packet: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in (self.field, self.counter, self.rate, self.time) if name)

    def placed(self, place: dict[str, int]) -> Reading:
        at = {name: place[name] for name in self.names} | {"": -1}
        return Reading(
            self.signal,
            at[self.field],
            self.kind,  # type: ignore[arg-type]
            at[self.counter],
            at[self.rate],
            at[self.time],
            self.rest,
            self.over_hops,  # type: ignore[arg-type]
            self.marked,
            self.factor,
            self.factors,
            self.per_packet,
        )


def _readings(header: Header) -> tuple[_Read, ...]:
    """Return one reading for each signal: of several fields that tell it, the first."""
    if header.reflect is None:
        return ()
    found: dict[str, _Read] = {}
    for field in header.fields:
        if field.scope == "hop" and (read := _reading(header, field)) is not None:
            found.setdefault(read.signal, read)
    return tuple(found.values())


def _reading(header: Header, field: HeaderField) -> _Read | None:
    if field.source == "tx_bytes":
        return _throughput(header, field)
    told = _carried(field)
    if told is None or field.agg == "count":
        return None
    count = _count_of(header) if field.agg == "sum" else ""
    if told.signal == "mark":
        return _Read("mark", field.name, "mark", marked=_marked(field))
    per_packet = told.unit in ("bytes", "bit/s")
    factor = convert(1.0, field.told_in, told.unit) * (1 / 8e6 if told.unit == "bit/s" else 1.0)  # of packets/µs
    least = told.signal in _LEAST or told.rest
    over = "min" if least else "max"
    return _Read(
        told.signal, field.name, counter=count, rest=told.rest, over_hops=over, factor=factor, per_packet=per_packet
    )


def _carried(field: HeaderField) -> Carried | None:
    if field.formula is None:
        return _CARRIED.get(field.source)
    if _clock(field):
        return None
    if isinstance(field.encode, Flag) or field.told_in == "flag":
        return Carried("mark", "flag")
    return _CARRIED_BY_UNIT.get(UNITS[field.told_in][0])


def _marked(field: HeaderField) -> int:
    """Return the code of a mark; -1 for any but 0."""
    return -1 if field.value is None else field_codec(field).encode_one(field.value)


def _count_of(header: Header) -> str:
    """Return the field that counts hops: a sum is then told as the mean along the path."""
    return next((field.name for field in header.fields if field.agg == "count" and field.scope == "hop"), "")


def _throughput(header: Header, field: HeaderField) -> _Read | None:
    """Return the link's use from a hop's counter of bytes, its clock and its rate, if records have all three."""
    records = [slot[0] for slot in header.record]
    rate = next((f for f in records if f.source == "link_rate"), None)
    time = min((f for f in records if _clock(f)), key=lambda f: convert(1.0, f.told_in, "ns"), default=None)
    if not field.per_hop or rate is None or time is None or not isinstance(field.encode, Counter):
        return None
    factors = convert(1.0, rate.told_in, "bit/s"), convert(1.0, time.told_in, "ns")
    size = convert(1.0, field.told_in, "bytes")
    return _Read("link", field.name, "throughput", rate=rate.name, time=time.name, factor=size, factors=factors)


def _clock(field: HeaderField) -> bool:
    """Whether the field tells when, not how long."""
    names = field.formula.names if field.formula is not None else {field.source}
    return len(names & {"ts_in", "ts_out"}) == 1 and len(names) == 1 and UNITS[field.told_in][0] == "time"


# --- what hops write


def _kept(header: Header, readings: Iterable[_Read]) -> list[str]:
    """Return the fields that signals depend on, in the order of the wire."""
    kept: set[str] = set()
    new = {name for read in readings for name in read.names}
    while new:
        kept |= new
        new = {other for name in new for other in _needed(header, header.field(name))} - kept
    return [field.name for field in header.fields if field.name in kept]


def _needed(header: Header, field: HeaderField) -> Iterator[str]:
    if field.follows is not None:
        yield field.follows
    own = {other.name for other in header.fields}
    for formula in (field.formula, field.condition):
        for name in formula.names if formula else ():
            if name in own and name not in SOURCES:
                yield name


def _field(header: Header, field: HeaderField, place: dict[str, int]) -> StampedField:
    formula, unit = field.formula, "" if field.formula is not None else SOURCES[field.source].unit
    source = "formula" if formula is not None else field.source
    if field.scope == "hop":
        require_simulated_source(header, field)
        _require_one_moment(header, field, place)
    scale = (1.0, 1.0) if formula is not None else _scale(unit, field.told_in)
    value = None if field.value is None else float(field_codec(field).decode(np.uint64(_code(field, field.value))))
    window = field.measure.window
    return StampedField(
        field.name,
        source,
        coding(field),
        "with" if field.follows is not None else field.agg,
        _tokens(header, formula, place),
        _tokens(header, field.condition, place),
        value,
        scale,
        window,
        field.measure.interval_us or 0.0,
        field.measure.at,
        place[field.follows] if field.follows is not None else -1,
        0 if field.per_hop else initial_code(field),
        _names(header).index(field.only) if field.only is not None else -1,
        field.scope == "hop",
        field.gains,
    )


def _require_one_moment(header: Header, field: HeaderField, place: dict[str, int]) -> None:
    """Check that a formula reads no field that the same hop has already written at an earlier moment."""
    for name in _needed(header, field) if field.measure.at == "dequeue" else ():
        other = header.field(name)
        if name != field.follows and name in place and other.scope == "hop" and other.measure.at == "enqueue":
            problem = f"field {field.name} reads {name} at dequeue, which its hop writes at enqueue"
            raise InputError(f"header {header.name}: {problem}: not simulated; let both have the same at")


def _code(field: HeaderField, value: float | str) -> int:
    return field_codec(field).encode_one(value)


def _scale(unit: str, told_in: str) -> tuple[float, float]:
    """Return the two numbers that `convert` multiplies with and divides by."""
    size, other = UNITS[unit][1], UNITS[told_in][1]
    return (1.0, 1.0) if size == other else (float(size), float(other))


def _tokens(header: Header, formula: Expression | None, place: dict[str, int]) -> tuple[Token, ...]:
    if formula is None:
        return ()
    room = float(header.stack.max_hops) if isinstance(header.stack, PerHop) else 0.0
    tokens: list[Token] = []
    for kind, value in formula.postfix():
        if kind != "name":
            tokens.append((kind, value))
        elif value in SOURCES:
            tokens.append(("source", value))
        elif value == "max_hops":
            tokens.append(("number", room))
        else:
            tokens.append(("field", float(place[str(value)])))
    return tuple(tokens)


def coding(field: HeaderField) -> Coding:
    """Return the codec of a field as plain data."""
    invalid = {None: None, "zero": 0, "all_ones": 2**field.bits - 1}[field.invalid]
    match field.encode:
        case Flag():
            return Coding("flag", 1)
        case Counter(step=step):
            return Coding("linear", field.bits, step=step, wraps=True)
        case Uint(round=rounding, overflow=overflow):
            return Coding("linear", field.bits, rounding=rounding, wraps=overflow == "wrap", invalid=invalid)
        case Linear(round=rounding, overflow=overflow) as e:
            step, wraps = e.size(field.bits), overflow == "wrap"
            return Coding("linear", field.bits, e.base, step, e.max, rounding=rounding, wraps=wraps, invalid=invalid)
        case Enum() as e:
            codes = tuple(code for code, value in enumerate(e.values) if value is not None)
            numbers = tuple(float(code) if e.names else float(e.values[code] or 0.0) for code in codes)
            return Coding("enum", field.bits, numbers=numbers, codes=codes, nearest=e.unlisted == "nearest")
        case Float(mant=mantissa, step=step, round=rounding) if field.bits > LARGEST_TABLE_BITS:
            return Coding("float", field.bits, step=step, mantissa=mantissa, rounding=rounding, invalid=invalid)
        case Log(round=rounding) | Float(round=rounding) | Table(round=rounding):
            return Coding("grid", field.bits, numbers=_grid(field), rounding=rounding, invalid=invalid)
    raise AssertionError(field.encode)


def _grid(field: HeaderField) -> tuple[float, ...]:
    """Return the numbers of all codes; a code for "not known" has the place of its number all the same."""
    plain = field.model_copy(update={"invalid": None})
    size = len(field.encode.values) if isinstance(field.encode, Table) else 2**field.bits
    return tuple(field_codec(plain).decode(np.arange(size, dtype=np.uint64)).tolist())


# --- bytes and packets


def _bytes(header: Header) -> tuple[tuple[int, ...], tuple[int, ...]]:
    most = header.stack.max_hops if header.per_hop_bytes and isinstance(header.stack, PerHop) else 0
    hops = range(most + 1)
    return tuple(header.wire_bytes(h) for h in hops), tuple(header.reflected_bytes(h) for h in hops)


@cache
def _names(header: Header) -> tuple[str, ...]:
    """Return the names under which one-of fields travel, the initial one first."""
    if not isinstance(header.select, SelectOneOf):
        return ()
    chooser = header.field(header.select.by)
    names = [field.only for field in header.fields if field.only is not None]
    first = [] if chooser.init is None else [str(chooser.init)]
    return tuple(dict.fromkeys([*first, *names]))


def _labels(header: Header) -> tuple[int, ...]:
    names = _names(header)
    if isinstance(header.select, SelectOneOf) and header.select.policy != "fixed":
        carried = {field.only for field in header.fields}
        return tuple(at for at, name in enumerate(names) if name in carried)
    return (0,) if names else ()
