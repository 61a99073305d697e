"""The directed ports of a fabric, the routes that flows take over them, and what they take in all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus.fabric.engine import FabricEngine, Record
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.topology import FabricTopology

Floats = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Routes:
    """What each flow of a trial crosses, and what it takes alone.

    Attributes:
        hosts: of the fabric.
        node: (ports,) where each port is; in the engine's order.
        peer: (ports,) the node at its other end.
        gbps: (ports,) rate.
        delay_ns: (ports,) propagation.
        hops: (flows, most) the ports that a flow's data cross, −1 after the last.
        flows: of the trial.
        plain: record of a run that ended before it began: ideal times, `flow_alone_ns`, `base_rtt_ns`.
    """

    hosts: int
    node: NDArray[Any]
    peer: NDArray[Any]
    gbps: Floats
    delay_ns: Floats
    hops: NDArray[np.int32]
    flows: FabricFlows
    plain: Record

    def by_port(self) -> list[tuple[int, Index]]:
        """Return every port that flows cross, rising, and their positions, rising."""
        flow, hop = np.nonzero(self.hops >= 0)
        port = self.hops[flow, hop]
        order = np.argsort(port, kind="stable")
        ports, first = np.unique(port[order], return_index=True)
        return list(zip(ports.tolist(), np.split(flow[order], first[1:]), strict=True))

    def delays(self, flows: Index) -> Floats:
        """Return (flows, most) the propagation at each hop of some flows, 0 after the last."""
        hops = self.hops[flows]
        return np.where(hops >= 0, self.delay_ns[hops], 0.0)

    def last(self, flows: Index) -> Index:
        """Return (flows,) the port that leads to the receiver of each of some flows."""
        hops = self.hops[flows]
        found: Index = hops[np.arange(len(hops)), (hops >= 0).sum(axis=1) - 1].astype(np.int64)
        return found

    def record(self, extra_ns: Floats, horizon_ns: float) -> Record:
        """Return what is known of flows of the record of `FabricEngine.run`.

        Args:
            extra_ns: (flows,) by how much longer than alone each takes, not below 0; NaN where one did not end.
            horizon_ns: when the trial ends at the latest.
        """
        start = self.flows.start_ns
        fct = self.plain["flow_alone_ns"] + np.maximum(extra_ns, 0.0)
        ended = start + fct <= horizon_ns
        return {
            "flow_start_ns": start,
            "flow_fct_ns": np.where(ended, fct, np.nan),
            "flow_ideal_ns": self.plain["flow_ideal_ns"],
            "flow_delivered_bytes": np.where(ended, self.flows.size_bytes, 0).astype(np.float64),
            "end_ns": float(np.max(start + fct, initial=0.0)) if ended.all() else horizon_ns,
        }


def routes_of(engine: FabricEngine, topology: FabricTopology, flows: FabricFlows, seed: int) -> Routes:
    """Return the routes that the whole fabric would give these flows.

    Raises:
        InputError: as `FabricEngine.run`.
    """
    plain = engine.run(topology, flows, seed, horizon_ns=0.0)
    node, peer = np.concatenate([topology.a, topology.b]), np.concatenate([topology.b, topology.a])
    order = np.lexsort((peer, node))
    gbps, delay_ns = (np.tile(each, 2)[order] for each in (topology.gbps, topology.delay_ns))
    return Routes(topology.hosts, node[order], peer[order], gbps, delay_ns, plain["flow_ports"], flows, plain)
