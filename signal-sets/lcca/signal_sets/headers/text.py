"""Headers for people, and for other programs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from lcca.signal_sets.headers.costs import switch_cost
from lcca.signal_sets.headers.parts import PerHop
from lcca.signal_sets.headers.simulated import carriers

if TYPE_CHECKING:
    from lcca.signal_sets.headers.field import HeaderField
    from lcca.signal_sets.headers.header import Header, Slot

_LONGEST = 44
_LINE = 110
_PLACES = {
    "none": "in bits that packets have anyway",
    "l2": "between MAC and IP",
    "l3": "behind IP",
    "l4": "behind UDP or TCP",
}


class Position(NamedTuple):
    """Where a field lies: in the head or in each record, ``offset`` bits from its beginning."""

    field: HeaderField
    in_record: bool
    offset: int


def layout(header: Header) -> tuple[Position, ...]:
    """Return the position of every field in the order of the wire; the head's count from the fixed bits on."""
    return (
        *_positions(header.head, False, header.placement.fixed_bits),
        *_positions(header.record, True, 0),
    )


def _positions(slots: tuple[Slot, ...], in_record: bool, offset: int) -> Iterator[Position]:
    for slot in slots:
        yield from (Position(field, in_record, offset) for field in slot)
        offset += slot[0].bits


def content(header: Header) -> dict[str, Any]:
    """Return what it costs and its ``fields``.

    ``wire_bytes`` as it leaves the sender, ``per_hop_bytes`` that each hop adds, ``state_bits`` of a switch's port
    (None for a list of flows) and ``operations`` there on a packet.

    Each field has its keys of the description, ``in_record`` (whether it is part of each hop's record) and
    ``offset_bits`` (from the beginning of the head or of the record).
    """
    return {
        "name": header.name,
        "wire_bytes": header.wire_bytes(),
        "per_hop_bytes": header.per_hop_bytes,
        **switch_cost(header)._asdict(),
        "fields": [
            at.field.model_dump(mode="json", exclude_none=True)
            | {"unit": at.field.told_in, "in_record": at.in_record, "offset_bits": at.offset}
            for at in layout(header)
        ],
    }


def describe(header: Header) -> str:
    """Return a header as text: what it is, what it costs, and a line for each field."""
    costs = (_cost(header), _in_switch(header), _unread(header))
    reference = f"reference: {header.reference}" if header.reference else ""
    texts = (f"{header.name}: {header.title}", header.doc, reference, *costs)
    lines = [line for text in texts for line in textwrap.wrap(text, _LINE)] + [""]
    rows = [("bits", "at", "field", "source", "encoding", "aggregation"), *map(_row, layout(header))]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines)


def summary(header: Header) -> str:
    """Return a header in one line: name, bytes, bits of a switch's port, operations there and title."""
    state, operations = switch_cost(header)
    return f"{header.name:20} {size(header):18} {_memory(state):>13} {operations:4} ops  {header.title}"


def _in_switch(header: Header) -> str:
    state, operations = switch_cost(header)
    exact = [each.name for each in header.fields if "flows" in each.measured and each.measure.window != "aged"]
    only = f"; {', '.join(exact)}: exact on networks, as no switch counts: such a map has window: aged" if exact else ""
    return f"in a switch: {_memory(state)} a port, {operations} operations a packet{only}"


def _unread(header: Header) -> str:
    """Return what senders of the simulators do not read, since an earlier field carries the same signal."""
    told = carriers(header)
    twice = [f"{name} ({signal}, as {told[signal][0]})" for signal in told for name in told[signal][1:]]
    return f"not read by senders: {', '.join(twice)}" if twice else ""


def _memory(bits: int | None) -> str:
    return "list of flows" if bits is None else f"{bits:,} bits"


def size(header: Header) -> str:
    """Return what a header costs, such as ``16 B + 16 B/hop``."""
    growth = f" + {header.per_hop_bytes} B/hop" if header.per_hop_bytes else ""
    return f"{header.wire_bytes()} B{growth}"


def _cost(header: Header) -> str:
    text = f"{size(header)} on the wire, {_PLACES[header.placement.layer]}, {header.direction.replace('_', '-')}"
    if header.placement.fixed_bits:
        text += f"; the first {header.placement.fixed_bits} bits are fixed"
    if isinstance(header.stack, PerHop):
        room = "reserves room for" if header.stack.prealloc else "at most"
        text += f"; {room} {header.stack.max_hops} hops of {header.record_bytes} B"
    return text + ("; declares a packet of the switch, which is not simulated" if header.switch_reply else "")


def _row(at: Position) -> tuple[str, ...]:
    field = at.field
    place = f"{'hop ' if at.in_record else ''}{at.offset}"
    return str(field.bits), place, field.name, _source(field), _encoding(field), field.agg


def _source(field: HeaderField) -> str:
    unit = f" ({field.told_in})" if field.told_in not in ("", "flag") else ""
    source = field.source if len(field.source) <= _LONGEST else field.source[: _LONGEST - 1] + "…"
    measure = field.measure
    of = {"µs": measure.interval_us, "base RTTs": measure.interval_rtts, "bits": measure.memory_bits}
    said = [f"{number:g} {name}" for name, number in of.items() if number is not None]
    off = "".join(f", {name} {number:g}" for name, number in measure.imprecision.items())
    return source + unit + (f", {measure.window} {', '.join(said)}" if said else "") + off


def _encoding(field: HeaderField) -> str:
    given = field.encode.model_dump(exclude_defaults=True, exclude={"kind"})
    parts = [f"{key} {_shown(value)}" for key, value in given.items() if value is not None]
    return f"{field.encode.kind} {', '.join(parts)}".rstrip()


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        some = value if len(value) <= 4 else (value[0], "…", value[-1])
        return "/".join(map(_shown, some)) + (f" ({len(value)})" if len(value) > 4 else "")
    return f"{value:g}" if isinstance(value, float) else "-" if value is None else str(value)
