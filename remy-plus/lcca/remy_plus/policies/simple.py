"""The engine's own congestion controls of a few parameters; those that do as hops say are in `explicit`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

from lcca.inputs.errors import InputError
from lcca.inputs.numbers import integer, real
from lcca.remy_plus import _core

if TYPE_CHECKING:
    from lcca.remy_plus.core.stamping import Stamping

N = TypeVar("N", int, float)

LARGEST_WINDOW = 1_000_000
"""Packets; R+ clamps every window to it."""


@dataclass(frozen=True)
class Simple(ABC):
    """A congestion control that the engine runs and that is a few numbers. A subclass is a frozen dataclass of them.

    Attributes:
        kind: names it on the command line and in policy files.
        title: in a sentence.
        example: how the command line names it, with the unit of a number.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    example: ClassVar[str]

    @classmethod
    def named(cls, text: str) -> Self:
        """Return the one that a name with this text after the colon means.

        Raises:
            InputError: the text is none that it takes.
        """
        if text:
            raise InputError(f"{cls.kind} takes no number; write {cls.kind!r}")
        return cls()

    @abstractmethod
    def compile(self) -> _core.Policy:
        """Return the engine's form."""

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals that it looks at; those of the network come exactly and free unless its packets have a header."""
        return ()

    def equipped(self, header: Stamping) -> Stamping:
        """Return a header, which carries its signals, whose hops do what this policy needs of them."""
        return header

    @abstractmethod
    def lines(self) -> list[str]:
        """Return what it does, for people."""

    @classmethod
    def number_of(cls, text: str, made: Callable[[str], N]) -> N:
        """Return the number after the colon.

        Raises:
            InputError: it is none.
        """
        example, _, unit = cls.example.partition(" ")
        try:
            return made(text[:60])
        except ValueError as error:
            raise InputError(f"a number of {unit[1:-1]} is needed after the colon, as in {example!r}") from error

    def set_float(self, name: str, low: float, high: float) -> None:
        """Check a parameter and make it a float, so that equal policies have equal files.

        Raises:
            InputError: it is no number or out of range.
        """
        value = getattr(self, name)
        check_within(name, value, low, high)
        object.__setattr__(self, name, float(value))


def check_within(name: str, value: float, low: float, high: float) -> None:
    """Raise `InputError` unless a value is a number from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name}: must be a number, got {value!r:.60}")
    if math.isnan(value) or not low <= value <= high:
        raise InputError(f"{name}: must be between {low:g} and {high:g}, got {value!r:.60}")


def digits(value: float) -> str:
    """Return a number as people read it."""
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


@dataclass(frozen=True)
class FixedWindow(Simple):
    """A constant window and no pacing.

    Attributes:
        window: packets, at least 1.

    Raises:
        InputError: a window that is no whole number from 1 to `LARGEST_WINDOW`.
    """

    kind: ClassVar[str] = "fixed-window"
    title: ClassVar[str] = "fixed window"
    example: ClassVar[str] = "fixed-window:20 (packets)"

    window: int

    def __post_init__(self) -> None:
        """Check the window."""
        if isinstance(self.window, bool) or not isinstance(self.window, int):
            raise InputError(f"window: must be a whole number of packets, got {self.window!r:.60}")
        check_within("window", self.window, 1, LARGEST_WINDOW)

    @classmethod
    def named(cls, text: str) -> FixedWindow:
        """See `Simple`."""
        return cls(cls.number_of(text, integer))

    def compile(self) -> _core.Policy:
        """See `Simple`."""
        return _core.Policy.fixed_window(self.window)

    def lines(self) -> list[str]:
        """See `Simple`."""
        return [f"window = {self.window} packets, unpaced"]


@dataclass(frozen=True)
class FixedRate(Simple):
    """A constant sending rate and no window: an open loop.

    Attributes:
        rate: packets/µs, more than 0.

    Raises:
        InputError: a rate that is not a positive finite number.
    """

    kind: ClassVar[str] = "fixed-rate"
    title: ClassVar[str] = "fixed rate"
    example: ClassVar[str] = "fixed-rate:0.5 (packets/µs)"

    rate: float

    def __post_init__(self) -> None:
        """Check the rate."""
        self.set_float("rate", 1e-9, 1e9)

    @classmethod
    def named(cls, text: str) -> FixedRate:
        """See `Simple`."""
        return cls(cls.number_of(text, real))

    def compile(self) -> _core.Policy:
        """See `Simple`."""
        return _core.Policy.fixed_rate(self.rate)

    def lines(self) -> list[str]:
        """See `Simple`."""
        return [f"one packet each {digits(1 / self.rate)} µs ({digits(self.rate)} packets/µs), no window"]


@dataclass(frozen=True)
class Aimd(Simple):
    """Additive increase, multiplicative decrease, after a slow start, unpaced: NewReno's window (RFC 6582).

    Attributes:
        increase: packets per RTT.
        decrease: factor of the window at a loss, at most once per window.
        initial_window: packets.

    Raises:
        InputError: a parameter that is no number or out of range.
    """

    kind: ClassVar[str] = "aimd"
    title: ClassVar[str] = "AIMD"
    example: ClassVar[str] = "aimd"

    increase: float = 1.0
    decrease: float = 0.5
    initial_window: float = 2.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        self.set_float("increase", 1e-9, LARGEST_WINDOW)
        self.set_float("decrease", 0.001, 0.999)
        self.set_float("initial_window", 1, LARGEST_WINDOW)

    def compile(self) -> _core.Policy:
        """See `Simple`."""
        return _core.Policy.aimd(self.increase, self.decrease, self.initial_window)

    def lines(self) -> list[str]:
        """See `Simple`."""
        return [
            f"window = {digits(self.initial_window)} packets at first, + 1 per acknowledgement until the first loss",
            f"then + {digits(self.increase)} per RTT, × {digits(self.decrease)} at a loss; unpaced",
        ]
