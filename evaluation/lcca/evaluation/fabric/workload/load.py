"""What a workload asks of every link on average, with traffic split equally over shortest paths (ECMP)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus.fabric.topology import FabricTopology

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinkLoads:
    """Mean traffic on every link.

    Attributes:
        topology: of the fabric.
        gbps: (links, 2) from a to b and from b to a, Gb/s.
    """

    topology: FabricTopology
    gbps: Floats

    @property
    def share(self) -> Floats:
        """(links, 2) of the links' rates."""
        found: Floats = self.gbps / self.topology.gbps[:, None]
        return found

    @property
    def of_uplinks(self) -> float:
        """Share of the rate of all ToR uplinks together, mean of both directions."""
        up = self.topology.uplinks
        return float(self.gbps[up].sum() / (2 * self.topology.gbps[up].sum()))

    def fullest(self) -> tuple[int, int, float]:
        """Return the two ends, in the direction of the traffic, and the load of the fullest link."""
        share = self.share
        link, back = np.unravel_index(int(share.argmax()), share.shape)
        ends = (int(self.topology.a[link]), int(self.topology.b[link]))
        return (*(ends[::-1] if back else ends), float(share[link, back]))


def link_loads(topology: FabricTopology, demand: Floats) -> LinkLoads:
    """Return the mean load of every link.

    Args:
        topology: the fabric.
        demand: (hosts, hosts) Gb/s from each host (row) to each host (column).
    """
    found = _Sum(topology)
    groups: dict[tuple[int, ...], list[int]] = {}
    for host, switches in enumerate(topology.neighbours[: topology.hosts]):
        groups.setdefault(switches if len(switches) == 1 else (*switches, -1 - host), []).append(host)
    for hosts in groups.values():  # hosts of one rack are reached alike
        found.add(hosts, demand[:, hosts])
    return LinkLoads(topology, found.gbps)


class _Sum:
    """Adds up traffic, link by link in both directions; that of hosts with one switch all at once."""

    def __init__(self, topology: FabricTopology) -> None:
        self.topology = topology
        self._gbps = [0.0] * (2 * len(topology.a))
        ends = list(zip(topology.a.tolist(), topology.b.tolist(), strict=True))
        self._at = {end: 2 * i for i, end in enumerate(ends)} | {end[::-1]: 2 * i + 1 for i, end in enumerate(ends)}
        alone = [host for host in range(topology.hosts) if len(topology.neighbours[host]) == 1]
        self._hosts = np.array(alone, dtype=np.int64)
        self._switches = np.array([topology.neighbours[host][0] for host in alone], dtype=np.int64)
        self._up = np.array([self._at[host, topology.neighbours[host][0]] for host in alone], dtype=np.int64)
        self._sent = np.zeros(len(alone))  # Gb/s, by each
        left_out = set(alone)
        self._inner = [tuple(other for other in each if other not in left_out) for each in topology.neighbours]

    def add(self, hosts: Sequence[int], demand: Floats) -> None:
        """Add what all hosts send to some hosts that have the same switches: (all hosts, some hosts) Gb/s."""
        switches = self.topology.neighbours[hosts[0]]
        distance = self._distances(switches)
        sent = np.zeros(self.topology.nodes)
        sent[: self.topology.hosts] = demand.sum(axis=1)
        self._sent += sent[self._hosts]
        np.add.at(sent, self._switches, sent[self._hosts])
        arrived, gbps = sent.tolist(), self._gbps
        for node in sorted(distance, key=distance.__getitem__, reverse=True):
            if distance[node] > 0 and arrived[node] > 0:
                onward = [n for n in self._inner[node] if distance.get(n, node) == distance[node] - 1]
                part = arrived[node] / len(onward)
                for other in onward:
                    gbps[self._at[node, other]] += part
                    arrived[other] += part
        to_each = demand.sum(axis=0)
        for switch in switches:
            for host, rate in zip(hosts, arrived[switch] * to_each / max(to_each.sum(), 1e-300), strict=True):
                gbps[self._at[switch, host]] += float(rate)

    @property
    def gbps(self) -> Floats:
        """(links, 2) so far."""
        found = np.array(self._gbps)
        found[self._up] += self._sent
        return found.reshape(-1, 2)

    def _distances(self, switches: Sequence[int]) -> dict[int, int]:
        """Return how many links each node but those hosts is away from the nearest of some switches."""
        distance, edge = dict.fromkeys(switches, 0), deque(switches)
        while edge:
            node = edge.popleft()
            if node >= self.topology.hosts:  # hosts do not forward
                new = [other for other in self._inner[node] if other not in distance]
                distance |= dict.fromkeys(new, distance[node] + 1)
                edge += new
        return distance
