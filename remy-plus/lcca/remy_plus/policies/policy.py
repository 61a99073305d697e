"""Policies: what drives a sender.

A rule table, a trained network, or something to hold them against: a hand-designed congestion control.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias, Union

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.formulas import registered
from lcca.remy_plus.core.stamping import Stamping, raw_stamping
from lcca.remy_plus.policies.agents import MlpPolicy
from lcca.remy_plus.policies.explicit import FairShare, Rcp, Xcp
from lcca.remy_plus.policies.fabric_law import FabricLaw
from lcca.remy_plus.policies.rules import RuleTable
from lcca.remy_plus.policies.simple import LARGEST_WINDOW, Simple, check_within, digits

if TYPE_CHECKING:
    from lcca.remy_plus.policies.hand_designed import HandDesigned
    from lcca.remy_plus.switches.transports import Transport


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
        return cls(cls.number_of(text, int))

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
        return cls(cls.number_of(text, float))

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


SIMPLE: dict[str, type[Simple]] = {each.kind: each for each in (Aimd, FixedWindow, FixedRate, FairShare, Rcp, Xcp)}
"""All that the engine has, by the names of the command line and of policy files."""


@dataclass(frozen=True)
class WithHeader:
    """A policy, and the header that its packets carry.

    Attributes:
        policy: any that the engine runs.
        stamping: the header; its bytes are charged on the policy's packets, and its signals are all that the policy
            sees of the network.

    Raises:
        InputError: the policy uses an in-network signal that the header does not carry, or cannot have a header.
    """

    policy: RuleTable | MlpPolicy | Simple
    stamping: Stamping

    def __post_init__(self) -> None:
        """Check that the two fit."""
        if not isinstance(self.policy, RuleTable | MlpPolicy | Simple):
            raise InputError(f"a {type(self.policy).__name__} cannot have a header of its own")
        self.stamping.require(seen(self.policy))


Policy: TypeAlias = Union[RuleTable, MlpPolicy, Simple, "HandDesigned", "Transport", WithHeader]


def with_header(policy: Policy, stamping: Stamping | None) -> Policy:
    """Return the policy with the header, or as it is if there is none.

    Raises:
        InputError: as `WithHeader`, or the policy has one already.
    """
    return policy if stamping is None else WithHeader(policy, stamping)  # type: ignore[arg-type]


def seen(policy: Policy) -> tuple[str, ...]:
    """Return the registered signals that a policy looks at, those of a rule table's pacing and of formulas too."""
    if isinstance(policy, WithHeader):
        return seen(policy.policy)
    return registered(policy.seen if isinstance(policy, RuleTable) else getattr(policy, "signals", ()))


def compile_policy(policy: Policy, on_fabric: bool = False) -> _core.Policy:
    """Return the engine's form of a policy, or that of the fabric.

    In-network signals that the engine does not have by itself come in a header that costs nothing and is exact, unless
    the policy has one.

    Args:
        policy: any that the engine runs.
        on_fabric: whether it is to run on a fabric, where senders know how many bytes their flows have.

    Raises:
        InputError: the rules overlap or leave signals to no rule, or the policy runs in ns-3 or on a fabric only.
    """
    inner, header = (policy.policy, policy.stamping) if isinstance(policy, WithHeader) else (policy, None)
    if header is not None and header.ranks and not on_fabric:
        raise InputError(f"header {header.name}: rank is for fabrics: senders of networks do not know what is left")
    header = header or raw_stamping(seen(inner))
    compiled = inner.compile_on_fabric() if on_fabric and isinstance(inner, FabricLaw) else inner.compile()
    if header is None:
        return compiled
    if isinstance(inner, Simple):
        header = inner.equipped(header)
    try:
        return compiled.with_header(header.content())
    except ValueError as error:
        raise InputError(f"header {header.name}: {error}") from None
