"""How likely a queue is to become so long: multilevel splitting with fixed effort, by replays.

Levels rise to the queue that is asked about. A fixed number of runs begins at each stage where earlier runs crossed the
stage's level for the first time; the share that crosses the next level estimates the probability to do so from there.
The product over the stages estimates the probability of all, without bias (Garvels, "The splitting method in rare event
simulation", 2000, ch. 2; L'Ecuyer, Le Gland, Lezaud and Tuffin, "Splitting techniques", in "Rare Event Simulation using
Monte Carlo Methods", 2009, §3.2.2).

To begin a run where another one was needs no copy of a simulation. Until a moment a run depends on its seed and on the
flows that start until then, and on nothing else: the flows until the moment, with others after it, repeat it up to
there. That the others may be drawn afresh needs flows that do not remember: Poisson processes. The seed (paths and
marks) is the same for all runs of a trial: given the seed, the trial's estimate is unbiased, and so the mean over
trials is without condition.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.trials import LARGEST, FabricTrial
from lcca.evaluation.fabric.workload.part import Streams
from lcca.inputs.errors import Keys
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows, in_order


@dataclass(frozen=True)
class Crossing:
    """The first crossing of a level: the flows of its run, and when it happened."""

    flows: FabricFlows
    at_ns: float


@dataclass(frozen=True)
class SplitTrial:
    """One estimate.

    Attributes:
        probability: that the largest queue of a switch's port exceeds the last level.
        crossed: runs of each stage that crossed its level; the stages end with one without.
        runs: of all stages.
        packets: that hosts received in all runs.
    """

    probability: float
    crossed: tuple[int, ...]
    runs: int
    packets: int


def split_trial(
    scenario: FabricScenario, engine: FabricEngine, seed: int, levels: Sequence[float], runs: int
) -> SplitTrial:
    """Estimate once how likely the largest queue of a switch's port is to exceed the last of some levels.

    Args:
        scenario: where; see `splitting_problem`.
        engine: its transport and settings.
        seed: of the trial.
        levels: bytes, rising.
        runs: of each stage.

    Raises:
        InputError: as `FabricEngine.run`.
    """
    begun, crossed, packets = [Crossing(scenario.flows(seed).before(0), -math.inf)], list[int](), 0
    for stage, level in enumerate(levels):
        found = []
        for i, parent in enumerate(_spread(begun, runs, Streams(seed, stage + 1))):
            flows = continued(scenario, parent, seed, 1 + stage * runs + i)
            record = engine.run(scenario.fabric, flows, seed % LARGEST, scenario.horizon_ns(flows), level_bytes=level)
            at_ns = record["port_crossed_ns"][record["port_node"] >= scenario.fabric.hosts].min()
            found += [Crossing(flows, float(at_ns))] if at_ns < math.inf else []
            packets += FabricTrial("", seed, scenario.fabric.hosts, flows, record).packets
        crossed.append(len(found))
        begun = found
        if not found:
            break
    shares = [count / runs for count in crossed]
    return SplitTrial(math.prod(shares), tuple(crossed), runs * len(crossed), packets)


def continued(scenario: FabricScenario, parent: Crossing, seed: int, number: int) -> FabricFlows:
    """Return the flows of a run that repeats another one until its crossing and has flows of its own after it."""
    drawn = scenario.flows(seed, number)
    after = int(np.searchsorted(drawn.start_ns, parent.at_ns, side="right"))
    own = FabricFlows(**{each.name: getattr(drawn, each.name)[after:] for each in fields(drawn)})
    return in_order([parent.flows.before(np.nextafter(parent.at_ns, math.inf)), own])


def _spread(begun: Sequence[Crossing], runs: int, streams: Streams) -> list[Crossing]:
    """Return what each of a stage's runs begins from: all equally often, but for a rest that is drawn."""
    order = streams.shuffled(_ORDER, np.arange(len(begun)))
    return [begun[order[i % len(begun)]] for i in range(runs)]


_ORDER = 2**64 - 2
"""Key of the streams that say which runs a stage goes on from; no host has it."""


def splitting_problem(scenario: FabricScenario) -> tuple[Keys, str]:
    """Return the key of a scenario by which its runs cannot be split, and why; nothing where they can."""
    for way, part in scenario.parts:
        if part.kind != "poisson":
            text = f"{part.kind} cannot be drawn anew from a moment on; splitting needs poisson, or use model-free"
            return (*way, "kind"), text
    return (), ""
