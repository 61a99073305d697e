"""Encodings of numbers as *grids*: ascending lists of the numbers that codes stand for.

Encoding finds the code at or below a number and then rounds, so a number of the grid always becomes its own code again.
Wrapping repeats the grid.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from lcca.inputs.errors import InputError
from lcca.remy_plus.core.elementary import log, power
from lcca.signal_sets.headers.codes import Codec, Codes, Values
from lcca.signal_sets.headers.encoding import Float, Log, Rounding, Table

Invalid: TypeAlias = Literal["all_ones", "zero"]

_EXACT_BITS = 52


class GridCodec(Codec):
    """An ascending grid of numbers.

    Args:
        bits: size of the field.
        top: largest code that stands for a number.
        rounding: what becomes of numbers between two of the grid; stochastic keeps the mean.
        wraps: whether the grid goes on beyond the ends, codes modulo ``2**bits``; else numbers saturate.
        invalid: the code of NaN.
    """

    def __init__(self, bits: int, top: int, rounding: Rounding, wraps: bool, invalid: Invalid | None) -> None:
        super().__init__(bits)
        self._invalid = {None: None, "zero": 0, "all_ones": 2**bits - 1}[invalid]
        self._top = top - (self._invalid == top)
        self._bottom = int(self._invalid == 0)
        self._rounding, self._wraps = rounding, wraps

    @abstractmethod
    def _number(self, codes: Values) -> Values:
        """Return the numbers of codes (whole, from -1 to one beyond the largest; any when wrapping)."""

    @abstractmethod
    def _near(self, values: Values) -> Values:
        """Return codes at or below `values`, right but for rounding errors."""

    def encode(self, values: ArrayLike, random: np.random.Generator | None = None) -> Codes:
        """See `Codec.encode`."""
        numbers = np.asarray(values, dtype=np.float64)
        unknown = np.isnan(numbers)
        if np.isinf(numbers).any() or (self._invalid is None and unknown.any()):
            raise InputError("the field cannot say 'not known' or infinity, and got it")
        known = np.where(unknown, 0.0, numbers)
        below = self._below(known)
        codes = self._fit(below + self._up(known, below, random))
        return codes if self._invalid is None else np.where(unknown, np.uint64(self._invalid), codes)

    def decode(self, codes: ArrayLike) -> Values:
        """See `Codec.decode`."""
        known = self._codes(codes, max(self._top, self._invalid or 0))
        numbers = self._number(known.astype(np.float64))
        return numbers if self._invalid is None else np.where(known == self._invalid, np.nan, numbers)

    def _below(self, values: Values) -> Values:
        """Return the largest codes whose numbers are not above `values`; -1 below the grid."""
        with np.errstate(over="ignore"):
            near = self._near(values)
        if not self._wraps:
            near = np.clip(near, -1.0, float(self._top))
        elif not np.isfinite(near).all():
            raise InputError("a number is too large to be counted in steps")
        near = np.where((near >= 0) & (self._number(near) > values), near - 1, near)
        room = self._wraps | (near < self._top)
        return np.where(room & (self._number(near + 1) <= values), near + 1, near)

    def _up(self, values: Values, below: Values, random: np.random.Generator | None) -> Values:
        """Return 1 where the code after `below` is taken, else 0."""
        if self._rounding == "floor":
            return np.zeros_like(values)
        low, high = self._number(below), self._number(below + 1)
        if self._rounding == "ceil":
            return (values > low).astype(np.float64)
        if self._rounding == "nearest":
            return (values - low >= high - values).astype(np.float64)
        if random is None:
            raise InputError("stochastic rounding needs a random stream")
        with np.errstate(invalid="ignore"):  # beyond the ends of a table, where both ways saturate
            share = (values - low) / (high - low)
        return (random.random(values.shape) < share).astype(np.float64)

    def _fit(self, codes: Values) -> Codes:
        if self._wraps:
            return np.mod(codes, 2.0**self.bits).astype(np.uint64)
        if self.bits <= _EXACT_BITS:
            return np.clip(codes, self._bottom, self._top).astype(np.uint64)
        exact = [min(max(int(code), self._bottom), self._top) for code in codes.ravel()]
        return np.array(exact, dtype=np.uint64).reshape(codes.shape)


class LinearCodec(GridCodec):
    """Equal steps; also whole numbers (step 1) and wrapping counters."""

    def __init__(
        self,
        bits: int,
        base: float,
        step: float,
        largest: float | None,
        rounding: Rounding,
        wraps: bool,
        invalid: Invalid | None = None,
    ) -> None:
        super().__init__(bits, 2**bits - 1, rounding, wraps, invalid)
        self._base, self._step = base, step
        self._largest = largest

    def _number(self, codes: Values) -> Values:
        numbers = self._base + codes * self._step
        return numbers if self._largest is None else np.where(codes == 2.0**self.bits - 1, self._largest, numbers)

    def _near(self, values: Values) -> Values:
        near: Values = np.floor((values - self._base) / self._step)
        return near


class LogCodec(GridCodec):
    """Equal ratios."""

    def __init__(self, encoding: Log, bits: int, invalid: Invalid | None) -> None:
        super().__init__(bits, 2**bits - 1, encoding.round, False, invalid)
        self._base, self._min, self._zero = encoding.base, encoding.min, float(encoding.zero)

    def _number(self, codes: Values) -> Values:
        numbers = self._min * power(self._base, codes - self._zero)
        return np.where(codes < self._zero, codes * self._min, numbers) if self._zero else np.asarray(numbers)

    def _near(self, values: Values) -> Values:
        positive = np.maximum(values, self._min / self._base)
        return np.asarray(np.floor(log(positive / self._min) / math.log(self._base)) + self._zero)


class FloatCodec(GridCodec):
    """Small floating-point numbers; the smallest ones are spaced equally."""

    def __init__(self, encoding: Float, bits: int, invalid: Invalid | None) -> None:
        super().__init__(bits, 2**bits - 1, encoding.round, False, invalid)
        self._mantissas, self._step = 2.0**encoding.mant, encoding.step

    def _number(self, codes: Values) -> Values:
        exponents, mantissas = np.divmod(np.maximum(codes, 0.0), self._mantissas)
        scaled = (mantissas + np.where(exponents > 0, self._mantissas, 0.0)) * _two_to(np.maximum(exponents - 1, 0.0))
        return np.asarray(np.where(codes < 0, -1.0, scaled) * self._step)

    def _near(self, values: Values) -> Values:
        steps = np.maximum(values / self._step, 0.0)
        exponents = np.maximum(np.frexp(steps)[1] - math.log2(self._mantissas), 0.0)
        mantissas = np.floor(steps / _two_to(np.maximum(exponents - 1, 0.0)))
        return np.asarray(np.where(exponents > 0, (exponents - 1) * self._mantissas, 0.0) + mantissas)


class TableCodec(GridCodec):
    """Any ascending numbers."""

    def __init__(self, encoding: Table, bits: int, invalid: Invalid | None) -> None:
        super().__init__(bits, len(encoding.values) - 1, encoding.round, False, invalid)
        self._values = np.array(encoding.values)

    def _number(self, codes: Values) -> Values:
        inner = self._values[np.clip(codes, 0, len(self._values) - 1).astype(np.int64)]
        beyond = np.where(codes >= len(self._values), np.inf, inner)
        return np.asarray(np.where(codes < 0, -np.inf, beyond))

    def _near(self, values: Values) -> Values:
        return np.asarray(np.searchsorted(self._values, values, side="right") - 1.0)


def _two_to(exponents: Values) -> Values:
    """Return powers of two, of whole numbers."""
    return np.asarray(np.ldexp(1.0, exponents.astype(np.int64)))
