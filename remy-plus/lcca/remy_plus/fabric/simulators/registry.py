"""The simulators of a fabric by name, and what each cannot do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.engine import FabricEngine, Record
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.simulators.fluid import run_fluid
from lcca.remy_plus.fabric.simulators.links import run_links
from lcca.remy_plus.fabric.topology import FabricTopology

FABRIC = "fabric"
"""The whole fabric, packet by packet: `FabricEngine.run`."""


@dataclass(frozen=True)
class Approximation:
    """What stands in for the whole fabric, and tells of flows only.

    Attributes:
        run: takes engine, topology, flows, seed, horizon (ns) and threads.
        refused: transports that it cannot stand for, and why.
        in_threads: one trial uses several threads.
        classes: whether it knows classes of traffic.
    """

    run: Callable[[FabricEngine, FabricTopology, FabricFlows, int, float, int], Record]
    refused: Mapping[str, str]
    in_threads: bool
    classes: bool


APPROXIMATIONS: Mapping[str, Approximation] = MappingProxyType(
    {
        "links": Approximation(
            run_links,
            {
                "swift": "its target counts the switches of the whole route",
                "dctcp-window": "its first windows grow until they meet a queue anywhere on the route",
                "rcp": "a flow waits for its first rate, which depends on the whole route",
            },
            in_threads=True,
            classes=True,
        ),
        "fluid": Approximation(run_fluid, {}, in_threads=False, classes=False),
    }
)

SIMULATORS = (FABRIC, *APPROXIMATIONS)


def require_simulator(name: str, engine: FabricEngine, rounds: bool = False, classes: bool = False) -> None:
    """Check that a simulator can stand for the whole fabric.

    Args:
        name: one of `SIMULATORS`.
        engine: what flows run under.
        rounds: whether any flow waits for a round.
        classes: whether flows have several classes of traffic.

    Raises:
        InputError: it cannot; says why and what to do.
    """
    if name == FABRIC:
        return
    found, transport = APPROXIMATIONS[name], engine.transport
    problems = {
        "a policy from a file, which may look at all hops": not isinstance(transport, str),
        f"{transport}: {found.refused.get(str(transport))}": str(transport) in found.refused,
        "a tuner, which looks at all ports": engine.tuner is not None,
        "rounds, which begin after one another": rounds,
        "several classes of traffic": classes and not found.classes,
    }
    if wrong := next((text for text, holds in problems.items() if holds), None):
        raise InputError(f"simulator {name} cannot have {wrong}; use {FABRIC}")


def run_on(
    name: str,
    engine: FabricEngine,
    topology: FabricTopology,
    flows: FabricFlows,
    seed: int,
    horizon_ns: float,
    jobs: int = 1,
) -> Record:
    """Run flows in an approximation; see `Routes.record` for what it returns.

    Raises:
        InputError: it cannot stand for the whole fabric here, or as `FabricEngine.run`.
    """
    require_simulator(name, engine, flows.waits, bool(flows.priority.any()))
    return APPROXIMATIONS[name].run(engine, topology, flows, seed, horizon_ns, jobs)
