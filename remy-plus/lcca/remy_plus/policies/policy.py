"""Policies: what drives a sender.

A rule table, a trained network, or something to hold them against: three simple ones, and classical ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from lcca.inputs.errors import InputError, about, did_you_mean
from lcca.remy_plus.policies.families import CLASSICAL
from lcca.remy_plus.policies.hand_designed import Classical, classical
from lcca.remy_plus.policies.mlp import MlpPolicy
from lcca.remy_plus.policies.rules import RuleTable
from lcca.remy_plus.stamping import Stamping

LARGEST_WINDOW = 1_000_000
"""Packets; R+ clamps every window to it."""

BASELINES = ("aimd", "fixed-window", "fixed-rate", *CLASSICAL)

N = TypeVar("N", int, float)


@dataclass(frozen=True)
class FixedWindow:
    """A constant window and no pacing.

    Attributes:
        window: packets, at least 1.

    Raises:
        InputError: a window that is no whole number from 1 to `LARGEST_WINDOW`.
    """

    window: int

    def __post_init__(self) -> None:
        """Check the window."""
        if isinstance(self.window, bool) or not isinstance(self.window, int):
            raise InputError(f"window: must be a whole number of packets, got {self.window!r:.60}")
        _within("window", self.window, 1, LARGEST_WINDOW)


@dataclass(frozen=True)
class FixedRate:
    """A constant sending rate and no window: an open loop.

    Attributes:
        rate: packets/µs, more than 0.

    Raises:
        InputError: a rate that is not a positive finite number.
    """

    rate: float

    def __post_init__(self) -> None:
        """Check the rate."""
        _set_float(self, "rate", 1e-9, 1e9)


@dataclass(frozen=True)
class Aimd:
    """Additive increase, multiplicative decrease, after a slow start, unpaced: NewReno's window (RFC 6582).

    Attributes:
        increase: packets per RTT.
        decrease: factor of the window at a loss, at most once per window.
        initial_window: packets.

    Raises:
        InputError: a parameter that is no number or out of range.
    """

    increase: float = 1.0
    decrease: float = 0.5
    initial_window: float = 2.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        _set_float(self, "increase", 1e-9, LARGEST_WINDOW)
        _set_float(self, "decrease", 0.001, 0.999)
        _set_float(self, "initial_window", 1, LARGEST_WINDOW)


@dataclass(frozen=True)
class WithHeader:
    """A policy, and the header that its packets carry.

    Attributes:
        policy: any but a classical congestion control.
        stamping: the header; its bytes are charged on the policy's packets, and its signals are all that the policy
            sees of the network.

    Raises:
        InputError: the policy uses an in-network signal that the header does not carry, or cannot have a header.
    """

    policy: RuleTable | MlpPolicy | FixedWindow | FixedRate | Aimd
    stamping: Stamping

    def __post_init__(self) -> None:
        """Check that the two fit."""
        if not isinstance(self.policy, RuleTable | MlpPolicy | FixedWindow | FixedRate | Aimd):
            raise InputError(f"a {type(self.policy).__name__} cannot have a header of its own")
        if isinstance(self.policy, RuleTable | MlpPolicy):
            self.stamping.require(self.policy.signals)


Policy: TypeAlias = RuleTable | MlpPolicy | FixedWindow | FixedRate | Aimd | Classical | WithHeader


def with_header(policy: Policy, stamping: Stamping | None) -> Policy:
    """Return the policy with the header, or as it is if there is none.

    Raises:
        InputError: as `WithHeader`, or the policy has one already.
    """
    if stamping is None:
        return policy
    if isinstance(policy, Classical | WithHeader):
        raise InputError(f"a {type(policy).__name__} cannot have a header of its own")
    return WithHeader(policy, stamping)


def baseline(name: str) -> FixedWindow | FixedRate | Aimd | Classical:
    """Return the policy named ``aimd``, ``fixed-window:20`` (packets), ``fixed-rate:0.5`` (packets/µs), or classical.

    Classical ones are named as in ``bbr`` or ``vegas:alpha=2,beta=4``.

    Raises:
        InputError: an unknown name or parameter (with a suggestion), or a value that is missing or out of range.
    """
    kind, colon, number = name.partition(":")
    with about(f"baseline {name[:60]!r}"):
        if kind == "aimd":
            return _aimd(colon)
        if kind == "fixed-window":
            return FixedWindow(_number(number, int, "fixed-window:20", "packets"))
        if kind == "fixed-rate":
            return FixedRate(_number(number, float, "fixed-rate:0.5", "packets/µs"))
        if kind in CLASSICAL:
            return classical(name)
    raise InputError(f"unknown baseline {name[:60]!r}{did_you_mean(kind, BASELINES)}")


def is_baseline(name: str) -> bool:
    """Tell whether a name means a baseline and not a file."""
    return name.partition(":")[0] in BASELINES


def _aimd(colon: str) -> Aimd:
    if colon:
        raise InputError("aimd takes no number; write 'aimd'")
    return Aimd()


def _number(text: str, kind: Callable[[str], N], example: str, unit: str) -> N:
    try:
        return kind(text[:60])
    except ValueError as error:
        raise InputError(f"a number of {unit} is needed after the colon, as in {example!r}") from error


def _set_float(policy: object, name: str, low: float, high: float) -> None:
    """Check a parameter and make it a float, so that equal policies have equal files."""
    value = getattr(policy, name)
    _within(name, value, low, high)
    object.__setattr__(policy, name, float(value))


def _within(name: str, value: float, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name}: must be a number, got {value!r:.60}")
    if math.isnan(value) or not low <= value <= high:
        raise InputError(f"{name}: must be between {low:g} and {high:g}, got {value!r:.60}")
