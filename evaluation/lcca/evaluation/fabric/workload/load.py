"""What a workload asks of every link on average, with traffic split equally over shortest paths (ECMP)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus.fabric.topology import FabricTopology

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
        """Share of the rate of all ToR uplinks together, mean of both directions; 0 without uplinks."""
        up = self.topology.uplinks
        return float(self.gbps[up].sum() / max(2 * self.topology.gbps[up].sum(), 1e-300))

    def fullest(self) -> tuple[int, int, float]:
        """Return the two ends, in the direction of the traffic, and the load of the fullest link."""
        share = self.share
        link, back = np.unravel_index(int(share.argmax()), share.shape)
        ends = (int(self.topology.a[link]), int(self.topology.b[link]))
        return (*(ends[::-1] if back else ends), float(share[link, back]))


def onto(hosts: Sequence[int], sent: Floats, taken: Floats) -> tuple[Floats, Floats]:
    """Return what each host sends to some hosts together, (hosts,), and each of them is sent, (some,), in Gb/s.

    To another host each sends `sent` of its own (Gb/s) times `taken` of the other. All pairs take (hosts)² of memory.
    """
    together, each = np.zeros(len(sent)), np.zeros(len(hosts))
    for place, host in enumerate(hosts):
        to_it = sent * taken[host]
        to_it[host] = 0
        together += to_it
        each[place] = to_it.sum()
    return together, each


def link_loads(topology: FabricTopology, sent: Floats, taken: Floats) -> LinkLoads:
    """Return the mean load of every link, with traffic as in `onto`."""
    found = _Sum(topology)
    groups: dict[tuple[int, ...], list[int]] = {}
    for host, switches in enumerate(topology.neighbours[: topology.hosts]):
        groups.setdefault(switches if len(switches) == 1 else (*switches, -1 - host), []).append(host)
    for hosts in groups.values():  # hosts of one rack are reached alike
        found.add(hosts, *onto(hosts, sent, taken))
    return LinkLoads(topology, found.gbps)


class _Sum:
    """Adds up traffic, link by link in both directions; that of hosts with one switch all at once."""

    def __init__(self, topology: FabricTopology) -> None:
        self.topology = topology
        self._gbps = np.zeros(2 * len(topology.a))
        ends = list(zip(topology.a.tolist(), topology.b.tolist(), strict=True))
        self._at = {end: 2 * i for i, end in enumerate(ends)} | {end[::-1]: 2 * i + 1 for i, end in enumerate(ends)}
        alone = [(h, each[0]) for h, each in enumerate(topology.neighbours[: topology.hosts]) if len(each) == 1]
        self._hosts, self._switches = np.array(alone, dtype=np.int64).reshape(-1, 2).T
        self._up = np.array([self._at[each] for each in alone], dtype=np.int64)
        self._sent = np.zeros(len(alone))  # Gb/s, by each
        inner = np.array([(n, to) for n, each in enumerate(topology.neighbours) for to in each]).reshape(-1, 2)
        self._from, self._to = inner[~np.isin(inner, self._hosts).any(axis=1)].T
        self._link = np.array([self._at[n, to] for n, to in zip(self._from, self._to, strict=True)], dtype=np.int64)
        by_switch = self._from >= topology.hosts  # hosts do not forward
        self._searched = self._to[by_switch]
        self._rows = np.searchsorted(self._from[by_switch], np.arange(topology.nodes + 1))

    def add(self, hosts: Sequence[int], sent: Floats, taken: Floats) -> None:
        """Add what all hosts send to some that have the same switches: (hosts,) Gb/s, and (some,) what these take."""
        switches = self.topology.neighbours[hosts[0]]
        arrived = np.zeros(self.topology.nodes)
        arrived[: self.topology.hosts] = sent
        self._sent += arrived[self._hosts]
        np.add.at(arrived, self._switches, arrived[self._hosts])
        for nodes, others, links in self._steps(switches):
            part = arrived[nodes] / np.bincount(nodes)[nodes]
            np.add.at(self._gbps, links, part)
            np.add.at(arrived, others, part)
        for switch in switches:
            down = [self._at[switch, host] for host in hosts]
            self._gbps[down] += arrived[switch] * taken / max(taken.sum(), 1e-300)

    @property
    def gbps(self) -> Floats:
        """(links, 2) so far."""
        found = self._gbps.copy()
        found[self._up] += self._sent
        return found.reshape(-1, 2)

    def _steps(self, switches: Sequence[int]) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Yield links of shortest paths to the nearest of some switches, those of the farthest nodes first.

        They are node, next node and direction of a link, node by node in the order of a search from the switches.
        """
        from scipy.sparse import csgraph, csr_array  # a quarter of a second, which every command would wait for

        root = self.topology.nodes  # a node of its own, one link before the switches
        rows = np.append(self._rows, len(self._searched) + len(switches))
        columns = np.concatenate([self._searched, switches])
        graph = csr_array((np.ones(len(columns)), columns, rows), shape=(root + 1, root + 1))
        order, before = csgraph.breadth_first_order(graph, root)
        distance, place = np.full((2, root + 1), -1)
        place[order] = np.arange(len(order))
        distance[root], new = 0, order[1:]
        while len(new):
            distance[new] = np.where(distance[before[new]] < 0, -1, distance[before[new]] + 1)
            new = new[distance[new] < 0]
        nearer = (distance[self._to] > 0) & (distance[self._from] == distance[self._to] + 1)
        onward = np.flatnonzero(nearer & (self._to >= self.topology.hosts))
        onward = onward[np.argsort(place[self._from[onward]], kind="stable")]
        far = distance[self._from[onward]]
        for each in range(int(far.max(initial=0)), 1, -1):
            now = onward[far == each]
            yield self._from[now], self._to[now], self._link[now]
