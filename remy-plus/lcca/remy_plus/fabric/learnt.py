"""Learnt policies on a fabric: in the engine's form, and what they are told of the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.signals import CARRIED
from lcca.remy_plus.engine import compile_policy
from lcca.remy_plus.fabric.headers import on_fabric
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.policies.policy import Policy, WithHeader
from lcca.remy_plus.policies.rules import RuleTable

HOPS = {"queue", "link", "queue_ewma", "link_ewma", "available_capacity", "available_capacity_ewma"}
"""Signals that the stamps of a fabric's hops tell."""

UNTOLD = {"one_way_ratio"}
"""Signals that a fabric does not tell its senders at all."""

NOT_TOLD = set(CARRIED) - HOPS | UNTOLD
"""Signals that a fabric does not tell its senders without a header."""


@dataclass(frozen=True)
class Compiled:
    """A learnt policy in the engine's form.

    Attributes:
        policy: with its header, if it has one.
        looks_at_hops: whether packets bring it the stamps of hops.
        keep_every: of a rule table one look-up in so many is kept; 0 for none.
    """

    policy: _core.Policy
    looks_at_hops: bool = False
    keep_every: int = 0


def compiled(policy: Policy, settings: FabricSettings) -> Compiled:
    """Return a policy in the engine's form, for a fabric with these settings.

    Raises:
        InputError: it asks for what the fabric does not tell, or its header for what ports cannot write.
    """
    if isinstance(policy, WithHeader):
        _require_told(_seen(policy.policy), UNTOLD)
        return Compiled(compile_policy(on_fabric(policy, settings)))
    seen = _seen(policy)
    _require_told(seen, NOT_TOLD)
    return Compiled(compile_policy(policy), bool(HOPS.intersection(seen)))


def _require_told(signals: Sequence[str], missing: set[str]) -> None:
    """Check that a policy looks at nothing that it is not told."""
    if found := [name for name in signals if name in missing]:
        told = f"without a header it tells {', '.join(sorted(HOPS))} of the network"
        raise InputError(f"policy: the fabric does not tell {', '.join(found)}; {told}")


def _seen(policy: Policy) -> tuple[str, ...]:
    return policy.seen if isinstance(policy, RuleTable) else getattr(policy, "signals", ())
