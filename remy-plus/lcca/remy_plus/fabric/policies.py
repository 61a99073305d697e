"""What a fabric runs by its name: a transport with parameters, or a file of a learnt policy."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from lcca.inputs.class_names import ClassName
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import star
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.fabric.transports import TRANSPORTS, Transport, is_transport, named_transport
from lcca.remy_plus.files import dna, policyfile
from lcca.remy_plus.files.policyfile import PolicyFile
from lcca.remy_plus.policies.hand_designed import Classical
from lcca.remy_plus.policies.pacing import Pacing
from lcca.remy_plus.policies.policy import Policy, is_baseline


def load_for_fabric(name: str, pacing: Pacing | None = None, int_signals: dna.IntSignals = "smoothed") -> PolicyFile:
    """Return the transport of a name such as ``dcqcn:increase_us=55`` or ``dctcp@pred``, or a file of a policy.

    Names of transports come before those of policies elsewhere: ``dctcp`` is the fabric's.

    Args:
        name: of the transport or the file.
        pacing: what pacing means in a ``.dna`` file.
        int_signals: which queue and link signals the axes of a ``.dna`` file are.

    Raises:
        InputError: neither, or a file or parameter that cannot be.
    """
    if is_transport(name):
        return PolicyFile(named_transport(name))
    if not is_baseline(name) and not Path(name).is_file() and not ClassName.of(name):
        known = ", ".join(TRANSPORTS)
        raise InputError(f"{name[:60]!r}: neither a transport ({known}) nor the file of a policy")
    return policyfile.load(name, pacing, int_signals)


def engine_of(policy: Policy, settings: FabricSettings) -> FabricEngine:
    """Return what runs a policy on a fabric with these settings.

    Raises:
        InputError: it runs in ns-3 only.
    """
    if isinstance(policy, Transport):
        marked = settings if policy.marker is None else replace(settings, marker=policy.marker)
        return FabricEngine(policy.name, policy.parameters, marked, policy.tuner)
    if isinstance(policy, Classical):
        raise InputError(f"{policy.name}: runs in ns-3 only; a fabric has {', '.join(TRANSPORTS)}")
    return FabricEngine(policy, settings=settings)


def models_named(names: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of what a tuner has learnt, for each name of a transport with such a tuner."""
    named = {name: named_transport(name).tuner for name in names if "@" in name and is_transport(name)}
    models = {name: tuner.model for name, tuner in named.items() if tuner is not None}
    return {name: hashlib.sha256(model.dumps()).hexdigest() for name, model in models.items() if model is not None}


def require_transport(transport: Transport) -> None:
    """Check that an engine takes a transport with these parameters, by one packet between two hosts.

    Raises:
        InputError: a parameter is out of its range, or some do not go together.
    """
    flow = FabricFlows(np.array([0]), np.array([1]), np.array([1]), np.array([0.0]))
    engine_of(transport, FabricSettings()).run(star(2), flow, horizon_ns=1e6)
