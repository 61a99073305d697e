"""Hand-designed congestion controls in ns-3: from a policy's parameters to the plan of a trial."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lcca.inputs.errors import require
from lcca.remy_plus import _core

if TYPE_CHECKING:
    from lcca.remy_plus.network import Network
    from lcca.remy_plus.policies.hand_designed import HandDesigned
    from lcca.remy_plus.policies.tunables import Parameter, Value

LEAST_MARK_THRESHOLD = 10
"""Packets; below, bursts of an initial window alone are marked."""

_HIGH = {"none": 0.0, "link": 0.95, "queue": 10.0, "rtt": 1.1}
_LOW = {"none": 0.0, "link": 0.9, "queue": 0.0, "rtt": 1.05}
_PROBE_RTT = {"none": -1.0, "link": 0.95, "queue": 0.0, "rtt": 1.05}
_NEVER, _ALWAYS = "1e300", "-1"


LONGEST_RTT_S = 10.0
"""Of a network in ns-3 with a hand-designed congestion control."""


def with_hand_designed(plan: Mapping[str, Any], policy: HandDesigned, network: Network) -> dict[str, Any]:
    """Return the plan of a trial with a hand-designed congestion control in it.

    The policy's time scale, initial window and smallest RTO take the place of the plan's; DCTCP brings its queue, which
    marks by a step or by the marker that is named with it.

    Args:
        plan: as `lcca.gym_envs.ns3.plan.trial_plan` returns it, for any policy.
        policy: what drives the senders.
        network: that the plan is for.

    Raises:
        InputError: the network's RTT would be longer than `LONGEST_RTT_S`: it is in ms as it stands.
    """
    options = dict(plan["options"])
    scale = options["time_scale"] = policy.number("time_scale")
    seconds = network.rtt * scale / 1e6
    require(
        seconds <= LONGEST_RTT_S,
        f"network {network.id}: {policy.name} takes ms for µs (its time_scale is {scale:g}), so that an rtt of "
        f"{network.rtt:g} µs is one of {seconds:g} s: write {policy.name}:time_scale=1",
    )
    options["min_rto"] = policy.number("min_rto")
    options["initial_window"] = int(policy.number("initial_window"))
    made = {**plan, "policy": ("stock", control(policy, network)), "options": options}
    if policy.marker is not None:
        made |= {"queue": "marker", "marker": (policy.marker.kind, dict(policy.marker.parameters))}
    elif policy.name == "dctcp":
        made |= {"queue": "red", "queue_attributes": step_marking(bounded_threshold(policy, network))}
    return made


def step_marking(threshold: float) -> dict[str, str]:
    """Return what makes ns3::RedQueueDisc mark every packet that finds at least `threshold` packets waiting.

    "Gentle" must be off: with it the probability rises from 2 % at the threshold to 1 at twice the threshold.
    """
    at = f"{threshold:g}"
    words = {"UseEcn": "true", "UseHardDrop": "false", "Gentle": "false"}
    return {"MinTh": at, "MaxTh": at, "QW": "1", **words}


def bounded_threshold(policy: HandDesigned, network: Network) -> float:
    """Return where TCP's packets are marked: the policy's own threshold, or the engine's K within bounds, in packets.

    The engine's K (`_core.dctcp_threshold`) is what headers measure by, and has no bounds. Here TCP lives by the marks:
    K is at least 10, below which bursts of an initial window alone are marked, and at most half the buffer, so that
    queues mark before they drop.
    """
    name = "mark_threshold" if policy.name == "dctcp" else "threshold"
    if policy.parameters[name] != "auto":
        return policy.number(name)
    k = max(LEAST_MARK_THRESHOLD, math.ceil(_core.dctcp_threshold(network.link_rate, network.rtt)))
    return max(min(k, network.buffer / 2), 2.0)


def control(policy: HandDesigned, network: Network) -> dict[str, Any]:
    """Return what ns-3 runs for a hand-designed congestion control, as the plan of a trial has it."""
    signal = policy.parameters.get("signal")
    own = (p for p in policy.family.parameters if p.attribute and "::" not in p.attribute)
    return {
        "type": "ns3::TcpBbr" if policy.parameters.get("as_in_ns3") else policy.family.type,
        "attributes": {p.attribute: _WORDS.get(p.name, _plain)(p, policy) for p in own},
        "ecn": policy.family.ecn,
        "timestamps": policy.family.timestamps,
        "needs_queue": signal == "queue",
        "needs_link": signal == "link",
        "stock_rates": bool(policy.parameters.get("as_in_ns3")),
        "congested": (signal, _congested(policy, network)) if policy.name == "dctcp-prime" else None,
    }


def _congested(policy: HandDesigned, network: Network) -> float:
    """Return where congestion begins for DCTCP′, in the signal's unit."""
    signal, threshold = policy.parameters["signal"], policy.parameters["threshold"]
    if threshold == "auto" and signal != "queue":
        return 0.95 if signal == "link" else 1 + _core.DCTCP_LAMBDA
    return bounded_threshold(policy, network)


def _plain(parameter: Parameter, policy: HandDesigned) -> str:
    """Return the value of an attribute as ns-3 reads it."""
    value = policy.parameters[parameter.name]
    if parameter.unit == "µs":
        return f"{round(policy.number(parameter.name) * policy.number('time_scale') * 1000)}ns"
    return str(value).lower() if isinstance(value, bool) else _text(value)


def _text(value: Value) -> str:
    return value if isinstance(value, str) else repr(value)


def _by_signal(automatic: Mapping[str, float], off: str) -> Callable[[Parameter, HandDesigned], str]:
    def text(parameter: Parameter, policy: HandDesigned) -> str:
        value = policy.parameters[parameter.name]
        if value == "auto":
            return repr(automatic[str(policy.parameters["signal"])])
        return off if value == "off" else _text(value)

    return text


_WORDS: dict[str, Callable[[Parameter, HandDesigned], str]] = {
    "hystart_detect": lambda parameter, policy: str(policy.parameters[parameter.name]).upper().replace("-", "_"),
    "high": _by_signal(_HIGH, _ALWAYS),
    "low": _by_signal(_LOW, _NEVER),
    "startup_exit": _by_signal({}, _NEVER),
    "drain_exit": _by_signal({}, _NEVER),
    "probe_rtt_above": _by_signal(_PROBE_RTT, _ALWAYS),
}
