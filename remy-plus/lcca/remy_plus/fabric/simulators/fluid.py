"""Flows as fluids: rates that are max-min fair over the links that flows cross, between any two starts or ends.

The same flows on the same routes as in the whole fabric, with neither queues nor a congestion control. That such a
simulation knows much of a fabric is m3's observation (Li et al., SIGCOMM 2024).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus import _core
from lcca.remy_plus.fabric.engine import FabricEngine, Record
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.simulators.routes import Floats, Routes, routes_of
from lcca.remy_plus.fabric.topology import FabricTopology

DIGITS = 3
"""Of a time in ns that mean something: the engine counts ps."""


def run_fluid(
    engine: FabricEngine, topology: FabricTopology, flows: FabricFlows, seed: int, horizon_ns: float, jobs: int = 1
) -> Record:
    """Run flows as fluids, on one thread; see `Routes.record` for what it returns.

    Raises:
        InputError: as `FabricEngine.run`.
    """
    del jobs
    routes = routes_of(engine, topology, flows, seed)
    return routes.record(fluid_extra(engine, routes, flows, routes.hops, horizon_ns), horizon_ns)


def fluid_extra(
    engine: FabricEngine, routes: Routes, flows: FabricFlows, hops: NDArray[np.int32], horizon_ns: float
) -> Floats:
    """Return (flows,) by how many ns fluids take longer than each of them alone; NaN beyond the horizon.

    Args:
        engine: tells how many bytes packets have besides their payload.
        routes: where the links are.
        flows: in the order of their starts.
        hops: (flows, any) the ports that count of each flow's route; −1 is none.
        horizon_ns: when the trial ends at the latest.
    """
    packets = -(-flows.size_bytes // engine.settings.payload_bytes)
    bits = 8.0 * (flows.size_bytes + (engine.settings.overhead_bytes + engine.telemetry_bytes) * packets)
    links = np.ascontiguousarray(hops, dtype=np.int32)
    ends = np.asarray(_core.fluid_ends(links, flows.start_ns, bits, routes.gbps, min(horizon_ns, 9e15)))
    alone = bits / np.where(links >= 0, routes.gbps[links], np.inf).min(axis=1)
    extra: Floats = np.where(np.isfinite(ends), ends - flows.start_ns - alone, np.nan)
    return np.round(extra, DIGITS)
