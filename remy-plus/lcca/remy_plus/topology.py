"""Topologies: which links there are and who sends over them (§4.2 and Fig. 2 of the paper).

`layout` lays the links and routes of one around a network, the same for every simulator. Every router-router link has
the network's rate and buffer, every measured sender its propagation RTT, and host links change nothing. The network's
senders come first, so that they meet the same on/off times under every topology; senders that only load the links
follow them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, Protocol, get_args

from lcca.inputs.assignments import assignments
from lcca.inputs.errors import InputError, did_you_mean, shown

TopologyKind = Literal["dumbbell", "line", "multi-bottleneck", "reverse-path"]
KINDS: tuple[TopologyKind, ...] = get_args(TopologyKind)


@dataclass(frozen=True)
class Topology:
    """Which links there are and who sends over them.

    Attributes:
        kind: "dumbbell" (one bottleneck), "line" (routers in a row, half of them with the senders' hosts, half with
            the receivers'), "multi-bottleneck" (a line with one more flow across each link) or "reverse-path" (a
            dumbbell with further senders on the way back).
        hosts_per_router: hosts at each router of a line: 1 for the longest one, `senders` for a dumbbell.
        reverse_senders: how many senders there are on the way back per sender (the paper has 2).
        one_way: in-network signals are locked at the receiver instead of being collected on the way back too.
        stamping: share of the directed links whose ports write into what packets carry, drawn for each network; the
            others leave it as it is.

    Raises:
        InputError: a value that no topology has.
    """

    kind: TopologyKind = "dumbbell"
    hosts_per_router: int = 1
    reverse_senders: int = 2
    one_way: bool = False
    stamping: float = 1.0

    @classmethod
    def of(cls, value: object) -> Topology:
        """Return the topology that a text (`line`, `reverse-path:one_way,reverse_senders=3`) or a mapping names.

        Raises:
            InputError: it names none.
        """
        if isinstance(value, cls):
            return value
        options: object = value
        if isinstance(value, str):
            kind, _, rest = value.partition(":")
            options = {"kind": kind} | {name: _value(text or "") for _, name, text in assignments(rest)}
        if not isinstance(options, Mapping):
            raise InputError(f"topology: must be a name or a mapping with kind, got {value!r:.60}")
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise InputError(f"topology: unknown option {name!r:.60}{did_you_mean(name, known)}")
        return cls(**options)

    def __post_init__(self) -> None:
        """Check the values."""
        if self.kind not in KINDS:
            raise InputError(f"topology: unknown kind {shown(self.kind)}{did_you_mean(self.kind, KINDS)}")
        for name in ("hosts_per_router", "reverse_senders"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"topology: {name} must be a whole number >= 1, got {shown(value)}")
        if not isinstance(self.one_way, bool):
            raise InputError(f"topology: one_way must be true or false, got {self.one_way!r:.60}")
        share: object = self.stamping
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise InputError(f"topology: stamping must be a share from 0 to 1, got {share!r:.60}")
        if self.stamping < 1 and self.plain:
            raise InputError("topology: stamping needs several links: line, multi-bottleneck or reverse-path")

    def __str__(self) -> str:
        """Return the text that names it: the kind, and the options that differ from their defaults."""
        options = [
            field.name if value is True else f"{field.name}={value}"
            for field in fields(self)[1:]
            if (value := getattr(self, field.name)) != field.default
        ]
        return self.kind + (":" + ",".join(options) if options else "")

    @property
    def plain(self) -> bool:
        """Whether there is one bottleneck and nothing on the way back."""
        return self.kind == "dumbbell"

    @property
    def one_bottleneck(self) -> bool:
        """Whether one link, which nobody else loads, limits all senders that count."""
        return self.kind != "multi-bottleneck"

    def hops(self, senders: int) -> int:
        """Return how many links there are between a sender that counts and its receiver."""
        return routers_of_half(senders, self) if self.kind in ("line", "multi-bottleneck") else 1

    def senders(self, measured: int) -> int:
        """Return how many senders there are in all, with so many that count."""
        match self.kind:
            case "reverse-path":
                return measured * (1 + self.reverse_senders)
            case "multi-bottleneck":
                return measured + 2 * routers_of_half(measured, self) - 1
            case _:
                return measured


DUMBBELL = Topology()
"""One bottleneck, and nothing else."""


def _value(text: str) -> object:
    words = {"": True, "true": True, "false": False}
    if text in words:
        return words[text]
    number = re.fullmatch(r"(\d{1,9})(\.\d{1,9})?", text, re.ASCII)
    return text if number is None else float(text) if number[2] else int(text)


def routers_of_half(senders: int, topology: Topology) -> int:
    """Return the number of routers on the senders' half of a line."""
    return -(-senders // topology.hosts_per_router)


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


class Ends(Protocol):
    """What a topology is laid out around: senders, and how fast, far and deep their bottleneck is (see `Network`)."""

    @property
    def senders(self) -> int:
        """Number of them."""

    @property
    def link_rate(self) -> float:
        """In packets/µs."""

    @property
    def rtt(self) -> float:
        """In µs."""

    @property
    def buffer(self) -> float:
        """In packets."""


def layout(network: Ends, topology: Topology) -> Layout:
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


def _along(network: Ends, topology: Topology) -> list[Route]:
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


def _row(network: Ends, routers: int, routes: list[Route]) -> Layout:
    """Lay routers out in a row, such that the longest routes have the network's RTT."""
    hops = max(len(route.forward) for route in routes)
    delay = network.rtt / 2 / hops
    ends = [end for r in range(routers - 1) for end in ((r, r + 1), (r + 1, r))]
    links = tuple(Link(tail, head, network.link_rate, delay, network.buffer) for tail, head in ends)
    return Layout(routers, links, tuple(routes))
