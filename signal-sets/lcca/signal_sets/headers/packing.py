"""A whole header to bytes and back: most significant bit first, in network order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lcca.inputs.errors import InputError
from lcca.signal_sets.headers.codec import field_codec
from lcca.signal_sets.headers.field import HeaderField
from lcca.signal_sets.headers.header import Header, Slot
from lcca.signal_sets.headers.parts import PerHop, SelectOneOf

FieldCodes = Mapping[str, int]
"""Codes of fields by name."""


class Content(NamedTuple):
    """What a header carries, as codes.

    Attributes:
        head: of the fields that travel once.
        records: of each hop's record, in the order of the wire; all places of a header that reserves room.
        hops: their number, as far as the stack counts them; else that of the records.
        fixed: the fixed bits as one number.
    """

    head: FieldCodes
    records: tuple[FieldCodes, ...] = ()
    hops: int = 0
    fixed: int = 0


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


def pack(header: Header, content: Content) -> bytes:
    """Return the bytes of a header, those of layer "none" too (which cost nothing).

    Raises:
        InputError: a field without a code, a code without a field, a code too large, or more records than there is room
            for. Records that a header reserves and nobody wrote are zero.
    """
    chosen = _chosen(header, content.head)
    fixed = _checked("fixed bits", content.fixed, header.placement.fixed_bits)
    bits = _joined(header.head, content.head, chosen, fixed)
    parts = [_to_bytes(bits, _head_bits(header), header.head_bytes)]
    parts += (_record_bytes(header, record, chosen) for record in content.records)
    parts.append(bytes(header.record_bytes) * _missing(header, len(content.records)))
    if isinstance(header.stack, PerHop) and header.stack.count_bits:
        parts.append(
            _checked("the count of hops", content.hops, header.stack.count_bits).to_bytes(header.count_bytes, "big")
        )
    return b"".join(parts)


def unpack(header: Header, data: bytes) -> Content:
    """Return what the bytes of a header carry.

    Raises:
        InputError: the number of bytes is none that this header can have.
    """
    records = _record_count(header, len(data))
    end = header.head_bytes + records * header.record_bytes
    bits = int.from_bytes(data[: header.head_bytes], "big") >> (header.head_bytes * 8 - _head_bits(header))
    width = sum(slot[0].bits for slot in header.head)
    raw = _split(header.head, bits & ((1 << width) - 1))
    chosen = _label(header, raw)
    count = int.from_bytes(data[end:], "big") if header.count_bytes else records
    pieces = (data[at : at + header.record_bytes] for at in range(header.head_bytes, end, header.record_bytes or 1))
    found = tuple(_kept(header.record, _split_bytes(header, piece), chosen) for piece in pieces)
    return Content(_kept(header.head, raw, chosen), found, count, bits >> width)


def _positions(slots: tuple[Slot, ...], in_record: bool, offset: int) -> Iterator[Position]:
    for slot in slots:
        yield from (Position(field, in_record, offset) for field in slot)
        offset += slot[0].bits


def _head_bits(header: Header) -> int:
    return header.placement.fixed_bits + sum(slot[0].bits for slot in header.head)


def _to_bytes(value: int, bits: int, size: int) -> bytes:
    return (value << (size * 8 - bits)).to_bytes(size, "big")


def _record_bytes(header: Header, record: FieldCodes, chosen: str | None) -> bytes:
    bits = sum(slot[0].bits for slot in header.record)
    return _to_bytes(_joined(header.record, record, chosen, 0), bits, header.record_bytes)


def _joined(slots: tuple[Slot, ...], codes: FieldCodes, chosen: str | None, value: int) -> int:
    """Return the codes of the slots' fields as one number, behind `value`."""
    carried = [_carried(slot, chosen) for slot in slots]
    names = {field.name for field in carried if field is not None}
    if stray := set(codes) - names:
        raise InputError(f"no field of this packet: {', '.join(sorted(stray))}")
    for slot, field in zip(slots, carried, strict=True):
        code = 0 if field is None else _code(field, codes)
        value = value << slot[0].bits | code
    return value


def _code(field: HeaderField, codes: FieldCodes) -> int:
    if field.name not in codes:
        raise InputError(f"no code for field {field.name}")
    return _checked(field.name, codes[field.name], field.bits)


def _checked(name: str, code: int, bits: int) -> int:
    if not 0 <= code < 1 << bits:
        raise InputError(f"{name} has {bits} bits, its code {code} does not fit")
    return int(code)


def _missing(header: Header, records: int) -> int:
    """Return the number of reserved records that were not given."""
    room = header.stack.max_hops if isinstance(header.stack, PerHop) else 0
    if records > room:
        raise InputError(f"header {header.name} has room for {room} records, got {records}")
    return header.records(records) - records


def _carried(slot: Slot, chosen: str | None) -> HeaderField | None:
    """Return the field that a packet carries in a slot."""
    return next((field for field in slot if field.only in (None, chosen)), None)


def _chosen(header: Header, codes: FieldCodes) -> str | None:
    """Return the name under which a packet's one-of fields travel."""
    by = header.select.by if isinstance(header.select, SelectOneOf) else None
    return None if by is None or by not in codes else str(field_codec(header.field(by)).decode_one(codes[by]))


def _label(header: Header, codes: FieldCodes) -> str | None:
    try:
        return _chosen(header, codes)
    except InputError:  # a type that this description does not know: its fields are skipped
        return None


def _record_count(header: Header, size: int) -> int:
    rest = size - header.head_bytes - header.count_bytes
    records = rest // header.record_bytes if header.record_bytes else 0
    if rest < 0 or rest != records * header.record_bytes or header.records(records) != records:
        raise InputError(f"header {header.name} has not {size} bytes")
    return records


def _split(slots: tuple[Slot, ...], value: int) -> dict[str, int]:
    """Return the codes in a number, those of one slot under all its names."""
    codes = {}
    for slot in reversed(slots):
        codes.update({field.name: value & ((1 << field.bits) - 1) for field in slot})
        value >>= slot[0].bits
    return codes


def _split_bytes(header: Header, data: bytes) -> dict[str, int]:
    spare = header.record_bytes * 8 - sum(slot[0].bits for slot in header.record)
    return _split(header.record, int.from_bytes(data, "big") >> spare)


def _kept(slots: tuple[Slot, ...], codes: FieldCodes, chosen: str | None) -> FieldCodes:
    carried = (_carried(slot, chosen) for slot in slots)
    return {field.name: codes[field.name] for field in carried if field is not None}
