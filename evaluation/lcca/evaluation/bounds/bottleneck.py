"""The one link that all senders that count must share, to which the ideals' program comes down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError
from lcca.remy_plus.network import Network
from lcca.remy_plus.topology import Layout, layout

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Bottleneck:
    """The link that everything passes.

    Attributes:
        rate: packets/µs that arrive at most, what is lost at random left out.
        service_us: of one packet.
        round_trip_us: of a lone packet, from sending to its acknowledgement.
        lead_us: (senders,) from sending to the link, for a lone packet.
        waiting: packets of one sender that queues up to this link hold at most.
    """

    rate: float
    service_us: float
    round_trip_us: float
    lead_us: Floats
    waiting: float


def bottleneck(network: Network, ack_size: float) -> Bottleneck:
    """Return the link that all measured senders share, and which therefore limits them all: every link is as fast.

    On the line it is the middle one: each constraint Σ rates ≤ C of another link follows from it. Senders on the way
    back load it with acknowledgements, which are left out: it can only do better.

    Raises:
        InputError: senders that do not count take part of every link, so the best allocation would silence them; or
            the network has open flows.
    """
    if network.open_flows is not None:
        raise InputError(f"network {network.id}: there is no bound for open flows, only for senders that come and go")
    topology, service = network.topology, 1 / network.link_rate
    if topology.plain:
        lead, hops, services = np.zeros(network.senders), 1, 1.0
    else:
        laid = layout(network, topology)
        lead, hops = _leads(laid, network), topology.hops(network.senders)
        services = hops * (1 + ack_size)
    return Bottleneck(
        rate=network.link_rate * (1 - network.loss),
        service_us=service,
        round_trip_us=network.rtt + services * service,
        lead_us=lead,
        waiting=hops * (network.buffer + 1),
    )


def _leads(laid: Layout, network: Network) -> Floats:
    """Return how long a lone packet of each measured sender takes to the link that they share."""
    counted = [route.forward for route in laid.routes if route.measured]
    others = {link for route in laid.routes if not route.measured for link in route.forward}
    shared = set.intersection(*map(set, counted)) - others
    if not shared:
        raise InputError(
            f"network {network.id}: there is no bound on topology {network.topology.kind}, where senders that do not "
            "count load every link; use dumbbell, line or reverse-path"
        )
    link = min(shared)
    hop = laid.links[link].delay + 1 / network.link_rate
    return np.array([forward.index(link) * hop for forward in counted])
