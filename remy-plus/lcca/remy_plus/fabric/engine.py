"""Runs of the fabric engine: flows over a topology under one transport."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.fabric.transports import transport_kind

Record = Mapping[str, Any]
"""Arrays by name: `flow_…` one entry per flow, `port_…` one per directed port, `sample_…` one row per sample."""


@dataclass(frozen=True)
class Watch:
    """What is sampled during a run.

    Attributes:
        every_ns: between samples.
        flows: positions of flows: rate (Gb/s) and bytes under way.
        ports: (node, peer) of ports: bytes waiting.
    """

    every_ns: float
    flows: Sequence[int] = ()
    ports: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True)
class FabricEngine:
    """The fabric engine with a transport.

    Attributes:
        transport: its name, of `lcca.remy_plus.fabric.transports.TRANSPORTS`.
        parameters: of the transport that differ from the defaults.
        settings: of the fabric.
    """

    transport: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    settings: FabricSettings = field(default_factory=FabricSettings)

    def run(
        self,
        topology: FabricTopology,
        flows: FabricFlows,
        seed: int = 1,
        horizon_ns: float = np.inf,
        watch: Watch | None = None,
    ) -> Record:
        """Run flows until all have ended, or to the horizon.

        The seed decides which of equal paths a flow takes and which packets are marked; it does not change the flows.

        Returns:
            `flow_fct_ns` (NaN: did not end), `flow_ideal_ns` (alone and without telemetry), `flow_delivered_bytes`;
            `port_node`, `port_peer`, packets and bytes sent, marks, drops, queues, pauses; `sample_…` of the watch;
            `retransmitted_packets`, `end_ns`, `base_rtt_ns`.

        Raises:
            InputError: the flows do not fit the topology, or a setting cannot be.
        """
        flows.require_on(topology)
        kind = transport_kind(self.transport)
        gbps = float(np.min(topology.host_gbps))
        values = self.settings.values(kind.settings) | {"seed": float(seed), "horizon_ns": min(horizon_ns, 9e15)}
        try:
            return _core.run_fabric(
                topology.hosts,
                topology.switches,
                topology.a,
                topology.b,
                topology.gbps,
                topology.delay_ns,
                flows.src.astype(np.int32),
                flows.dst.astype(np.int32),
                flows.size_bytes.astype(np.int64),
                flows.start_ns,
                kind.engine,
                kind.parameters(gbps, self.parameters),
                values,
                [list(each) for each in flows.path],
                [list(each) for each in flows.ack_path],
                **({} if watch is None else _watched(topology, watch)),
            )
        except ValueError as error:
            raise InputError(f"fabric: {error}") from None


def _watched(topology: FabricTopology, watch: Watch) -> dict[str, Any]:
    ports = [_port(topology, node, peer) for node, peer in watch.ports]
    return {"watch_every_ns": watch.every_ns, "watch_flows": list(watch.flows), "watch_ports": ports}


def _port(topology: FabricTopology, node: int, peer: int) -> int:
    """Return the engine's number of a port: by node, then by peer."""
    if not topology.link_between(node, peer):
        raise InputError(f"watch: nodes {node} and {peer} have no link")
    degrees: NDArray[np.int64] = np.array([len(each) for each in topology.neighbours])
    return int(degrees[:node].sum()) + topology.neighbours[node].index(peer)
