"""What of the vocabulary the simulators cannot do yet."""

from __future__ import annotations

from lcca.remy_plus.errors import InputError
from lcca.signal_sets.headers.header import Header


def not_simulated(header: Header) -> tuple[str, ...]:
    """Return the parts of a header that may be declared and are not simulated yet, by their keys."""
    return ("switch_reply",) if header.switch_reply is not None else ()


def require_simulated(header: Header) -> None:
    """Check that the simulators can do all that a header declares; simulators call it before they start.

    Raises:
        InputError: it declares more; the message names what.
    """
    if missing := not_simulated(header):
        raise InputError(f"header {header.name}: {', '.join(missing)} is not simulated yet; leave it out")
