"""Numbers to the bits of a field and back, exactly: what each encoding means, a second implementation of the engine's.

Most are *grids*: ascending lists of the numbers that codes stand for. Encoding finds the code at or below a number and
then rounds, so a number of the grid always becomes its own code again. Wrapping repeats the grid.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.inputs.errors import InputError, did_you_mean
from lcca.remy_plus.core.elementary import log, power
from lcca.signal_sets.headers.encoding import Counter, Encoding, Enum, Flag, Float, Linear, Log, Rounding, Table, Uint

if TYPE_CHECKING:
    from lcca.signal_sets.headers.field import HeaderField

Codes: TypeAlias = NDArray[np.uint64]
Values: TypeAlias = NDArray[np.float64]
Invalid: TypeAlias = Literal["all_ones", "zero"]

_EXACT_BITS = 52


def field_codec(field: HeaderField) -> Codec:
    """Return the codec of a field; its numbers are in the field's unit."""
    return codec(field.encode, field.bits, field.invalid)


def codec(encoding: Encoding, bits: int, invalid: Invalid | None = None) -> Codec:
    """Return the codec of an encoding in so many bits.

    Args:
        encoding: the model.
        bits: size of the field, 1 to 64.
        invalid: the code that stands for "not known" (NaN).

    Raises:
        InputError: the encoding does not fit into the bits.
    """
    if problem := encoding.problem(bits):
        raise InputError(problem)
    match encoding:
        case Enum():
            return EnumCodec(encoding, bits)
        case Flag():
            return FlagCodec(bits)
        case Counter():
            return LinearCodec(bits, 0.0, encoding.step, None, "floor", wraps=True)
        case Uint():
            return LinearCodec(bits, 0.0, 1.0, None, encoding.round, encoding.overflow == "wrap", invalid)
        case Linear():
            wraps, step = encoding.overflow == "wrap", encoding.size(bits)
            return LinearCodec(bits, encoding.base, step, encoding.max, encoding.round, wraps, invalid)
        case Log():
            return LogCodec(encoding, bits, invalid)
        case Float():
            return FloatCodec(encoding, bits, invalid)
        case Table():
            return TableCodec(encoding, bits, invalid)


class Codec(ABC):
    """Turns numbers into the codes of a field and back.

    Attributes:
        bits: size of the field.
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits

    @abstractmethod
    def encode(self, values: ArrayLike, random: np.random.Generator | None = None) -> Codes:
        """Return the codes of numbers, in their shape.

        Args:
            values: finite numbers in the field's unit, NaN for "not known".
            random: stream for stochastic rounding, one draw a number; unused otherwise.

        Raises:
            InputError: an infinite number, a NaN in a field without ``invalid``, a number that an enum does not list,
                or stochastic rounding without a stream.
        """

    @abstractmethod
    def decode(self, codes: ArrayLike) -> Values:
        """Return the numbers that codes stand for, in their shape; NaN for the ``invalid`` code.

        Raises:
            InputError: something that is no code of this field.
        """

    def encode_one(self, value: float | str, random: np.random.Generator | None = None) -> int:
        """Return the code of one number, or of a name; see `encode`."""
        if isinstance(value, str):
            raise InputError(f"a number is needed, got {value[:60]!r}")
        return int(self.encode(value, random))

    def decode_one(self, code: int) -> float | str:
        """Return what one code stands for: a number, or a name; see `decode`."""
        return float(self.decode(code))

    def _codes(self, codes: ArrayLike, top: int) -> Codes:
        """Return `codes` as an array, checked to be whole numbers from 0 to `top`."""
        raw = np.asarray(codes)
        if raw.dtype.kind not in "iu":
            raise InputError(f"codes are whole numbers, got {raw.dtype}")
        if raw.size and (int(raw.min()) < 0 or int(raw.max()) > top):
            raise InputError(f"a field of these {self.bits} bits has codes from 0 to {top}")
        return raw.astype(np.uint64)


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


class FlagCodec(Codec):
    """One bit."""

    def encode(self, values: ArrayLike, random: np.random.Generator | None = None) -> Codes:
        """See `Codec.encode`."""
        numbers = np.asarray(values, dtype=np.float64)
        if np.isnan(numbers).any():
            raise InputError("a flag cannot say 'not known', and got it")
        return np.asarray(numbers != 0).astype(np.uint64)

    def decode(self, codes: ArrayLike) -> Values:
        """See `Codec.decode`."""
        return self._codes(codes, 1).astype(np.float64)


class EnumCodec(Codec):
    """A list of names or of numbers. The numbers of names are their codes."""

    def __init__(self, encoding: Enum, bits: int) -> None:
        super().__init__(bits)
        self._values, self._names = encoding.values, encoding.names
        self._codes_of = {value: code for code, value in enumerate(encoding.values) if value is not None}
        self._listed = [code if self._names else float(value) for value, code in self._codes_of.items()]
        self._nearest = encoding.unlisted == "nearest"

    def encode(self, values: ArrayLike, random: np.random.Generator | None = None) -> Codes:
        """See `Codec.encode`."""
        numbers = np.asarray(values, dtype=np.float64)
        listed = np.array(self._listed)
        distances = np.abs(numbers[..., np.newaxis] - listed)
        places = np.argmin(distances, axis=-1)
        missed = ~(np.min(distances, axis=-1) == 0)
        if not np.isfinite(numbers).all() or (missed.any() and not self._nearest):
            known = ", ".join(map(str, self._codes_of))
            raise InputError(f"{numbers[missed].ravel()[0]:g} is not listed (known: {known})")
        return np.asarray(np.array(list(self._codes_of.values()), dtype=np.uint64)[places])

    def decode(self, codes: ArrayLike) -> Values:
        """See `Codec.decode`."""
        numbers = np.full(len(self._values), np.nan)
        numbers[list(self._codes_of.values())] = self._listed
        found = numbers[self._codes(codes, len(self._values) - 1)]
        if np.isnan(found).any():
            raise InputError("a code that the enum leaves out")
        return found

    def encode_one(self, value: float | str, random: np.random.Generator | None = None) -> int:
        """See `Codec.encode_one`."""
        if not isinstance(value, str):
            return super().encode_one(value, random)
        if value not in self._codes_of:
            raise InputError(f"{value[:60]!r} is not listed{did_you_mean(value, map(str, self._codes_of))}")
        return self._codes_of[value]

    def decode_one(self, code: int) -> float | str:
        """See `Codec.decode_one`."""
        number = float(self.decode(code))
        name = self._values[int(number)] if self._names else None
        return number if name is None else name
