"""What a congestion control's tunables are: their names, kinds, ranges and meanings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from lcca.inputs.errors import InputError, did_you_mean
from lcca.inputs.numbers import real

Value: TypeAlias = float | int | str | bool


@dataclass(frozen=True)
class Parameter:
    """A tunable of a congestion control.

    Attributes:
        name: as it is written in a policy.
        default: a bool for a flag, an int for a whole number, a float, or a word.
        low, high: range of a number.
        words: what may stand in place of a number, or all that may stand where the default is a word.
        unit: of the number; empty for none.
        attribute: of the ns-3 class that has it; empty where it is not one attribute's value.
        meaning: in words, with its source.
    """

    name: str
    default: Value
    low: float = 0.0
    high: float = math.inf
    words: tuple[str, ...] = ()
    unit: str = ""
    attribute: str = ""
    meaning: str = ""

    @property
    def is_flag(self) -> bool:
        """Whether it is true or false."""
        return isinstance(self.default, bool)

    @property
    def is_word(self) -> bool:
        """Whether it has words only."""
        return isinstance(self.default, str) and self.low > self.high

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number."""
        return isinstance(self.default, int) and not self.is_flag

    def checked(self, value: object) -> Value:
        """Return the value in its one form, so that equal policies have equal files.

        Raises:
            InputError: not of the parameter's kind, or out of its range.
        """
        if isinstance(value, str) and value in self.words:
            return value
        if self.is_flag and isinstance(value, bool):
            return value
        if self.is_flag or self.is_word or isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{self.name}: must be {self._expected()}, got {value!r:.60}")
        if not (math.isfinite(value) and self.low <= value <= self.high) or (self.is_whole and value != int(value)):
            raise InputError(f"{self.name}: must be {self._expected()}, got {value!r:.60}")
        return int(value) if self.is_whole else float(value)

    def parsed(self, text: str) -> Value:
        """Return the value that a text means.

        Raises:
            InputError: as `checked`.
        """
        if text in self.words:
            return text
        if self.is_flag:
            return self.checked({"true": True, "false": False}.get(text, text))
        try:
            return self.checked(real(text[:60]))
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            return self.checked(text)

    def _expected(self) -> str:
        words = " or ".join(repr(word) for word in self.words)
        if self.is_flag:
            return "true or false"
        if self.is_word:
            return words
        number = "a whole number" if self.is_whole else "a number"
        size = f"of {self.low:g} or more" if self.high == math.inf else f"from {self.low:g} to {self.high:g}"
        return f"{number} {size}{' ' + self.unit if self.unit else ''}" + (f", or {words}" if words else "")


def choice(name: str, words: tuple[str, ...], default: str, attribute: str, meaning: str) -> Parameter:
    """Return a tunable that is one of some words."""
    return Parameter(name, default, 1.0, 0.0, words, "", attribute, meaning)  # an empty range: words only


COMMON = (
    Parameter(
        "time_scale", 1000.0, 1e-3, 1e6, meaning="simulated µs per µs; with 1000, milliseconds stand for µs (paper A.3)"
    ),
    Parameter(
        "initial_window", 10, 1, 1_000_000, unit="packets", attribute="ns3::TcpSocket::InitialCwnd", meaning="RFC 6928"
    ),
    Parameter(
        "min_rto",
        1000.0,
        1.0,
        6e4,
        unit="µs",
        attribute="ns3::TcpSocketBase::MinRto",
        meaning="smallest retransmission timeout: one second of RFC 6298 at the default time scale",
    ),
)
"""What all have."""


@dataclass(frozen=True)
class Family:
    """A congestion control.

    Attributes:
        name: of the policy.
        type: TypeId of the class that ns-3 runs.
        title: what it is, with its source.
        parameters: its tunables, those that all have in common last.
        ecn: whether it needs the ECN bits of the network.
        markable: whether it heeds marks of the network, so that a marker of the fabric may be named with it.
        timestamps: whether it measures one-way delays by TCP's timestamp option.
    """

    name: str
    type: str
    title: str
    parameters: tuple[Parameter, ...]
    ecn: bool = False
    markable: bool = False
    timestamps: bool = False

    def parameter(self, name: str) -> Parameter:
        """Return a tunable by name.

        Raises:
            InputError: there is none (with a suggestion).
        """
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        known = [p.name for p in self.parameters]
        raise InputError(f"{self.name} has no parameter {name[:60]!r}{did_you_mean(name, known)}")
