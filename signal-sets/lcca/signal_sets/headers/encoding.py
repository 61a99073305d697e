"""How a number becomes the bits of a field: one model per kind of encoding.

All numbers are in the unit of the field. `lcca.signal_sets.headers.codec` has the codes.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from lcca.inputs.model import Model, problem_at, raise_problems

Rounding: TypeAlias = Literal["floor", "ceil", "nearest", "stochastic"]
Overflow: TypeAlias = Literal["saturate", "wrap"]

LARGEST_TABLE_BITS = 16
"""Fields of up to so many bits can be told as a table of all their values."""

_POWER = re.compile(r"2\^(-?[0-9]{1,3})")


def _power_of_two(value: Any) -> Any:
    found = _POWER.fullmatch(value) if isinstance(value, str) else None
    return value if found is None else math.ldexp(1.0, int(found[1]))


Number: TypeAlias = Annotated[float, BeforeValidator(_power_of_two, json_schema_input_type=float | str)]
"""A number, or a power of two as in ``2^-31``."""
Positive: TypeAlias = Annotated[float, BeforeValidator(_power_of_two, json_schema_input_type=float | str), Field(gt=0)]


class Uint(Model):
    """The number itself, rounded: code c is c."""

    kind: Literal["uint"] = "uint"
    round: Rounding = "floor"
    overflow: Overflow = "saturate"

    def problem(self, bits: int) -> str | None:
        """Return why this cannot be a field of so many bits."""
        return None


class Linear(Model):
    """Equal steps: code c is ``base + c * step``. With ``max`` instead of ``step``, the largest code is ``max``."""

    kind: Literal["linear"] = "linear"
    base: Number = 0.0
    step: Positive | None = None
    max: Number | None = None
    round: Rounding = "floor"
    overflow: Overflow = "saturate"

    @model_validator(mode="after")
    def _one_scale(self) -> Linear:
        if (self.step is None) == (self.max is None):
            raise ValueError("linear needs step or max, one of the two")
        if self.max is not None and self.max <= self.base:
            raise_problems("linear", [problem_at(("max",), f"must be > base ({self.base:g}), got {self.max:g}")])
        return self

    def problem(self, bits: int) -> str | None:
        """Return why this cannot be a field of so many bits."""
        step = self.size(bits)
        top = self.base + step * 2.0**bits
        if not math.isfinite(top):
            return f"the largest of {bits} bits is no finite number: make step smaller"
        coarsest = max(abs(self.base), abs(top) if bits <= 52 else 0.0)
        return None if coarsest + step > coarsest else f"a step of {step:g} is lost beside {coarsest:g}"

    def size(self, bits: int) -> float:
        """Return the step."""
        return self.step if self.step is not None else (float(self.max or 0) - self.base) / (2.0**bits - 1)


class Log(Model):
    """Equal ratios: code c is ``min * base**c``; with ``zero``, code 0 is 0 and code c is ``min * base**(c - 1)``."""

    kind: Literal["log"] = "log"
    base: float = Field(gt=1)
    min: Positive
    zero: bool = False
    round: Rounding = "floor"

    def problem(self, bits: int) -> str | None:
        """Return why this cannot be a field of so many bits."""
        if bits > LARGEST_TABLE_BITS:
            return f"log has at most {LARGEST_TABLE_BITS} bits, this field {bits}"
        decades = math.log10(self.min) + 2.0**bits * math.log10(self.base)
        return None if decades < 300 else f"the largest of {bits} bits is 10^{decades:.0f}: make base smaller"


class Float(Model):
    """A small floating-point number without sign, exponent first.

    With exponent e and mantissa m the code is ``step * m`` for e = 0, else ``step * (2**mant + m) * 2**(e - 1)``;
    there are no infinities.
    """

    kind: Literal["float"] = "float"
    mant: int = Field(ge=0, le=52)
    exp: int = Field(ge=1, le=9)
    step: Positive = 1.0
    round: Rounding = "floor"

    def problem(self, bits: int) -> str | None:
        """Return why this cannot be a field of so many bits."""
        if self.mant + self.exp != bits:
            return f"mant {self.mant} and exp {self.exp} are {self.mant + self.exp} bits, the field has {bits}"
        reach = math.log2(self.step) + self.mant + 2.0**self.exp
        return None if -1000 < math.log2(self.step) and reach < 1000 else "the largest is no finite number"


class Table(Model):
    """Any ascending numbers: code c is the c-th, counted from 0."""

    kind: Literal["table"] = "table"
    values: tuple[float, ...] = Field(min_length=1, max_length=2**LARGEST_TABLE_BITS)
    round: Rounding = "floor"

    @model_validator(mode="after")
    def _ascending(self) -> Table:
        for i, (low, high) in enumerate(zip(self.values, self.values[1:], strict=False), start=1):
            if low >= high:
                raise_problems("table", [problem_at(("values", i), f"must be > {low:g}, the one before; got {high:g}")])
        return self

    def problem(self, bits: int) -> str | None:
        """Return why this cannot be a field of so many bits."""
        return _too_many(len(self.values), bits)


class Enum(Model):
    """Names or numbers in the order of their codes, from 0; ``null`` for a code that nobody uses."""

    kind: Literal["enum"] = "enum"
    values: tuple[str | float | None, ...] = Field(min_length=1, max_length=2**LARGEST_TABLE_BITS)
    unlisted: Literal["refuse", "nearest"] = "refuse"

    @model_validator(mode="after")
    def _once(self) -> Enum:
        listed = [value for value in self.values if value is not None]
        kinds = {isinstance(value, str) for value in listed}
        if len(kinds) != 1:
            raise ValueError("values must be all names or all numbers, and at least one")
        if len(set(listed)) != len(listed):
            raise ValueError("values must differ")
        if self.unlisted == "nearest" and True in kinds:
            raise_problems("enum", [problem_at(("unlisted",), "names have no nearest one: refuse")])
        return self

    @property
    def names(self) -> bool:
        """Whether the values are names."""
        return any(isinstance(value, str) for value in self.values)

    def problem(self, bits: int) -> str | None:
        """Return why this cannot be a field of so many bits."""
        return _too_many(len(self.values), bits)


class Flag(Model):
    """One bit: 1 for whatever is not 0."""

    kind: Literal["flag"] = "flag"

    def problem(self, bits: int) -> str | None:
        """Return why this cannot be a field of so many bits."""
        return None if bits == 1 else f"a flag has 1 bit, this field {bits}"


class Counter(Model):
    """A counter that wraps: whole steps counted, modulo ``2**bits``. Two of them tell a difference."""

    kind: Literal["counter"] = "counter"
    step: Positive = 1.0

    def problem(self, bits: int) -> str | None:
        """Return why this cannot be a field of so many bits."""
        return None if bits <= 52 else f"a counter has at most 52 bits, this field {bits}"


Encoding: TypeAlias = Annotated[
    Annotated[Uint | Linear | Log | Float | Table | Enum | Flag | Counter, Field(discriminator="kind")],
    BeforeValidator(lambda value: {"kind": value} if isinstance(value, str) else value),
]
"""An encoding; one that needs no numbers may be told by its kind alone (``encode: flag``)."""


def _too_many(count: int, bits: int) -> str | None:
    return None if count <= 2**bits else f"{count} values do not fit into {bits} bits ({2**bits} codes)"
