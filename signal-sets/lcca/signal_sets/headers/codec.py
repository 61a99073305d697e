"""Numbers to the bits of a field and back, exactly: what each encoding means."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lcca.inputs.errors import InputError, did_you_mean
from lcca.signal_sets.headers.codes import Codec, Codes, Values
from lcca.signal_sets.headers.encoding import Counter, Encoding, Enum, Flag, Float, Linear, Log, Table, Uint
from lcca.signal_sets.headers.field import HeaderField
from lcca.signal_sets.headers.grids import FloatCodec, Invalid, LinearCodec, LogCodec, TableCodec


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


def initial_code(field: HeaderField) -> int:
    """Return the code that the sender writes.

    Without ``init`` it is the one that any hop's value replaces: the largest for min, all ones for and, else 0.
    """
    if field.init is not None:
        return field_codec(field).encode_one(field.init, np.random.default_rng(0))  # a number of the grid, no chance
    if field.invalid is not None:
        return all_ones(field) if field.invalid == "all_ones" else 0
    return all_ones(field) if field.agg == "and" else largest_code(field) if field.agg == "min" else 0


def largest_code(field: HeaderField) -> int:
    """Return the code that stands for the largest number."""
    encode = field.encode
    return len(encode.values) - 1 if isinstance(encode, Table | Enum) else all_ones(field)


def all_ones(field: HeaderField) -> int:
    """Return the code of a field whose bits are all set."""
    return (1 << field.bits) - 1
