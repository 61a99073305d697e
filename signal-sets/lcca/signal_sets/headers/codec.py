"""Numbers to the bits of a field and back, as the engine does it for hops and senders."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.elementary import power
from lcca.remy_plus.core.stamping import Coding
from lcca.signal_sets.headers.encoding import LARGEST_TABLE_BITS, Counter, Enum, Flag, Float, Linear, Log, Table, Uint

if TYPE_CHECKING:
    from lcca.signal_sets.headers.field import HeaderField

Codes: TypeAlias = NDArray[np.uint64]
Values: TypeAlias = NDArray[np.float64]


def encoded(field: HeaderField, values: ArrayLike, random: np.random.Generator | None = None) -> Codes:
    """Return the codes of numbers, in their shape.

    Args:
        field: of a header.
        values: finite numbers in the field's unit, NaN for "not known".
        random: stream for stochastic rounding, one draw a number; None for `numpy.random.default_rng(0)`.

    Raises:
        InputError: a number that the field cannot say.
    """
    numbers = np.asarray(values, dtype=np.float64)
    draws = (random or np.random.default_rng(0)).random(numbers.size)
    try:
        codes = _core.encode(asdict(coding(field)), numbers.ravel(), draws)
    except ValueError as error:
        raise InputError(f"field {field.name}: {error}") from None
    return np.asarray(codes, dtype=np.uint64).reshape(numbers.shape)


def decoded(field: HeaderField, codes: ArrayLike) -> Values:
    """Return the numbers that codes stand for, in their shape; NaN for the ``invalid`` code, and for unlisted ones.

    Raises:
        InputError: something that is no code of this field.
    """
    known, plan = np.asarray(codes), coding(field)
    top = len(plan.numbers) - 1 if plan.kind == "grid" else 2**field.bits - 1
    codes_alone = known.dtype.kind in "iu" and all(0 <= int(c) <= top or int(c) == plan.invalid for c in known.flat)
    if not codes_alone:
        raise InputError(f"field {field.name}: codes are whole numbers from 0 to {top}")
    return np.asarray(_core.decode(asdict(plan), known.astype(np.uint64).ravel())).reshape(known.shape)


def code_of(field: HeaderField, value: float | str) -> int:
    """Return the code of one number, or of one of an enum's names."""
    if isinstance(field.encode, Enum) and isinstance(value, str):
        return field.encode.values.index(value)
    return int(encoded(field, float(value)))


def initial_code(field: HeaderField) -> int:
    """Return the code that the sender writes.

    Without ``init`` it is the one that any hop's value replaces: the largest for min, all ones for and, else 0.
    """
    ones = 2**field.bits - 1
    if field.init is not None:
        return code_of(field, field.init)
    if field.invalid is not None:
        return ones if field.invalid == "all_ones" else 0
    if field.agg == "min" and isinstance(field.encode, Table | Enum):
        return len(field.encode.values) - 1
    return ones if field.agg in ("and", "min") else 0


def coding(field: HeaderField) -> Coding:
    """Return how the numbers of a field become codes, as plain data."""
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
        case Log(round=rounding) | Float(round=rounding) | Table(round=rounding) as e:
            return Coding("grid", field.bits, numbers=_grid(e, field.bits), rounding=rounding, invalid=invalid)
    raise AssertionError(field.encode)


def _grid(encoding: Log | Float | Table, bits: int) -> tuple[float, ...]:
    """Return the numbers of all codes; a code for "not known" has the place of its number all the same."""
    if isinstance(encoding, Table):
        return encoding.values
    codes = np.arange(2**bits, dtype=np.uint64)
    if isinstance(encoding, Float):
        plain = Coding("float", bits, step=encoding.step, mantissa=encoding.mant)
        return tuple(np.asarray(_core.decode(asdict(plain), codes)).tolist())
    zero = float(encoding.zero)
    numbers = encoding.min * power(encoding.base, codes.astype(np.float64) - zero)
    return tuple(np.where(codes < zero, 0.0, numbers).tolist())
