"""One field of a header: what a hop writes into it, in how many bits, and what becomes of it at the next hop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal, TypeAlias

from pydantic import Field, field_validator, model_validator

from lcca.inputs.errors import did_you_mean
from lcca.inputs.model import problem_at, raise_problems
from lcca.remy_plus import _core
from lcca.remy_plus.core.formulas import Expression
from lcca.remy_plus.core.stamping import Gains
from lcca.signal_sets.headers.encoding import Counter, Encoding, Enum, Flag, Linear, Table, Uint
from lcca.signal_sets.headers.parts import Grown, Measurement
from lcca.signal_sets.headers.sources import ELSEWHERE, SOURCES, UNITS, convert

AGGREGATIONS = ("min", "max", "sum", "last", "first", "or", "and", "count", "per_hop")
"""What a hop does with the field; and ``with:FIELD``."""

OF_THE_PACKET = (
    "ts_in",
    "ts_out",
    "hop_count",
    "rank",
    "xcp_feedback",
    "bytes_left",
    "gap",
    "mark",
    "trimmed",
    "const",
)
"""Sources that a hop knows of the packet at hand alone, or decides for it: nothing to read seldom or to estimate."""

GAINS: dict[str, Gains] = {"fair_rate": _core.RCP_GAINS, "xcp_feedback": _core.XCP_GAINS}
"""What hops that say a rate or a change of the window are set to unless a header says otherwise."""

Wrong: TypeAlias = tuple[str, str]
"""A key, and what is wrong there."""

WITH = "with:"
EXPRESSION = "expr:"
IDENTIFIER = r"^[a-z][a-z0-9_]*$"


class HeaderField(Grown):
    """A field.

    Attributes:
        name: in lower case, once per header.
        source: one of `SOURCES`, or ``expr:`` and a formula over them and over the header's own fields.
        unit: of all numbers here; the source's own if empty.
        grants: whether its number, a rate, is what the hop grants the flow: laws may send at it, as at `fair_rate`.
        value: what is written for ``const``, or when ``mark`` holds.
        when: condition at the hop, a formula too; the field stays as it is where it does not hold. Formulas see what
            the header carried as it arrived.
        only: the name in the ``by`` field of ``select: one_of`` under which this field travels. Adjacent ones share
            their bits.
        measure: how the hop measures the source; in a formula, each of its sources.
        bits: size.
        encode: how numbers become bits.
        agg: compare-and-replace on codes (min, max), ``sum``, ``count`` of the hops, the ``last`` or ``first`` value,
            bitwise ``or`` and ``and``, a record ``per_hop``, or ``with:FIELD``: written when that field was replaced.
        scope: who writes it: every hop, the sender once (``src_once``), or the receiver (``dst``).
        init: what the sender writes; if left out the value that any hop's replaces.
        invalid: the code for "not known", ``all_ones`` or ``zero``; NaN stands for it.
    """

    later: ClassVar[frozenset[str]] = frozenset({"grants"})

    name: str = Field(pattern=IDENTIFIER, max_length=40)
    source: str
    unit: str = ""
    grants: bool = False
    value: float | str | None = None
    when: str = "always"
    only: str | None = None
    measure: Measurement = Measurement()
    bits: int = Field(ge=1, le=64)
    encode: Encoding = Uint()
    agg: str = "last"
    scope: Literal["hop", "src_once", "dst"] = "hop"
    init: float | str | None = None
    invalid: Literal["all_ones", "zero"] | None = None

    @field_validator("source")
    @classmethod
    def _known_source(cls, source: str) -> str:
        if source.startswith(EXPRESSION):
            Expression(source.removeprefix(EXPRESSION))
        elif source not in SOURCES:
            hint = did_you_mean(ELSEWHERE.get(source, source), SOURCES)
            raise ValueError(f"there is no source {source[:60]!r}{hint}; or expr: and a formula")
        return source

    @field_validator("unit")
    @classmethod
    def _known_unit(cls, unit: str) -> str:
        if unit not in UNITS:
            raise ValueError(f"there is no unit {unit[:60]!r}{did_you_mean(unit, [known for known in UNITS if known])}")
        return unit

    @field_validator("when")
    @classmethod
    def _condition(cls, when: str) -> str:
        Expression(when)
        return when

    @field_validator("agg")
    @classmethod
    def _known_aggregation(cls, agg: str) -> str:
        if agg not in AGGREGATIONS and not agg.startswith(WITH):
            hint = did_you_mean(agg, AGGREGATIONS)
            raise ValueError(f"there is no aggregation {agg[:60]!r}{hint}; or with: and a field")
        return agg

    @model_validator(mode="after")
    def _fits_together(self) -> HeaderField:
        problems = [*self._what_is_written(), *self._how_it_is_coded(), *self._what_hops_do()]
        raise_problems("field", [problem_at((key,), text) for key, text in problems])
        return self

    @property
    def told_in(self) -> str:
        """The unit of the field's numbers; empty where they are mere numbers."""
        own = "" if self.formula is not None else SOURCES[self.source].unit
        return self.unit or own

    @property
    def of_any_unit(self) -> bool:
        """Whether its numbers have the unit that is said, whatever that is: no source gives them one."""
        return self.formula is not None or self.source == "const"

    @property
    def formula(self) -> Expression | None:
        """The formula of an ``expr:`` source."""
        text = self.source.removeprefix(EXPRESSION)
        return Expression(text) if text != self.source else None

    @property
    def condition(self) -> Expression | None:
        """The formula of ``when``; None for always."""
        return None if self.when == "always" else Expression(self.when)

    @property
    def measured(self) -> frozenset[str]:
        """The sources that a hop needs for it, those of its condition too."""
        formulas = [each for each in (self.formula, self.condition) if each is not None]
        own = frozenset({self.source}) if self.formula is None else frozenset()
        return own.union(*(each.names for each in formulas)) & SOURCES.keys()

    @property
    def follows(self) -> str | None:
        """The field that ``with:`` names."""
        return self.agg.removeprefix(WITH) if self.agg.startswith(WITH) else None

    @property
    def per_hop(self) -> bool:
        """Whether it is part of the hops' records."""
        return self.agg == "per_hop"

    @property
    def gains(self) -> Gains:
        """Of a hop that says a rate or a change of the window."""
        alpha, beta, portion, interval = next((GAINS[name] for name in self._told), (0.0, 0.0, 0.0, 0.0))
        given = self.measure
        return (
            alpha if given.alpha is None else given.alpha,
            beta if given.beta is None else given.beta,
            portion if given.portion is None else given.portion,
            interval if given.update_us is None else given.update_us,
        )

    @property
    def _told(self) -> list[str]:
        """What it takes of a hop that says a rate or a change of the window."""
        return [name for name in GAINS if name in self.measured]

    def _what_is_written(self) -> Iterator[Wrong]:
        if self.unit and not self.of_any_unit:
            try:
                convert(1.0, SOURCES[self.source].unit, self.unit)
            except ValueError as error:
                yield "unit", str(error)
        if self.value is not None and self.source not in ("const", "mark"):
            yield "value", "only const and mark have a value; what is written otherwise is the source's"
        elif self.value is None and self.source == "const" and self.scope == "hop":
            yield "value", "const at a hop needs a value; or scope: src_once and init"
        else:
            yield from self._unlisted("value", self.value)
        if not self._told and any(gain is not None for gain in self.measure.gains):
            yield "measure", f"alpha, beta, portion and update_us belong to the sources {' and '.join(GAINS)}"
        if len(self._told) > 1:
            yield "source", f"a formula has one of {' and '.join(self._told)}: each has gains of its own"

        yield from self._what_senders_say()
        if self.measure.imprecision:
            yield from self._what_can_be_off()
        counts = self.measured & {"flows", "rank"}
        if self.measure.window == "aged" and not counts:
            yield "measure", "window aged counts flows: it is for the sources flows and rank"
        if "rank" in counts and (self.measure.memory_bits or 0) % _core.RANK_CELL_BITS:
            yield "measure", f"memory_bits of a rank are cells of {_core.RANK_CELL_BITS} bits: a multiple of that"

    def _what_senders_say(self) -> Iterator[Wrong]:
        if self.source in ("bytes_left", "gap") and self.scope != "src_once":
            what = "what it has left" if self.source == "bytes_left" else "its gap"
            yield "scope", f"the sender says {what}: scope: src_once"
        if self.source == "gap" and self.told_in != "us":
            yield "unit", "a gap is in us"
        if "senders" in self.measured and self.measure.window != "tumbling":
            yield "measure", "senders are counted in intervals: window: tumbling"

    def _what_can_be_off(self) -> Iterator[Wrong]:
        """Yield why what is written cannot be late or an estimate."""
        keys = ", ".join(self.measure.imprecision)
        own = sorted((self.formula.names if self.formula else {self.source}) & set(OF_THE_PACKET))
        if self.scope != "hop" or own:
            what = f"{own[0]} is of the packet at hand" if own else "hosts know what they write"
            yield "measure", f"{what}: leave out {keys}"
        elif self.agg == "count" or self.encode.kind in ("flag", "enum", "counter"):
            what = "count counts hops" if self.agg == "count" else f"{self.encode.kind} has no nearby numbers"
            yield "measure", f"{what}: leave out {keys}"

    def _how_it_is_coded(self) -> Iterator[Wrong]:
        if problem := self.encode.problem(self.bits):
            yield "bits", problem
        yield from self._unlisted("init", self.init)
        wraps = self.encode.kind in ("enum", "flag", "counter") or getattr(self.encode, "overflow", "") == "wrap"
        if self.invalid is not None and wraps:
            yield "invalid", "a code for 'not known' needs numbers that saturate"

    def _unlisted(self, key: str, value: float | str | None) -> Iterator[Wrong]:
        """Yield the problem with a value that an enum does not have, or a name without an enum."""
        if value is None:
            return
        names = isinstance(self.encode, Enum) and self.encode.names
        if isinstance(value, str) != names:
            yield key, f"must be {'one of the names' if names else 'a number'}, got {value!r:.60}"
        elif isinstance(self.encode, Enum) and value not in self.encode.values and self.encode.unlisted == "refuse":
            listed = [str(known) for known in self.encode.values if known is not None]
            yield key, f"{value!r:.60} is not listed{did_you_mean(str(value), listed)}"

    def _what_hops_do(self) -> Iterator[Wrong]:
        agg, encode = self.agg, self.encode
        if self.grants and (self.scope != "hop" or UNITS[self.told_in][0] != "rate"):
            yield "grants", "what a hop grants is a rate that it writes: unit: bit/s, Mbit/s, Gbit/s or byte/s"
        elif self.grants and (agg not in ("min", "per_hop") or isinstance(encode, Flag | Counter | Enum)):
            yield "grants", "the smallest rate that hops grant counts: agg: min or per_hop, and an encoding of numbers"
        if agg in ("min", "max") and isinstance(encode, Enum | Counter):
            yield "agg", f"{agg} compares codes, and those of {encode.kind} have no order"
        elif agg == "sum" and not (isinstance(encode, Uint) or (isinstance(encode, Linear) and encode.base == 0)):
            yield "agg", "sum adds codes: it needs uint, or linear from base 0"
        elif agg == "count" and not isinstance(encode, Uint):
            yield "agg", "count needs uint"
        elif agg in ("or", "and") and isinstance(encode, Table):
            yield "agg", f"{agg} works on bits, and those of a table's numbers mean nothing"
        if self.scope == "src_once" and agg not in ("first", "last", "and", "or", "min", "max"):
            yield "agg", f"{agg} is what hops do, but scope src_once says that they write nothing"
