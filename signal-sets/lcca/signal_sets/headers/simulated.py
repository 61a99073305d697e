"""Headers in the simulators: what hops do and senders read, and what of the vocabulary cannot be simulated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from lcca.inputs.errors import InputError
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus.core.stamping import Reading, StampedField, Stamping, Token
from lcca.signal_sets.headers.codec import code_of, coding, decoded, initial_code
from lcca.signal_sets.headers.encoding import Counter, Flag
from lcca.signal_sets.headers.header import SAID
from lcca.signal_sets.headers.parts import PerHop, SelectOneOf, SelectSample
from lcca.signal_sets.headers.sources import SOURCES, UNITS, Carried, convert

if TYPE_CHECKING:
    from lcca.remy_plus.core.formulas import Expression
    from lcca.signal_sets.headers.field import HeaderField
    from lcca.signal_sets.headers.header import Header


REASONS = {
    "switch_reply": "hops send no packets of their own",
    "reflect.via": "receivers send acknowledgements, and no notifications (cnp) beside them",
}


_CARRIED_BY_UNIT = {
    "time": Carried("queue_time", "us"),
    "data": Carried("queue", "bytes"),
    "packets": Carried("queue", "packets"),
    "rate": Carried("available_capacity", "bit/s", over_hops="min"),
    "share": Carried("load", "share"),
}


def header_signals(header: Header) -> tuple[str, ...]:
    """Return the engine's signals that a policy can use when this header carries them, smoothed ones not counted.

    A formula tells the load if its unit is a share, available capacity if it is a rate, the queue if it is packets or
    bytes, queueing time if it is a time, marks if it is a flag; nothing without a unit. A field that `grants` is a rate
    tells `fair_rate`.
    """
    return tuple(read.reading.signal for read in _readings(header))


def stamping(header: Header, *, charged: bool = True) -> Stamping:
    """Return what the simulators do for a header on packets of `PACKET_BYTES`; see `Stamping.on_packets` for others.

    Args:
        header: the description.
        charged: whether its bytes take time on links. False is the convention of the paper's training: free signals.

    Raises:
        InputError: the header declares what the simulators cannot do; the message names it.
    """
    require_simulated(header)
    readings = _readings(header)
    kept = _kept(header, readings)
    place = {name: at for at, name in enumerate(kept)}
    begins = _begins(header)
    fields = tuple(_field(header, header.field(name), place, begins[name]) for name in kept)
    stack = header.stack if isinstance(header.stack, PerHop) else None
    most = stack.max_hops if stack and header.per_hop_bytes else 0
    return Stamping(
        header.name,
        PACKET_BYTES,
        fields,
        tuple(found.placed(place) for found in readings),
        two_way=header.direction == "two_way",
        sent_bytes=tuple(header.wire_bytes(hops) for hops in range(most + 1)) if charged else (0,),
        reflected_bytes=tuple(header.reflected_bytes(hops) for hops in range(most + 1)) if charged else (0,),
        max_hops=stack.max_hops if stack else 0,
        overwrites=stack is not None and stack.overflow == "modulo",
        labels=_labels(header),
        turns=header.select.policy if isinstance(header.select, SelectOneOf) else "fixed",
        probability=header.select.prob if isinstance(header.select, SelectSample) else 1.0,
        every_packets=header.reflect.every_packets if header.reflect else 1,
        every_us=max(header.reflect.every_us or 0.0, header.reflect.min_gap_us) if header.reflect else 0.0,
        stamp_loss=header.stamp_loss,
    )


def _begins(header: Header) -> dict[str, int]:
    """Return the first bit of each field on the wire; of records that of the first hop's."""
    found: dict[str, int] = {}
    for slots, at in ((header.head, header.placement.fixed_bits), (header.record, 8 * header.head_bytes)):
        for slot in slots:
            found |= dict.fromkeys((field.name for field in slot), at)
            at += slot[0].bits
    return found


# --- what the sender reads


class _Read(NamedTuple):
    """A reading, and the names of the fields whose indices it lacks, by its attributes."""

    reading: Reading
    names: dict[str, str]

    def placed(self, place: dict[str, int]) -> Reading:
        indices: dict[str, Any] = {key: place[name] for key, name in self.names.items()}
        return replace(self.reading, **indices)


def _readings(header: Header) -> tuple[_Read, ...]:
    """Return one reading for each signal: of several fields that tell it, the first."""
    if header.reflect is None:
        return ()
    found: dict[str, _Read] = {}
    for field in header.fields:
        if field.scope == "hop" and (read := _reading(header, field)) is not None:
            found.setdefault(read.reading.signal, read)
    return tuple(found.values())


def carriers(header: Header) -> dict[str, list[str]]:
    """Return the fields that carry each signal; senders read the first."""
    found: dict[str, list[str]] = {}
    for field in header.fields if header.reflect is not None else ():
        if field.scope == "hop" and (read := _reading(header, field)) is not None:
            found.setdefault(read.reading.signal, []).append(field.name)
    return found


def _reading(header: Header, field: HeaderField) -> _Read | None:
    if field.source == "tx_bytes":
        return _throughput(header, field)
    told = _carried(field)
    if told is None or field.agg == "count":
        return None
    if told.signal == "mark":
        marked = -1 if field.value is None else code_of(field, field.value)  # -1: any code but 0
        return _Read(Reading("mark", -1, "mark", marked=marked), {"field": field.name})
    names = {"field": field.name}
    if field.agg == "sum":  # then it is told as the mean along the path
        counts = [other.name for other in header.fields if other.agg == "count" and other.scope == "hop"]
        names |= {"count": counts[0]} if counts else {}
    factor = convert(1.0, field.told_in, told.unit) * (1 / 8e6 if told.unit == "bit/s" else 1.0)  # of packets/µs
    per_packet = told.unit in ("bytes", "bit/s")
    reading = Reading(told.signal, -1, rest=told.rest, over_hops=told.over_hops, factor=factor, per_packet=per_packet)
    return _Read(reading, names)


def _carried(field: HeaderField) -> Carried | None:
    if field.grants:
        return SOURCES["fair_rate"].carries
    if field.formula is None:
        return SOURCES[field.source].carries
    if _clock(field):
        return None
    if isinstance(field.encode, Flag) or field.told_in == "flag":
        return Carried("mark", "flag")
    return _CARRIED_BY_UNIT.get(UNITS[field.told_in][0])


def _throughput(header: Header, field: HeaderField) -> _Read | None:
    """Return the link's use from a hop's counter of bytes, its clock and its rate, if records have all three."""
    records = [slot[0] for slot in header.record]
    rate = next((f for f in records if f.source == "link_rate"), None)
    time = min((f for f in records if _clock(f)), key=lambda f: convert(1.0, f.told_in, "ns"), default=None)
    if not field.per_hop or rate is None or time is None or not isinstance(field.encode, Counter):
        return None
    factors = convert(1.0, rate.told_in, "bit/s"), convert(1.0, time.told_in, "ns")
    size = convert(1.0, field.told_in, "bytes")
    reading = Reading("link", -1, "throughput", factor=size, factors=factors)
    return _Read(reading, {"field": field.name, "rate": rate.name, "time": time.name})


def _clock(field: HeaderField) -> bool:
    """Whether the field tells when, not how long."""
    names = field.formula.names if field.formula is not None else {field.source}
    return len(names & {"ts_in", "ts_out"}) == 1 and len(names) == 1 and UNITS[field.told_in][0] == "time"


# --- what hops write


def _kept(header: Header, readings: Iterable[_Read]) -> list[str]:
    """Return the fields that signals depend on, in the order of the wire."""
    kept: set[str] = set()
    new = {name for read in readings for name in read.names.values()}
    while new:
        kept |= new
        new = {other for name in new for other in _needed(header, header.field(name))} - kept
    return [field.name for field in header.fields if field.name in kept]


def _needed(header: Header, field: HeaderField) -> Iterator[str]:
    if field.follows is not None:
        yield field.follows
    for source, (said, _) in SAID.items():
        if source in field.measured:
            yield from (other.name for other in header.fields if other.source == said)
    own = {other.name for other in header.fields}
    for formula in (field.formula, field.condition):
        for name in formula.names if formula else ():
            if name in own and name not in SOURCES:
                yield name


def _field(header: Header, field: HeaderField, place: dict[str, int], begins: int) -> StampedField:
    formula, unit = field.formula, "" if field.formula is not None else SOURCES[field.source].unit
    source = "formula" if formula is not None else field.source
    if field.scope == "hop":
        require_simulated_source(header, field)
        _require_one_moment(header, field, place)
    size, other = (1.0, 1.0) if field.of_any_unit else (UNITS[unit][1], UNITS[field.told_in][1])
    value = None if field.value is None else float(decoded(field, code_of(field, field.value)))
    window = field.measure.window
    return StampedField(
        field.name,
        source,
        coding(field),
        "with" if field.follows is not None else field.agg,
        _tokens(header, formula, place),
        _tokens(header, field.condition, place),
        value,
        (1.0, 1.0) if size == other else (float(size), float(other)),  # what `convert` multiplies with and divides by
        window,
        field.measure.interval_us or 0.0,
        field.measure.at,
        place[field.follows] if field.follows is not None else -1,
        0 if field.per_hop else initial_code(field),
        _names(header).index(field.only) if field.only is not None else -1,
        field.scope == "hop",
        field.gains,
        field.measure.interval_rtts or 0.0,
        field.measure.memory_bits,
        begins=begins,
        **field.measure.imprecision,
    )


def _require_one_moment(header: Header, field: HeaderField, place: dict[str, int]) -> None:
    """Check that a formula reads no field that the same hop has already written at an earlier moment."""
    for name in _needed(header, field) if field.measure.at == "dequeue" else ():
        other = header.field(name)
        if name != field.follows and name in place and other.scope == "hop" and other.measure.at == "enqueue":
            problem = f"field {field.name} reads {name} at dequeue, which its hop writes at enqueue"
            raise InputError(f"header {header.name}: {problem}: not simulated; let both have the same at")


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


# --- bytes and packets


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


# --- what cannot be simulated


def not_simulated(header: Header) -> tuple[str, ...]:
    """Return the parts of a header that may be declared and are not simulated, by their keys."""
    cnp = header.reflect is not None and header.reflect.via == "cnp"
    return tuple(key for key, declared in zip(REASONS, (header.switch_reply is not None, cnp), strict=True) if declared)


def require_simulated(header: Header) -> None:
    """Check that the simulators can do all that a header declares; simulators call it before they start.

    Raises:
        InputError: it declares more; the message names what, and the reason.
    """
    for key in not_simulated(header):
        raise InputError(f"header {header.name}: {key} is not simulated yet ({REASONS[key]}); leave it out")


def require_simulated_source(header: Header, field: HeaderField) -> None:
    """Check that hops of the simulators know all that a field needs.

    Raises:
        InputError: they do not; the message names field, source and reason.
    """
    names = field.measured
    for name in sorted(name for name in names if SOURCES[name].absent):
        raise InputError(f"header {header.name}: field {field.name}: {name} is not simulated: {SOURCES[name].absent}")
    for name in sorted(names & {"util", "abw", "abw_over_c"}):
        if field.measure.at == "enqueue":
            raise InputError(
                f"header {header.name}: field {field.name}: {name} is measured as packets leave: at dequeue"
            )
    if field.measure.window == "counter" and "tx_bytes" not in names:
        raise InputError(f"header {header.name}: field {field.name}: only tx_bytes is a counter; choose another window")
