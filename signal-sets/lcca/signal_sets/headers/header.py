"""Headers: fields, where they sit, how they grow, and the bytes that they cost; those of the catalogue and of users."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator
from pydantic_core import InitErrorDetails

from lcca.inputs.errors import InputError, Keys, about, did_you_mean
from lcca.inputs.model import problem_at, raise_problems
from lcca.inputs.validation import named, packaged, validate_json
from lcca.remy_plus.core.formulas import Expression
from lcca.signal_sets.headers.encoding import Enum
from lcca.signal_sets.headers.field import HeaderField
from lcca.signal_sets.headers.parts import (
    Grown,
    PerHop,
    Placement,
    Reflection,
    Scalar,
    Select,
    SelectAll,
    SelectOneOf,
    Stack,
    SwitchReply,
)
from lcca.signal_sets.headers.sources import SOURCES
from lcca.signal_sets.headers.units import check_units

SAID = {
    "rank": ("bytes_left", "a rank is among bytes left"),
    "senders": ("gap", "senders are counted by their gaps"),
}
"""Sources that hops make of what senders say, by a field of what source, and why."""

Slot = tuple[HeaderField, ...]
"""Fields that share bits: mostly one, several under ``select: one_of``."""


class Header(Grown):
    """How signals of the network travel on the wire.

    Attributes:
        name: short name, as in ``csig-compact-abw``.
        title: how tables and figures call it.
        reference: where the format is defined.
        doc: what is worth knowing about it.
        placement: where it sits and what it costs beside the fields.
        stack: one value of each field, or a record for each hop.
        select: which packets carry what.
        fields: in the order of the wire, most significant bit first.
        direction: whether the hops on the way back write into what is reflected (two_way).
        reflect: how the receiver sends it back; null where it does not.
        switch_reply: a packet of the hop itself to the sender; declared, not simulated.
        stamp_loss: probability that a hop passes a packet on without writing into it. A sender to whom no hop wrote
            keeps the number before.
    """

    later: ClassVar[frozenset[str]] = frozenset({"stamp_loss"})

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9+._-]*$", max_length=60)
    title: str = Field(min_length=1, max_length=60)
    reference: str = ""
    doc: str = ""
    placement: Placement
    stack: Stack = Scalar()
    select: Select = SelectAll()
    fields: tuple[HeaderField, ...] = ()
    direction: Literal["one_way", "two_way"] = "one_way"
    reflect: Reflection | None = Reflection(via="ack")
    switch_reply: SwitchReply | None = None
    stamp_loss: float = Field(default=0.0, ge=0, lt=1)

    @model_validator(mode="after")
    def _fits_together(self) -> Header:
        problems = [*self._name_problems(), *self._link_problems(), *self._select_problems(), *self._stack_problems()]
        raise_problems("header", problems or [*self._formula_problems(), *self._slot_problems()])
        return self

    def field(self, name: str) -> HeaderField:
        """Return the field of this name.

        Raises:
            InputError: the header has none; the message suggests the nearest.
        """
        found = next((field for field in self.fields if field.name == name), None)
        if found is None:
            names = [field.name for field in self.fields]
            raise InputError(f"header {self.name} has no field {name[:60]!r}{did_you_mean(name, names)}")
        return found

    @cached_property
    def head(self) -> tuple[Slot, ...]:
        """What travels once per packet, in the order of the wire."""
        return _slots(field for field in self.fields if not field.per_hop)

    @cached_property
    def record(self) -> tuple[Slot, ...]:
        """What travels once per hop."""
        return _slots(field for field in self.fields if field.per_hop)

    @property
    def head_bytes(self) -> int:
        """Bytes before the records: fixed bits and once-per-packet fields, filled up to the padding."""
        return self._padded(self.placement.fixed_bits + _bits(self.head))

    @property
    def record_bytes(self) -> int:
        """Bytes of one hop's record; 0 for a scalar header."""
        return self._padded(_bits(self.record))

    @property
    def count_bytes(self) -> int:
        """Bytes of the count of hops, after the records."""
        return (self.stack.count_bits + 7) // 8 if isinstance(self.stack, PerHop) else 0

    @property
    def per_hop_bytes(self) -> int:
        """Bytes that every hop adds to the packet: 0 for scalar headers and for those that reserve room."""
        return self.record_bytes if isinstance(self.stack, PerHop) and not self.stack.prealloc else 0

    def wire_bytes(self, hops: int = 0) -> int:
        """Return the bytes that the header adds to a packet.

        Args:
            hops: that wrote into it so far; 0 as it leaves the sender.
        """
        if self.placement.layer == "none":
            return 0
        return self.head_bytes + self.records(hops) * self.record_bytes + self.count_bytes

    def records(self, hops: int) -> int:
        """Return the number of records that travel after so many hops."""
        if not isinstance(self.stack, PerHop):
            return 0
        return self.stack.max_hops if self.stack.prealloc else min(hops, self.stack.max_hops)

    def reflected_bytes(self, hops: int = 0) -> int:
        """Return the bytes that the way back costs on a packet that reflects the header after so many hops."""
        if self.reflect is None or self.placement.layer == "none":
            return 0
        return self.wire_bytes(hops) if self.reflect.bits is None else (self.reflect.bits + 7) // 8

    def _padded(self, bits: int) -> int:
        unit = self.placement.pad_to_bits
        return (bits + unit - 1) // unit * unit // 8

    def _name_problems(self) -> Iterator[InitErrorDetails]:
        names = [field.name for field in self.fields]
        for i, name in enumerate(names):
            if name in names[:i]:
                yield problem_at(("fields", i, "name"), f"{name!r} is taken by an earlier field")

    def _link_problems(self) -> Iterator[InitErrorDetails]:
        """Yield names of fields that there are none of, or that cannot serve."""
        for i, field in enumerate(self.fields):
            if field.follows is not None:
                yield from self._named(field.follows, ("fields", i, "agg"), ("min", "max", "last"), field.agg)
            for source, (said, what) in SAID.items():
                if source in field.measured and not any(each.source == said for each in self.fields):
                    text = f"{what}: add a field with source: {said}, scope: src_once"
                    yield problem_at(("fields", i, "source"), text)
        for name in self.switch_reply.fields if self.switch_reply else ():
            yield from self._named(name, ("switch_reply", "fields"))
        if isinstance(self.stack, PerHop) and self.stack.flag is not None:
            yield from self._named(self.stack.flag, ("stack", "flag"), ("or", "last"), "the flag of stop_flag")
        if isinstance(self.select, SelectOneOf):
            yield from self._named(self.select.by, ("select", "by"))

    def _named(self, name: str, at: Keys, aggs: tuple[str, ...] = (), whose: str = "") -> Iterator[InitErrorDetails]:
        found = next((field for field in self.fields if field.name == name), None)
        if found is None:
            known = [field.name for field in self.fields]
            yield problem_at(at, f"there is no field {name[:60]!r}{did_you_mean(name, known)}")
        elif aggs and found.agg not in aggs:
            yield problem_at(at, f"{whose} needs a field with agg {' or '.join(aggs)}; {name} has {found.agg}")

    def _select_problems(self) -> Iterator[InitErrorDetails]:
        by = self.select.by if isinstance(self.select, SelectOneOf) else None
        chooser = next((field for field in self.fields if field.name == by), None)
        labels = chooser.encode.values if chooser and isinstance(chooser.encode, Enum) and chooser.encode.names else ()
        if chooser and not labels:
            yield problem_at(("select", "by"), f"{by} must be an enum of names")
        if chooser and isinstance(self.select, SelectOneOf) and self.select.policy == "fixed" and chooser.init is None:
            yield problem_at(("select", "policy"), f"fixed takes the init of {by}, and it has none")
        for i, field in enumerate(self.fields):
            if field.only is not None and by is None:
                yield problem_at(("fields", i, "only"), "only needs select: {kind: one_of, by: FIELD, policy: ...}")
            elif field.only is not None and labels and field.only not in labels:
                hint = did_you_mean(field.only, [str(label) for label in labels if label is not None])
                yield problem_at(("fields", i, "only"), f"{by} has no {field.only!r:.60}{hint}")

    def _stack_problems(self) -> Iterator[InitErrorDetails]:
        per_hop = isinstance(self.stack, PerHop)
        for i, field in enumerate(self.fields):
            if field.per_hop and not per_hop:
                yield problem_at(("fields", i, "agg"), "per_hop needs stack: {kind: per_hop, max_hops: N}")
        if per_hop and not self.record:
            yield problem_at(("stack", "kind"), "per_hop needs at least one field with agg: per_hop")
        late = [at for at, field in enumerate(self.fields) if {"refresh", "delay"} & field.measure.imprecision.keys()]
        if isinstance(self.stack, PerHop) and late and self.stack.overflow == "modulo":
            text = "records that overwrite others cannot be late: leave out refresh_us and delay_us, or modulo"
            yield from (problem_at(("fields", at, "measure"), text) for at in late)
        if isinstance(self.stack, PerHop) and (late or self.stamp_loss) and self.stack.max_hops > 64:
            yield problem_at(("stack", "max_hops"), "at most 64 where hops may leave records out")
        if self.stamp_loss and all(field.scope != "hop" for field in self.fields):
            yield problem_at(("stamp_loss",), "hops write nothing here: leave it out")
        for at in late:
            if (set(getattr(self.fields[at].formula, "names", ())) - SOURCES.keys()) & {f.name for f in self.fields}:
                text = "a formula of what the packet brings is of that packet: leave out refresh_us and delay_us"
                yield problem_at(("fields", at, "measure"), text)
        if per_hop and self.placement.layer == "none":
            yield problem_at(("placement", "layer"), "none has room for no records; l2, l3 or l4")

    def _formula_problems(self) -> Iterator[InitErrorDetails]:
        known = [*SOURCES, *(field.name for field in self.fields), "max_hops"]
        units: dict[str, str | None] = {"max_hops": ""}
        for field in self.fields:
            units[field.name] = None if field.of_any_unit and not field.unit else field.told_in
        units |= {name: None if name == "const" else source.unit for name, source in SOURCES.items()}
        for i, field in enumerate(self.fields):
            unit = field.unit or None
            yield from _formula_problem(field.formula, ("fields", i, "source"), known, units, unit)
            yield from _formula_problem(field.condition, ("fields", i, "when"), known, units)
        if self.switch_reply:
            when = Expression(self.switch_reply.when)
            yield from _formula_problem(when, ("switch_reply", "when"), known, units)

    def _slot_problems(self) -> Iterator[InitErrorDetails]:
        text = "adjacent fields with only share their bits: of one size, each under its own name"
        for slot in (*self.head, *self.record):
            sizes, labels = {field.bits for field in slot}, {field.only for field in slot}
            if len(sizes) > 1 or len(labels) < len(slot):
                yield problem_at(("fields", self.fields.index(slot[-1]), "only"), text)


def header(name_or_path: str | os.PathLike[str]) -> Header:
    """Return a header of the catalogue by its name, or the one in a YAML file (a path or ``….yaml``).

    Raises:
        InputError: an unknown name (with a suggestion), or a file that cannot be read or is outside the vocabulary: the
            message names file, line, key and what is missing.
    """
    return named("header", name_or_path, Header, packaged_headers)


@cache
def packaged_headers() -> Mapping[str, Header]:
    """Return the headers of the catalogue, by name."""
    return packaged("lcca.signal_sets.headers", "catalogue", Header)


def described(header: Header) -> str | dict[str, Any]:
    """Return a header as a policy file has it: its name where that is the catalogue's, else all of it."""
    known = packaged_headers().get(header.name)
    return header.name if known == header else header.model_dump(mode="json")


def header_of(written: str | Mapping[str, Any]) -> Header:
    """Return the header that a policy file names or describes.

    Raises:
        InputError: an unknown name, or a description outside the vocabulary.
    """
    with about("header"):
        return header(written) if isinstance(written, str) else validate_json(written, Header)


def _slots(fields: Iterator[HeaderField]) -> tuple[Slot, ...]:
    slots: list[Slot] = []
    for field in fields:
        if field.only is not None and slots and slots[-1][0].only is not None:
            slots[-1] = (*slots[-1], field)
        else:
            slots.append((field,))
    return tuple(slots)


def _bits(slots: tuple[Slot, ...]) -> int:
    return sum(slot[0].bits for slot in slots)


def _formula_problem(
    formula: Expression | None, at: Keys, known: list[str], units: Mapping[str, str | None], unit: str | None = None
) -> Iterator[InitErrorDetails]:
    try:
        if formula is not None:
            formula.require_known(known)
            check_units(formula, unit, units)
    except InputError as error:
        yield problem_at(at, str(error))
