"""A fabric taken apart: the flows of each directed link are simulated alone, and their delays added up.

The idea is Parsimon's (Zhao et al., NSDI 2023). `docs/background/links.md` says how this differs, what it leaves out
and how far it is off.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from lcca.remy_plus.fabric.engine import FabricEngine, Record
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.simulators.fluid import fluid_extra
from lcca.remy_plus.fabric.simulators.lone import lone_extra
from lcca.remy_plus.fabric.simulators.routes import Floats, Index, Routes, routes_of
from lcca.remy_plus.fabric.simulators.small import Small, small
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.fabric.transports import transport_kind

SEEDS = 2**53
"""The engine takes seeds as floating-point numbers."""


def run_links(
    engine: FabricEngine, topology: FabricTopology, flows: FabricFlows, seed: int, horizon_ns: float, jobs: int = 1
) -> Record:
    """Run flows link by link in so many threads, which change no result; see `Routes.record` for what it returns.

    A flow takes what it takes alone, with what its transport adds to that (`lone_extra`), what fair shares of all its
    links would cost it more (`fluid_extra`), and for each link what packets there take longer than both.

    Raises:
        InputError: as `FabricEngine.run`.
    """
    routes = routes_of(engine, topology, flows, seed)
    whole = _as_in_whole(engine, topology, routes)
    lone = lone_extra(whole, routes)
    links = Links(whole, routes, lone, seed, horizon_ns)
    total = lone + fluid_extra(engine, routes, flows, routes.hops, horizon_ns)
    crossed = routes.by_port()
    with ThreadPoolExecutor(jobs) as pool:
        for (_, crossing), waited in zip(crossed, pool.map(lambda each: links.waited(*each), crossed), strict=True):
            total[crossing] += waited
    return routes.record(total, horizon_ns)


@dataclass(frozen=True, eq=False)
class Links:
    """The links of a fabric, one at a time.

    Attributes:
        engine: with the parameters and the base RTT of the whole fabric.
        routes: of the flows.
        lone_ns: (flows,) by how much the transport slows each alone.
        seed: of the trial; every link draws by one of its own.
        horizon_ns: when a trial ends at the latest.
    """

    engine: FabricEngine
    routes: Routes
    lone_ns: Floats
    seed: int
    horizon_ns: float

    def waited(self, port: int, crossing: Index) -> Floats:
        """Return by how many ns a link delays the flows that cross it, beyond fair shares; NaN of those not ended.

        The shares are those of the link and of the senders' own links, which are in its simulation too: so neither is
        counted again by the simulation of another link.
        """
        part = small(self.routes, port, crossing)
        if part.never_queues:
            return np.zeros(len(crossing))
        routes, given = self.routes, self.routes.flows
        flows = FabricFlows(
            part.source,
            part.receiver,
            given.size_bytes[crossing],
            given.start_ns[crossing],
            priority=given.priority[crossing],
        )
        shared = np.stack([routes.hops[crossing, 0], np.full(len(crossing), -1 if part.of_host else port)], axis=1)
        fair = fluid_extra(self.engine, routes, flows, shared, self.horizon_ns)
        return self._packets(port, part, flows) - fair - self.lone_ns[crossing]

    def _packets(self, port: int, part: Small, flows: FabricFlows) -> Floats:
        seed = np.random.SeedSequence((self.seed, port)).generate_state(1, np.uint64)[0]
        found = self.engine.run(part.topology, flows, int(seed) % SEEDS, self.horizon_ns)
        return np.asarray(found["flow_fct_ns"] - found["flow_alone_ns"])


def _as_in_whole(engine: FabricEngine, topology: FabricTopology, routes: Routes) -> FabricEngine:
    """Return the engine with what follows from the whole fabric, and would follow otherwise from a small one."""
    if not isinstance(engine.transport, str):
        raise TypeError("links are simulated under a named transport")
    gbps = float(np.min(topology.host_gbps))
    parameters = transport_kind(engine.transport).parameters(gbps, engine.parameters)
    return FabricEngine(engine.transport, parameters, replace(engine.settings, base_rtt_ns=routes.plain["base_rtt_ns"]))
