"""Headers of the catalogue on a fabric: in the fabric's packets, and what its ports cannot write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.stamping import StampedField
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.policies.policy import WithHeader

_UNKNOWN = {"flows": "ports of a fabric do not know when a flow ends"}
"""Sources that ports never have, each with the reason."""

_LATER = {
    "qdelay": "how long a packet will wait",
    "hop_delay": "how long a packet will wait",
    "ts_out": "when a packet will leave",
}
"""Sources that a port has as a packet leaves: a pause may come."""

_MARK_MOMENT = "the fabric marks at dequeue; set switch.mark_at: enqueue"


def on_fabric(policy: WithHeader, settings: FabricSettings) -> WithHeader:
    """Return the policy with its header in the fabric's packets.

    A packet of the header's numbers is a full data packet with the time of sending, without the header.

    Raises:
        InputError: the header needs what a port of the fabric does not know; names header, field, source and reason.
    """
    header = policy.stamping
    if header.plain:
        raise InputError(
            f"header {header.name}: a fabric tells senders nothing without bytes; give it one that has some"
        )
    for field in header.fields:
        for source in _sources(field):
            if reason := _missing(source, field, settings):
                raise InputError(f"header {header.name}: field {field.name}: {source} is not on a fabric: {reason}")
    packet_bytes = settings.payload_bytes + settings.overhead_bytes + _core.FABRIC_SENT_TIME_BYTES
    return replace(policy, stamping=replace(header, packet_bytes=packet_bytes))


def _sources(field: StampedField) -> Iterator[str]:
    """Yield what a hop measures for a field."""
    if field.writes:
        yield field.source
        yield from (str(name) for kind, name in (*field.formula, *field.when) if kind == "source")


def _missing(source: str, field: StampedField, settings: FabricSettings) -> str:
    """Return why a port cannot write what the field asks for; empty if it can."""
    if source in _UNKNOWN:
        return _UNKNOWN[source]
    if field.at == "enqueue" and source in _LATER:
        return f"as a packet joins a queue, its port does not know {_LATER[source]}; measure at dequeue"
    if field.at == "enqueue" and source == "mark" and settings.mark_at_dequeue:
        return _MARK_MOMENT
    return ""
