"""The links and routes of a topology around a network, the same for every simulator.

Every router-router link has the network's rate and buffer, every measured sender its propagation RTT, and host links
change nothing. The network's senders come first, so that they meet the same on/off times under every topology; senders
that only load the links follow them.
"""

from __future__ import annotations

from dataclasses import dataclass

from lcca.remy_plus.network import Network
from lcca.remy_plus.topology import Topology, routers_of_half


@dataclass(frozen=True)
class Link:
    """One direction of a router-router link; the other direction is its neighbour in the list (index ^ 1).

    Attributes:
        tail: router it leaves.
        head: router it enters.
        rate: packets/µs.
        delay: one-way propagation in µs.
        buffer: packets that may wait, the one in service not counted; `math.inf` for no limit.
    """

    tail: int
    head: int
    rate: float
    delay: float
    buffer: float


@dataclass(frozen=True)
class Route:
    """The way of one sender's packets and of their acknowledgements.

    Attributes:
        forward: indices of links from sender to receiver.
        backward: indices of links from receiver to sender.
        measured: whether the sender counts; those that do not only load the links.
    """

    forward: tuple[int, ...]
    backward: tuple[int, ...]
    measured: bool = True


@dataclass(frozen=True)
class Layout:
    """Routers 0 to `routers` − 1, links in pairs of directions, and a route per sender, measured ones first."""

    routers: int
    links: tuple[Link, ...]
    routes: tuple[Route, ...]

    @property
    def measured(self) -> int:
        """Number of senders that count."""
        return sum(route.measured for route in self.routes)


def layout(network: Network, topology: Topology) -> Layout:
    """Return the links and routes of a topology around a network."""
    match topology.kind:
        case "dumbbell":
            return _row(network, 2, [_across(0, 1)] * network.senders)
        case "reverse-path":
            back = [_across(1, 0, measured=False)] * (network.senders * topology.reverse_senders)
            return _row(network, 2, [_across(0, 1)] * network.senders + back)
        case "line":
            return _row(network, 2 * routers_of_half(network.senders, topology), _along(network, topology))
        case "multi-bottleneck":
            routers = 2 * routers_of_half(network.senders, topology)
            crossing = [_across(r, r + 1, measured=False) for r in range(routers - 1)]
            return _row(network, routers, _along(network, topology) + crossing)


def _along(network: Network, topology: Topology) -> list[Route]:
    """Routes of a line: every sender has as many hops to its receiver, and all meet on the middle link."""
    half = routers_of_half(network.senders, topology)
    return [
        _across(i // topology.hosts_per_router, i // topology.hosts_per_router + half) for i in range(network.senders)
    ]


def _across(first: int, last: int, measured: bool = True) -> Route:
    """Return the route along a row of routers; link 2r goes from r to r + 1, and 2r + 1 back."""
    if first < last:
        forward = tuple(2 * r for r in range(first, last))
    else:
        forward = tuple(2 * r + 1 for r in range(first - 1, last - 1, -1))
    return Route(forward, tuple(link ^ 1 for link in reversed(forward)), measured)


def _row(network: Network, routers: int, routes: list[Route]) -> Layout:
    """Lay routers out in a row, such that the longest routes have the network's RTT."""
    hops = max(len(route.forward) for route in routes)
    delay = network.rtt / 2 / hops
    ends = [end for r in range(routers - 1) for end in ((r, r + 1), (r + 1, r))]
    links = tuple(Link(tail, head, network.link_rate, delay, network.buffer) for tail, head in ends)
    return Layout(routers, links, tuple(routes))
