"""Policies: what drives a sender.

A rule table, a trained network, or something to hold them against: a hand-designed congestion control.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.formulas import registered
from lcca.remy_plus.core.signals import CARRIED, OF_HOSTS
from lcca.remy_plus.core.stamping import Stamping, raw_stamping
from lcca.remy_plus.policies.agents import MlpPolicy
from lcca.remy_plus.policies.fabric_law import FabricLaw
from lcca.remy_plus.policies.path_law import PathLaw
from lcca.remy_plus.policies.rules import RuleTable, one_rule
from lcca.remy_plus.policies.simple import Aimd as Aimd
from lcca.remy_plus.policies.simple import FixedRate as FixedRate
from lcca.remy_plus.policies.simple import FixedWindow as FixedWindow
from lcca.remy_plus.policies.simple import Simple

if TYPE_CHECKING:
    from lcca.remy_plus.policies.hand_designed import HandDesigned
    from lcca.remy_plus.switches.transports import Transport


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


Policy: TypeAlias = Union[RuleTable, MlpPolicy, Simple, "HandDesigned", "Transport", WithHeader, "Mixture"]


@dataclass(frozen=True)
class Mixture:
    """Two policies side by side in every trial: a share of the senders, or of a fabric's hosts, adopts one of them.

    Which do follows from the trial alone (`chosen`): with a larger share the same ones, and more.

    Attributes:
        adopted: what adopters have.
        other: what all others have.
        share: of adopters, from 0 to 1; n senders have share · n of them, rounded up or down at random.

    Raises:
        InputError: a share that is none, or a mixture of mixtures.
    """

    adopted: Policy
    other: Policy
    share: float

    def __post_init__(self) -> None:
        """Check the share and the parts."""
        if not 0 <= self.share <= 1:
            raise InputError(f"mix: the share must be from 0 to 1, got {self.share:g}")
        if any(isinstance(each, Mixture) for each in self.parts):
            raise InputError("mix: of two policies, none of them a mixture")

    @property
    def parts(self) -> tuple[Policy, Policy]:
        """Both policies, the adopted one first."""
        return self.adopted, self.other


def with_header(policy: Policy, stamping: Stamping | None) -> Policy:
    """Return the policy with the header, or as it is if there is none.

    Raises:
        InputError: as `WithHeader`, or the policy has one already.
    """
    return policy if stamping is None else WithHeader(policy, stamping)  # type: ignore[arg-type]


def looking_at(signals: Sequence[str]) -> RuleTable | FabricLaw:
    """Return a policy that looks at signals: one rule or, where some are of hosts, a law for fabrics."""
    if not any(name in OF_HOSTS for name in signals):
        return one_rule(tuple(signals))
    return FabricLaw.of({}, inputs={name: (0.0, 0.0, 0.0) for name in signals if name in CARRIED or name in OF_HOSTS})


def pieces(policy: Any) -> tuple[Any, ...]:
    """Return what senders run, without headers: of a mixture both policies."""
    if isinstance(policy, Mixture):
        return tuple(found for each in policy.parts for found in pieces(each))
    return (policy.policy if isinstance(policy, WithHeader) else policy,)


def seen(policy: Policy) -> tuple[str, ...]:
    """Return the registered signals that a policy looks at, those of a rule table's pacing and of formulas too."""
    if isinstance(policy, WithHeader):
        return seen(policy.policy)
    if isinstance(policy, Mixture):
        return tuple(dict.fromkeys(signal for each in policy.parts for signal in seen(each)))
    if isinstance(policy, MlpPolicy):
        return policy.agent.looked_at
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
    if isinstance(policy, Mixture):
        adopted, other = (compile_policy(each, on_fabric) for each in policy.parts)
        return _core.Policy.mixture(adopted, other, policy.share)
    inner, header = (policy.policy, policy.stamping) if isinstance(policy, WithHeader) else (policy, None)
    if header is not None and header.ranks and not on_fabric:
        raise InputError(f"header {header.name}: rank is for fabrics: senders of networks do not know what is left")
    header = header or raw_stamping(seen(inner))
    compiled = inner.compile_on_fabric() if on_fabric and isinstance(inner, FabricLaw | PathLaw) else inner.compile()
    if header is None:
        return compiled
    if isinstance(inner, Simple):
        header = inner.equipped(header)
    try:
        return compiled.with_header(header.content())
    except ValueError as error:
        raise InputError(f"header {header.name}: {error}") from None
