"""What people call the engine's signals: name, label and unit, in the engine's index order.

The engine's C++ header is the authority for names and order; a test compares. What a signal means, how it is
smoothed and where it is measured is told by the registry in ``lcca.signal_sets``.
"""

from __future__ import annotations

from typing import NamedTuple

SIGNAL_CEILING = 163840.0
"""Every signal lives in [0, SIGNAL_CEILING): the domain of R+'s rule trees."""


class Quantity(NamedTuple):
    """How a signal is printed: ``label`` in a sentence, ``unit`` after the number (empty for ratios)."""

    label: str
    unit: str


QUANTITIES: dict[str, Quantity] = {
    "send_ewma": Quantity("send EWMA", "µs"),
    "receive_ewma": Quantity("receive EWMA", "µs"),
    "rtt_ratio": Quantity("RTT ratio", ""),
    "slow_receive_ewma": Quantity("slow receive EWMA", "µs"),
    "rtt_difference": Quantity("RTT difference", "µs"),
    "queueing_delay": Quantity("queueing delay", "µs"),
    "loss": Quantity("loss", ""),
    "queue_ewma": Quantity("smoothed queue", "packets"),
    "link_ewma": Quantity("smoothed link utilisation", ""),
    "queue": Quantity("queue", "packets"),
    "link": Quantity("link utilisation", ""),
    "available_capacity": Quantity("available capacity", "packets/µs"),
    "available_capacity_ewma": Quantity("smoothed available capacity", "packets/µs"),
    "send_ratio": Quantity("send rate / receive rate", ""),
    "slow_receive_ratio": Quantity("slow receive rate / receive rate", ""),
    "one_way_ratio": Quantity("one-way delay ratio", ""),
    "hop_delay": Quantity("delay at a hop", "µs"),
    "queue_time": Quantity("queueing time at a hop", "µs"),
    "flows": Quantity("flows at a hop", ""),
    "mark": Quantity("share of marks", ""),
    "load": Quantity("load of a hop", ""),
}

SIGNALS: tuple[str, ...] = tuple(QUANTITIES)
"""Names of the engine's signals; a signal's position is its index in the engine. The first nine are R+'s."""

CARRIED: dict[str, str] = {
    "queue": "queue",
    "queue_ewma": "queue",
    "link": "link",
    "link_ewma": "link",
    "available_capacity": "available_capacity",
    "available_capacity_ewma": "available_capacity",
    "hop_delay": "hop_delay",
    "queue_time": "queue_time",
    "flows": "flows",
    "mark": "mark",
    "load": "load",
}
"""In-network signals, and the one that a header has to carry for each."""
