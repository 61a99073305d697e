"""Flows as fluids: rates that change as a flow begins or ends, with which flows share the links that they cross.

They stand in for a transport, with max-min fair rates; or they are one of the `IDEALS`, which transports are held
against: max-min fair rates, or `SRPT`, where the flow with the fewest bytes left takes all that its links have, the
next one what is left, and so on. On one link no order has a smaller mean completion time (Schrage 1968); over several
links, and for slowdowns, it is a strong heuristic and no bound. Between them lie hosts that schedule in a network that
shares its links fairly: the links of senders, of receivers, or both serve the flow with the fewest bytes left first.

The same flows on the same routes as in the whole fabric, with neither queues nor a congestion control. That such a
simulation knows much of a fabric is m3's observation (Li et al., SIGCOMM 2024).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FABRIC, FLUID, FabricSettings
from lcca.remy_plus.fabric.topology import FabricTopology

SRPT = "srpt"
IDEALS = ("max-min", SRPT, "srpt-senders", "srpt-receivers", "srpt-hosts")
"""By the names of `lcca.remy_plus.switches.transports.TRANSPORTS`, in the engine's order."""

DIGITS = 3
"""Of a time in ns that mean something: the engine counts ps."""


class Whole(Protocol):
    """The fabric that fluids stand in for (see `lcca.remy_plus.fabric.engine.FabricEngine`)."""

    @property
    def transport(self) -> Any:
        """Its name, or a policy."""

    @property
    def tuner(self) -> Any:
        """What sets parameters during a run; None for nobody."""

    @property
    def settings(self) -> FabricSettings:
        """Of the fabric."""

    @property
    def ideal(self) -> bool:
        """Whether the transport is one of `IDEALS`."""

    @property
    def telemetry_bytes(self) -> int:
        """Of a data packet."""

    def routes(self, topology: FabricTopology, flows: FabricFlows, seed: int) -> Mapping[str, Any]:
        """Return what its record says of flows before any has begun: routes, and times alone."""


def require_fluid(engine: Whole, rounds: bool, classes: bool, events: bool) -> None:
    """Check that fluids can stand in for the whole fabric, or be the ideal there; `SRPT` needs no classes.

    Args:
        engine: what flows run under.
        rounds: whether any flow waits for a round.
        classes: whether flows have several classes of traffic.
        events: whether links fail or slow down.

    Raises:
        InputError: they cannot; says why and what to do.
    """
    problems = {
        "a policy from a file, which may look at all hops": not isinstance(engine.transport, str),
        "a tuner, which looks at all ports": engine.tuner is not None,
        "rounds, which begin after one another": rounds,
        "several classes of traffic": classes and engine.transport != SRPT,
        "events, in which links fail or slow down": events,
    }
    if wrong := next((text for text, holds in problems.items() if holds), None):
        whose, advice = (engine.transport, "leave it out") if engine.ideal else (f"simulator {FLUID}", f"use {FABRIC}")
        raise InputError(f"{whose} cannot have {wrong}; {advice}")


def run_fluid(
    engine: Whole, topology: FabricTopology, flows: FabricFlows, seed: int, horizon_ns: float
) -> Mapping[str, Any]:
    """Run flows as fluids on the routes that the whole fabric gives them.

    A flow takes what it takes alone and what its bytes take longer beside others.

    Returns:
        What is known of flows of the record of `FabricEngine.run`.

    Raises:
        InputError: fluids cannot stand in for the fabric here, or as `FabricEngine.run`.
    """
    require_fluid(engine, flows.waits, bool(flows.priority.any()), topology.events is not None)
    plain = engine.routes(topology, flows, seed)
    start = flows.start_ns
    extra_ns = _extra_ns(engine, topology, flows, plain["flow_ports"], horizon_ns)
    fct = plain["flow_alone_ns"] + np.maximum(extra_ns, 0.0)
    ended = start + fct <= horizon_ns
    return {
        "flow_start_ns": start,
        "flow_fct_ns": np.where(ended, fct, np.nan),
        "flow_ideal_ns": plain["flow_ideal_ns"],
        "flow_delivered_bytes": np.where(ended, flows.size_bytes, 0).astype(np.float64),
        "end_ns": float(np.max(start + fct, initial=0.0)) if ended.all() else horizon_ns,
    }


def _extra_ns(
    engine: Whole, topology: FabricTopology, flows: FabricFlows, hops: NDArray[np.int32], horizon_ns: float
) -> NDArray[np.float64]:
    """Return (flows,) by how many ns fluids take longer than each alone; NaN beyond the horizon.

    `hops` are (flows, most) the ports that each crosses, −1 after the last.
    """
    gbps = topology.ports[2]
    packets = -(-flows.size_bytes // engine.settings.payload_bytes)
    bits = 8.0 * (flows.size_bytes + (engine.settings.overhead_bytes + engine.telemetry_bytes) * packets)
    links = np.ascontiguousarray(hops, dtype=np.int32)
    sharing = IDEALS.index(str(engine.transport)) if engine.ideal else 0
    ends = np.asarray(_core.fluid_ends(links, flows.start_ns, bits, gbps, min(horizon_ns, 9e15), sharing))
    alone = bits / np.where(links >= 0, gbps[links], np.inf).min(axis=1)
    extra: NDArray[np.float64] = np.where(np.isfinite(ends), ends - flows.start_ns - alone, np.nan)
    return np.round(extra, DIGITS)
