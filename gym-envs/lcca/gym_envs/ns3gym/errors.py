"""What can go wrong between the two ends, apart from bad input of our own user (`InputError`)."""

from __future__ import annotations


class Ns3GymError(RuntimeError):
    """The conversation with the other end failed; the episode is over, and the next reset starts afresh."""


class ProtocolError(Ns3GymError):
    """The other end sent something that the protocol does not allow here."""


class PeerLost(Ns3GymError, TimeoutError):
    """The other end said nothing in time, closed its connection, or its process ended."""


class ConnectionClosed(PeerLost):
    """The other end closed its connection."""
