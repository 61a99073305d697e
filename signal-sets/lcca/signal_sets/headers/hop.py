"""What happens to a field's code on its way: as the sender writes it, and at every hop."""

from __future__ import annotations

from typing import NamedTuple

from lcca.inputs.errors import InputError
from lcca.signal_sets.headers.codec import all_ones, field_codec, initial_code
from lcca.signal_sets.headers.field import HeaderField
from lcca.signal_sets.headers.header import Header
from lcca.signal_sets.headers.packing import Content


class Written(NamedTuple):
    """A field's code behind a hop, and whether the hop's own value is there now (what ``with:`` follows)."""

    code: int
    replaced: bool


def initial(header: Header, only: str | None = None) -> Content:
    """Return what a header carries as it leaves the sender.

    Args:
        header: the description.
        only: the name under which one-of fields travel; null for the initial one.

    Raises:
        InputError: the header has no such name.
    """
    by = getattr(header.select, "by", None)
    codes = {field.name: initial_code(field) for field in header.fields if not field.per_hop}
    if by is not None:
        only = only or str(field_codec(header.field(by)).decode_one(codes[by]))
        codes[by] = field_codec(header.field(by)).encode_one(only)
    elif only is not None:
        raise InputError(f"header {header.name} has no one-of fields, so none for {only!r:.60}")
    carried = {field.name for field in header.fields if field.only in (None, only)}
    return Content({name: code for name, code in codes.items() if name in carried})


def combine(field: HeaderField, carried: int, local: int, *, first: bool = False, replaced: bool = False) -> Written:
    """Return the code of a field behind a hop whose condition holds.

    Args:
        field: the description.
        carried: code that arrived.
        local: code of the hop's own value.
        first: whether no hop has written the field before.
        replaced: for ``with:``, whether the field that it follows was replaced.

    Raises:
        InputError: the field has a record for each hop, so that nothing is combined.
    """
    unknown = _invalid(field)
    if unknown is not None and local == unknown:
        return Written(carried, False)
    if unknown is not None and carried == unknown and field.agg in ("min", "max", "sum"):
        return Written(local, True)
    return _combined(field, carried, local, first, replaced)


def _combined(field: HeaderField, carried: int, local: int, first: bool, replaced: bool) -> Written:
    match field.agg:
        case "min":
            return Written(min(carried, local), local < carried)
        case "max":
            return Written(max(carried, local), local > carried)
        case "sum":
            return Written(_bounded(field, carried + local), True)
        case "count":
            return Written(_bounded(field, carried + 1), True)
        case "or":
            return Written(carried | local, carried | local != carried)
        case "and":
            return Written(carried & local, carried & local != carried)
        case "last":
            return Written(local, True)
        case "first":
            return Written(local if first and field.scope == "hop" else carried, first)
        case "per_hop":
            raise InputError(f"field {field.name} has a record for each hop, nothing is combined")
    return Written(local if replaced else carried, replaced)


def _bounded(field: HeaderField, code: int) -> int:
    if getattr(field.encode, "overflow", "saturate") == "wrap":
        return code & all_ones(field)
    return min(code, all_ones(field) - (field.invalid == "all_ones"))


def _invalid(field: HeaderField) -> int | None:
    return {None: None, "zero": 0, "all_ones": all_ones(field)}[field.invalid]
