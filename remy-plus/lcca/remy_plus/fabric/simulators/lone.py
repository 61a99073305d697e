"""By how much a transport slows a flow that meets nobody: as where it keeps links below their rate."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.fabric.simulators.routes import Floats, Routes
from lcca.remy_plus.fabric.topology import FabricTopology

PACKETS = tuple(2**k for k in range(13))
"""Flows of so many are simulated. In between times are linear, and beyond they go on as between the last two."""

Hop = tuple[float, float]
"""Gb/s, ns."""


def lone_extra(engine: FabricEngine, routes: Routes) -> Floats:
    """Return (flows,) by how many ns each flow would take longer than its packets at the slowest link, if alone.

    Args:
        engine: with all parameters, and the base RTT, of the fabric.
        routes: of the flows.
    """
    rates, delays = (
        np.where(routes.hops >= 0, routes.gbps[routes.hops], 0.0),
        routes.delays(np.arange(len(routes.hops))),
    )
    kinds, of = np.unique(np.concatenate([rates, delays], axis=1), axis=0, return_inverse=True)
    packets, found = routes.flows.size_bytes / engine.settings.payload_bytes, np.zeros(len(routes.hops))
    settings, parameters = replace(engine.settings, marker=None), tuple(sorted(engine.parameters.items()))
    for number, kind in enumerate(kinds.reshape(-1, 2, routes.hops.shape[1])):
        mine, route = of.reshape(-1) == number, tuple((float(a), float(b)) for a, b in kind.T if a > 0)
        curve = np.array(_curve(str(engine.transport), parameters, settings, route))
        slope = (curve[-1] - curve[-2]) / (PACKETS[-1] - PACKETS[-2])
        beyond = np.maximum(packets[mine] - PACKETS[-1], 0.0)
        found[mine] = np.interp(packets[mine], PACKETS, curve) + slope * beyond
    return found


@lru_cache(maxsize=512)
def _curve(
    transport: str, parameters: tuple[tuple[str, float], ...], settings: FabricSettings, route: tuple[Hop, ...]
) -> tuple[float, ...]:
    """Return by how many ns flows of `PACKETS` take longer over a route, where no marker sees a queue."""
    engine, count = FabricEngine(transport, dict(parameters), settings), len(route)
    nodes = np.array([0, *range(2, count + 1), 1])  # hosts 0 and 1, and switches between them
    gbps, delay_ns = np.array(route).T
    line = FabricTopology(2, count - 1, nodes[:-1], nodes[1:], gbps, delay_ns)

    def extra(packets: int) -> float:
        size = np.array([packets * settings.payload_bytes])
        record = engine.run(line, FabricFlows(np.array([0]), np.array([1]), size, np.zeros(1)))
        return float(record["flow_fct_ns"][0] - record["flow_alone_ns"][0])

    return tuple(extra(each) for each in PACKETS)
