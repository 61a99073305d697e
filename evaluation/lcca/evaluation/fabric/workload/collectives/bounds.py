"""How soon a collective can end at best: its longest chain of messages, and the fullest cut of the fabric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lcca.evaluation.fabric.workload.collectives.schedule import Ints, Schedule
from lcca.evaluation.fabric.workload.part import Floats
from lcca.remy_plus.fabric.topology import FabricTopology

Hop = tuple[float, float]
"""Gb/s of a link, and its delay in ns."""


@dataclass(frozen=True)
class Packets:
    """How messages are cut.

    Attributes:
        payload: bytes of a full packet.
        overhead: bytes of headers around it.
    """

    payload: int
    overhead: int

    def wire(self, size: Ints) -> Ints:
        """Return the bytes on the wire of messages of so many bytes."""
        return size + self.overhead * -(-size // self.payload)

    def last(self, size: Ints) -> Ints:
        """Return the bytes on the wire of their last packets."""
        return (size - 1) % self.payload + 1 + self.overhead


@dataclass(frozen=True, eq=False)
class Ways:
    """The fastest of the shortest ways between hosts, and the cuts that they cross, by the rates of links as built."""

    topology: FabricTopology
    _following: dict[int, list[int]] = field(default_factory=dict, repr=False)
    _ways: dict[tuple[int, int], tuple[Hop, ...]] = field(default_factory=dict, repr=False)

    @cached_property
    def _hops(self) -> dict[tuple[int, int], Hop]:
        one, rates = self.topology, self.topology.end_gbps
        links, ends = len(one.a), np.concatenate([[one.a, one.b], [one.b, one.a]], axis=1).T.tolist()
        return {(a, b): (rates[i], float(one.delay_ns[i % links])) for i, (a, b) in enumerate(ends)}

    def _to(self, target: int) -> list[int]:
        """Return, for each node, the next one on the fastest of the shortest ways to a node."""
        if target in self._following:
            return self._following[target]
        count, near = self.topology.nodes, self.topology.neighbours
        distance, following, width = [-1] * count, [-1] * count, [0.0] * count
        distance[target], width[target], edge = 0, np.inf, [target]
        while edge:
            reached: list[int] = []
            for node in edge:
                if node < self.topology.hosts and node != target:
                    continue  # hosts do not forward
                for other in near[node]:
                    if distance[other] < 0:
                        distance[other] = distance[node] + 1
                        reached.append(other)
                    wide = min(width[node], self._hops[other, node][0])
                    if distance[other] == distance[node] + 1 and wide > width[other]:
                        width[other], following[other] = wide, node
            edge = reached
        self._following[target] = following
        return following

    def way(self, src: int, dst: int) -> tuple[Hop, ...]:
        """Return the links of the way from one node to another."""
        near = self.topology.neighbours
        if dst < self.topology.hosts and len(near[dst]) == 1:  # as to its switch: hosts of one share what is found
            return (*self.way(src, near[dst][0]), self._hops[near[dst][0], dst])
        if (src, dst) not in self._ways:
            found, node, following = [], src, self._to(dst)
            while node != dst:
                found.append(self._hops[node, following[node]])
                node = following[node]
            self._ways[src, dst] = tuple(found)
        return self._ways[src, dst]

    def alone_ns(self, src: Ints, dst: Ints, size: Ints, packets: Packets) -> Floats:
        """Return what messages take alone until their last byte is received, at the least, were they spread over ways.

        All bytes leave the sender's link, and enter the receiver's, one after the other; the last packet has every hop.
        """
        wire, last, found = packets.wire(size), packets.last(size), np.empty(len(size))
        for row, (a, b) in enumerate(zip(src.tolist(), dst.tolist(), strict=True)):
            way = self.way(a, b)
            through = sum(delay + last[row] * 8 / gbps for gbps, delay in way)
            found[row] = through + (wire[row] - last[row]) * 8 / min(way[0][0], way[-1][0])
        return found

    @cached_property
    def cuts(self) -> list[tuple[Ints, Floats, Floats]]:
        """Cuts: for each tier, the part of each host (hosts,), and the Gb/s of the links out of and into each part.

        Parts of tier 0 are hosts, of tier 1 hosts with their ToR, of tier 2 pods, and so on.
        """
        one, found = self.topology, []
        for tier in range(int(one.tier.max())):
            part = np.arange(one.nodes)
            below = (one.tier[one.a] <= tier) & (one.tier[one.b] <= tier)
            changed = True
            while changed:  # until all nodes of a part have the smallest number among them
                before = part.copy()
                for a, b in ((one.a[below], one.b[below]), (one.b[below], one.a[below])):
                    np.minimum.at(part, a, part[b])
                changed = bool((part != before).any())
            out, into = np.zeros(one.nodes), np.zeros(one.nodes)
            rates = one.end_gbps.reshape(2, -1)
            for near, far, there, back in ((one.a, one.b, *rates), (one.b, one.a, *rates[::-1])):
                leaves = (one.tier[near] <= tier) & (one.tier[far] > tier)
                np.add.at(out, part[near[leaves]], there[leaves])
                np.add.at(into, part[near[leaves]], back[leaves])
            found.append((part[: one.hosts], out, into))
        return found

    def cut_ns(self, src: Ints, dst: Ints, size: Ints, packets: Packets) -> float:
        """Return how long the bytes of messages take out of, or into, the part of the fabric that they fill most."""
        wire, most = packets.wire(size).astype(np.float64), 0.0
        for part, out, into in self.cuts:
            crossing = part[src] != part[dst]
            for ends, gbps in ((src, out), (dst, into)):
                bytes_ = np.bincount(part[ends[crossing]], wire[crossing], len(gbps))
                most = max(most, float(np.max(np.divide(bytes_ * 8, gbps, out=np.zeros_like(gbps), where=gbps > 0))))
        return most


def chain_ns(schedule: Schedule, took_ns: Floats, delay_ns: Mapping[int, float]) -> float:
    """Return when the last message is received if each takes so long alone, and `delay_ns` passes first at its rank."""
    begin, end, over = np.zeros(len(schedule)), np.zeros(len(schedule)), 0.0
    for row, (after, delay) in enumerate(zip(schedule.after, schedule.delay_ns, strict=True)):
        if after < 0:
            begin[row] = delay_ns.get(schedule.src[row], 0.0) + delay
        else:
            awaited = schedule.sets[after]
            reached = [
                begin[each] if moment == "begun" else end[each]
                for each, moment in zip(awaited.flows.tolist(), awaited.moments(), strict=True)
            ]
            begin[row] = max(reached) + delay
        end[row] = begin[row] + took_ns[row]
        over = max(over, end[row])
    return over
