"""The small fabric of one link: who sends over it, the link, and who receives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcca.remy_plus.fabric.simulators.routes import Floats, Index, Routes
from lcca.remy_plus.fabric.topology import FabricTopology


@dataclass(frozen=True, eq=False)
class Small:
    """The fabric of one link.

    Attributes:
        topology: of senders, link and receivers.
        source: (flows,) the host that sends.
        receiver: (flows,) the host that receives.
        of_host: whether the link is a sender's own.
        never_queues: whether all that comes to the link comes by another one that is no faster.
    """

    topology: FabricTopology
    source: Index
    receiver: Index
    of_host: bool
    never_queues: bool


@dataclass(frozen=True, eq=False)
class Ends:
    """Hosts at one side: which of them each flow has, the rates of their links (Gb/s) and their delays (ns)."""

    of: Index
    gbps: Floats
    delay_ns: Floats


def small(routes: Routes, port: int, crossing: Index) -> Small:
    """Return the fabric of one directed link.

    Senders have their own links, which end where the link begins. Receivers are behind it by links that nothing waits
    for, no slower than the one before. Propagation is as on the whole route; where equal paths of a sender have unlike
    delays up to the link, the shortest is before it, and the rest behind it unless it ends at the receiver.

    Args:
        routes: of all flows.
        port: the link.
        crossing: positions of the flows that cross it.
    """
    hops, delays = routes.hops[crossing].astype(np.int64), routes.delays(crossing)
    at = np.argmax(hops == port, axis=1)
    before = np.where(np.arange(hops.shape[1]) < at[:, None], delays, 0.0).sum(axis=1)
    link = Ends(np.zeros_like(crossing), routes.gbps[[port]], routes.delay_ns[[port]])
    of_host = bool(routes.node[port] < routes.hosts)
    senders = link if of_host else _senders(routes, hops[:, 0], before)
    behind = delays.sum(axis=1) - senders.delay_ns[senders.of] - (0.0 if of_host else link.delay_ns)
    to_host = bool(routes.peer[port] < routes.hosts)
    receivers = link if to_host else _receivers(routes, routes.last(crossing), behind, float(link.gbps[0]))
    topology = _fabric(senders, receivers, None if of_host or to_host else link)
    never_queues = not of_host and len(senders.gbps) == 1 and bool(senders.gbps[0] <= link.gbps[0])
    return Small(topology, senders.of, receivers.of + len(senders.gbps), of_host, never_queues)


def _senders(routes: Routes, first: Index, before: Floats) -> Ends:
    """Return an end for each of the first links."""
    ports, of = np.unique(first, return_inverse=True)
    delay = np.full(len(ports), np.inf)
    np.minimum.at(delay, of, before)
    return Ends(of.reshape(-1), routes.gbps[ports], delay)


def _receivers(routes: Routes, last: Index, behind: Floats, gbps: float) -> Ends:
    """Return an end for each of the last links at each distance."""
    kinds, of = np.unique(np.stack([last, np.round(behind, 3)], axis=1), axis=0, return_inverse=True)
    return Ends(of.reshape(-1), np.maximum(routes.gbps[kinds[:, 0].astype(np.int64)], gbps), kinds[:, 1])


def _fabric(senders: Ends, receivers: Ends, link: Ends | None) -> FabricTopology:
    """Return senders and receivers at one switch, or at either end of a link between two."""
    counts = [len(senders.gbps), len(receivers.gbps)]
    hosts, switches = sum(counts), 1 if link is None else 2
    between = [] if link is None else [(hosts, hosts + 1, float(link.gbps[0]), float(link.delay_ns[0]))]
    ends = np.repeat([hosts, hosts + switches - 1], counts)
    gbps, delay_ns = (np.concatenate(each) for each in zip(_numbers(senders), _numbers(receivers), strict=True))
    rows = [*zip(range(hosts), ends.tolist(), gbps.tolist(), delay_ns.tolist(), strict=True), *between]
    a, b, rates, delays = np.array(rows).T
    return FabricTopology(hosts, switches, a.astype(np.int32), b.astype(np.int32), rates, delays)


def _numbers(ends: Ends) -> tuple[Floats, Floats]:
    return ends.gbps, ends.delay_ns
