"""What runs a policy on a fabric."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import star
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.policies.hand_designed import HandDesigned
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.switches.transports import TRANSPORTS, Transport


def engine_of(policy: Policy, settings: FabricSettings) -> FabricEngine:
    """Return what runs a policy on a fabric with these settings.

    Raises:
        InputError: it runs in ns-3 only.
    """
    if isinstance(policy, Transport):
        marked = settings if policy.marker is None else replace(settings, marker=policy.marker)
        return FabricEngine(policy.name, policy.parameters, marked, policy.tuner)
    if isinstance(policy, HandDesigned):
        raise InputError(f"{policy.name}: runs in ns-3 only; a fabric has {', '.join(TRANSPORTS)}")
    return FabricEngine(policy, settings=settings)


def require_transport(transport: Transport) -> None:
    """Check that an engine takes a transport with these parameters, by one packet between two hosts.

    Raises:
        InputError: a parameter is out of its range, or some do not go together.
    """
    flow = FabricFlows(np.array([0]), np.array([1]), np.array([1]), np.array([0.0]))
    engine_of(transport, FabricSettings()).run(star(2), flow, horizon_ns=1e6)
