"""What every codec can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.inputs.errors import InputError

Codes: TypeAlias = NDArray[np.uint64]
Values: TypeAlias = NDArray[np.float64]


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
