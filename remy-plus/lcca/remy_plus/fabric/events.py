"""What happens to the links of a fabric during a run: they slow down, fail and come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class LinkChange:
    """A link has another rate from a moment on.

    Attributes:
        at_ns: the moment.
        a: one end of the link.
        b: the other.
        gbps: in both directions; 0 if it is down, None for what it was built with.
        event: number of the event that it is part of; events are numbered by their begins.
    """

    at_ns: float
    a: int
    b: int
    gbps: float | None
    event: int


@dataclass(frozen=True)
class LinkEvents:
    """All that happens to links.

    As a link fails, frames on it and packets that wait for it in a switch are lost, and so are those that come to it
    until routing knows; a host keeps what waits.

    Attributes:
        changes: rising by their times.
        convergence_ns: so long after a link fails or comes back routing knows of it, if it still holds.
    """

    changes: Sequence[LinkChange]
    convergence_ns: float
