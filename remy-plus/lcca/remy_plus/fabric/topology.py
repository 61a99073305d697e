"""Which hosts and switches a fabric has, and the duplex links between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError, require
from lcca.remy_plus.fabric.events import LinkEvents

if TYPE_CHECKING:
    from lcca.inputs.tables import RowProblem

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

Link = tuple[int, int, float, float]
"""Its two ends, Gb/s and ns."""

HOST, TOR = 0, 1
"""Tiers of nodes; switches above have higher numbers."""


@dataclass(frozen=True, eq=False)
class FabricTopology:
    """Hosts, switches and duplex links. Nodes are numbered: hosts 0 to hosts − 1, then switches.

    Hosts do not forward: every link has a switch at one end, and every two hosts have a path over switches.

    Attributes:
        hosts: how many.
        switches: how many.
        a: (links,) int32, one end of each link.
        b: (links,) int32, the other.
        gbps: (links,) rate in each direction, Gb/s.
        delay_ns: (links,) propagation in each direction, ns.
        gbps_back: (links,) rate from b to a where it differs; as the other way if left out.
        events: what happens to links during a run.

    Raises:
        InputError: a link that cannot be, or hosts without a path, or an event of a link that there is not; names the
            link.
    """

    hosts: int
    switches: int
    a: Ints
    b: Ints
    gbps: Floats
    delay_ns: Floats
    gbps_back: Floats | None = None
    events: LinkEvents | None = None

    def __post_init__(self) -> None:
        """Check the links, then what they connect."""
        kinds = {"a": np.int32, "b": np.int32, "gbps": np.float64, "delay_ns": np.float64}
        for name, kind in (kinds | ({} if self.gbps_back is None else {"gbps_back": np.float64})).items():
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=kind))
        if {len(self.b), len(self.delay_ns), len(self.end_gbps) / 2} != {len(self.a)}:
            raise InputError("topology: a, b, gbps, delay_ns and gbps_back must be equally long")
        if not ((self.end_gbps > 0) & np.isfinite(self.end_gbps)).all() and self.gbps_back is not None:
            raise InputError("topology: gbps_back: must be > 0 and finite")
        links = zip(self.a.tolist(), self.b.tolist(), self.gbps.tolist(), self.delay_ns.tolist(), strict=True)
        for row, column, text in link_problems(self.hosts, self.nodes, links):
            raise InputError(f"topology: link {row} ({self.a[row]}–{self.b[row]}): {column}: {text}")
        if problem := connection_problem(self):
            raise InputError(f"topology: {problem}")
        for each in self.events.changes if self.events else ():
            require(self.link_between(each.a, each.b), f"topology: nodes {each.a} and {each.b} have no link to change")

    @property
    def nodes(self) -> int:
        """Number of hosts and switches."""
        return self.hosts + self.switches

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """The nodes at the other ends of each node's links, rising."""
        found: list[list[int]] = [[] for _ in range(self.nodes)]
        for a, b in zip(self.a.tolist(), self.b.tolist(), strict=True):
            found[a].append(b)
            found[b].append(a)
        return tuple(tuple(sorted(each)) for each in found)

    @property
    def end_gbps(self) -> Floats:
        """(2 × links,) rate of each link from a to b, then from b to a."""
        return np.append(self.gbps, self.gbps if self.gbps_back is None else self.gbps_back)

    @cached_property
    def ports(self) -> tuple[Ints, Ints, Floats]:
        """(ports,) each: node, peer and Gb/s of every directed port, in the engine's order: by node, then by peer."""
        node, peer = np.append(self.a, self.b), np.append(self.b, self.a)
        order = np.lexsort((peer, node))
        return node[order], peer[order], self.end_gbps[order]

    @cached_property
    def port_numbers(self) -> dict[tuple[int, int], int]:
        """The place of every port among them, by its node and peer."""
        node, peer, _ = self.ports
        return {ends: number for number, ends in enumerate(zip(node.tolist(), peer.tolist(), strict=True))}

    @cached_property
    def tier(self) -> NDArray[np.int8]:
        """(nodes,) links to the nearest host: 0 for hosts, 1 for ToRs, 2 for spines or aggregation, 3 for cores."""
        tier = np.full(self.nodes, -1, dtype=np.int8)
        tier[: self.hosts] = HOST
        edge, distance = list(range(self.hosts)), 0
        while edge:
            distance += 1
            edge = sorted({other for node in edge for other in self.neighbours[node] if tier[other] < 0})
            tier[edge] = distance
        return tier

    @cached_property
    def host_gbps(self) -> Floats:
        """(hosts,) rate of each host's links together, Gb/s."""
        return self._rate_at(np.ones(len(self.a), dtype=bool))[: self.hosts]

    @cached_property
    def uplinks(self) -> NDArray[np.bool_]:
        """(links,) whether it is a ToR's uplink: a link between a ToR and another switch."""
        tiers = np.sort(np.stack([self.tier[self.a], self.tier[self.b]]), axis=0)
        return np.asarray(tiers[0] == TOR)

    @cached_property
    def uplink_gbps(self) -> Floats:
        """(switches,) rate of each ToR's uplinks together, Gb/s; 0 for other switches."""
        rate = self._rate_at(self.uplinks)[self.hosts :]
        return np.where(self.tier[self.hosts :] == TOR, rate, 0.0)

    @cached_property
    def oversubscription(self) -> float:
        """The largest ratio over ToRs of the rate of links to hosts and the rate of uplinks; 0 without uplinks."""
        to_hosts = (self.a < self.hosts) | (self.b < self.hosts)
        down, up = self._rate_at(to_hosts)[self.hosts :], self.uplink_gbps
        return float(np.max(down / np.where(up > 0, up, np.inf), initial=0.0))

    def link_between(self, a: int, b: int) -> bool:
        """Tell whether two nodes have a link."""
        return 0 <= a < self.nodes and b in self.neighbours[a]

    def __str__(self) -> str:
        """Return its size in words."""
        ratio = self.oversubscription
        words = f"oversubscribed {ratio:.3g}:1" if ratio > 1 else "not oversubscribed"
        over = f", ToRs {words}" if ratio else ""
        return f"{self.hosts} hosts, {self.switches} switches, {len(self.a)} links{over}"

    def _rate_at(self, counted: NDArray[np.bool_]) -> Floats:
        """Return the rate of the counted links together at each node."""
        ends = np.concatenate([self.a[counted], self.b[counted]])
        rate: Floats = np.zeros(self.nodes)
        np.add.at(rate, ends, self.end_gbps[np.tile(counted, 2)])
        return rate


def link_problems(hosts: int, nodes: int, links: Iterable[Link]) -> Iterator[RowProblem]:
    """Yield what is wrong with single links: their row, column and how to fix it."""
    seen: dict[tuple[int, int], int] = {}
    for row, (a, b, gbps, delay_ns) in enumerate(links):
        outside = [(name, node) for name, node in (("a", a), ("b", b)) if not 0 <= node < nodes]
        for name, node in outside:
            yield row, name, f"must be a node from 0 to {nodes - 1}, found {node}"
        if not outside and (text := _ends_problem(hosts, a, b)):
            yield row, "b", text
        if not 1e-6 <= gbps <= 1e9:
            yield row, "gbps", f"must be from 1e-6 to 1e9, found {gbps:g}"
        if not 0 < delay_ns <= 1e12:
            yield row, "delay_ns", f"must be > 0 and at most 1e12 (1000 s), found {delay_ns:g}"
        if seen.setdefault((min(a, b), max(a, b)), row) != row:
            yield row, "b", f"nodes {a} and {b} have a link already; give one link the rate of both"


def _ends_problem(hosts: int, a: int, b: int) -> str:
    if a == b:
        return f"joins node {a} to itself; name the node at the other end"
    if max(a, b) < hosts:
        return f"joins hosts {a} and {b}; hosts have links to switches only (ids from {hosts})"
    return ""


def connection_problem(topology: FabricTopology) -> str:
    """Return which host or switch lacks a path and how to fix it; empty if nothing."""
    if topology.hosts < 2 or topology.switches < 1:
        return f"needs two hosts and a switch at least, got {topology.hosts} and {topology.switches}"
    lonely = next((host for host in range(topology.hosts) if not topology.neighbours[host]), None)
    if lonely is not None:
        return f"host {lonely} has no link; join it to a switch"
    part = _parts(topology)
    reached = np.zeros((topology.hosts, max(part) + 1), dtype=np.int64)
    for host in range(topology.hosts):
        reached[host, [part[switch - topology.hosts] for switch in topology.neighbours[host]]] = 1
    without_hosts = np.flatnonzero(reached.sum(axis=0) == 0)
    if len(without_hosts):
        switch = topology.hosts + part.index(without_hosts[0])
        return f"switch {switch} is connected to no host; join it, leave it out, or number hosts first"
    alike, of = np.unique(reached, axis=0, return_inverse=True)  # few, where hosts squared are many
    apart = alike @ alike.T == 0
    if apart.any():
        of = of.reshape(-1)
        first = int(np.argmax(apart.any(axis=1)[of]))
        second = int(np.argmax(apart[of[first]][of]))
        return f"hosts {first} and {second} have no path over switches; add a link between their switches"
    return ""


def _parts(topology: FabricTopology) -> Sequence[int]:
    """Return for each switch which part of the fabric it is in: those of a part reach each other without hosts."""
    part = [-1] * topology.switches
    for first in range(topology.switches):
        if part[first] >= 0:
            continue
        number, edge = max(part) + 1, [first]
        while edge:
            switch = edge.pop()
            part[switch] = number
            others = (node - topology.hosts for node in topology.neighbours[topology.hosts + switch])
            edge += [other for other in others if other >= 0 and part[other] < 0]
    return part
