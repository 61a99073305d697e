"""What of the vocabulary the simulators cannot do."""

from __future__ import annotations

from lcca.inputs.errors import InputError
from lcca.signal_sets.headers.field import HeaderField
from lcca.signal_sets.headers.header import Header

UNKNOWN_SOURCES = {
    "port_in": "hops of the simulators do not number their ports",
    "port_out": "hops of the simulators do not number their ports",
    "node_id": "hops of the simulators have no numbers that a sender could use",
    "qid": "ports have one queue",
    "buf_bytes": "ports have buffers of their own",
    "arrival_slack": "Bolt's supply tokens are not simulated",
    "pru_tokens": "Bolt's ramp-up tokens are not simulated",
    "host_ts": "the sender's clock is no hop's",
    "ttl": "packets of the simulators have no time to live",
}
"""Sources that hops of the simulators cannot write, each with the reason; headers may have them all the same, as long
as no signal depends on them."""


REASONS = {
    "switch_reply": "hops send no packets of their own",
    "reflect.via": "receivers send acknowledgements, and no notifications (cnp) beside them",
}


def not_simulated(header: Header) -> tuple[str, ...]:
    """Return the parts of a header that may be declared and are not simulated, by their keys."""
    cnp = header.reflect is not None and header.reflect.via == "cnp"
    return tuple(key for key, declared in zip(REASONS, (header.switch_reply is not None, cnp), strict=True) if declared)


def require_simulated(header: Header) -> None:
    """Check that the simulators can do all that a header declares; simulators call it before they start.

    Raises:
        InputError: it declares more; the message names what, and the reason.
    """
    for key in not_simulated(header):
        raise InputError(f"header {header.name}: {key} is not simulated yet ({REASONS[key]}); leave it out")


def require_simulated_source(header: Header, field: HeaderField) -> None:
    """Check that hops of the simulators know all that a field needs.

    Raises:
        InputError: they do not; the message names field, source and reason.
    """
    names = {field.source} | {n for formula in (field.formula, field.condition) if formula for n in formula.names}
    for name in sorted(names & set(UNKNOWN_SOURCES)):
        raise InputError(f"header {header.name}: field {field.name}: {name} is not simulated: {UNKNOWN_SOURCES[name]}")
    for name in sorted(names & {"util", "abw", "abw_over_c"}):
        if field.measure.at == "enqueue":
            raise InputError(
                f"header {header.name}: field {field.name}: {name} is measured as packets leave: at dequeue"
            )
    if field.measure.window == "counter" and "tx_bytes" not in names:
        raise InputError(f"header {header.name}: field {field.name}: only tx_bytes is a counter; choose another window")
