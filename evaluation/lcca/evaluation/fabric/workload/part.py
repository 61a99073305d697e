"""What every workload has that is no mix of others, and the random streams that it draws from."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from lcca.evaluation.fabric.workload.load import LinkLoads
from lcca.inputs.model import Model
from lcca.remy_plus import _core
from lcca.remy_plus.fabric.flows import FabricFlows, few_classes
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.workload import FlowSizes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Misfit = tuple[tuple[str | int, ...], str]
"""The keys of a workload that do not fit a fabric, and why."""

MOST_US, MOST_BYTES = 1e9, 10**12
"""Of a time that a workload waits, and of a flow."""

NO_HOST = -1 % 2**64
"""Key of the streams that belong to no host."""


class Component(IntEnum):
    """What a stream is used for, numbered as in `remy-plus/include/remy_plus/core/random.hpp`."""

    FLOW_LENGTH = 4
    ARRIVAL = 6
    FLOW_ENDS = 9


@dataclass(frozen=True)
class Streams:
    """The streams of one workload of a trial: one per host (or event) and component.

    Draws come from the engine's counter-based generator and its own logarithm: their bits do not depend on libraries.

    Attributes:
        seed: of the trial.
        network: number of the network.
        part: of a mix of workloads, from 0: no two parts share a stream.
    """

    seed: int
    network: int = 0
    part: int = 0

    def uniforms(self, component: Component, key: int, count: int) -> Floats:
        """Return the first draws on (0, 1] of one stream."""
        return np.array(_core.uniforms(self.seed, self.network, component, key, self.part, count))

    def arrivals(self, key: int, mean_ns: float, end_ns: float) -> Floats:
        """Return the times before `end_ns` of a Poisson process with this mean gap, from time 0."""
        count = int(1.2 * end_ns / mean_ns) + 32
        while True:
            logs = [_core.portable_log(draw) for draw in self.uniforms(Component.ARRIVAL, key, count).tolist()]
            times: Floats = np.cumsum(-mean_ns * np.array(logs))
            if times[-1] >= end_ns:
                return times[times < end_ns]
            count *= 2

    def sizes(self, key: int, sizes: FlowSizes, count: int) -> Ints:
        """Return sizes in bytes from a table in bytes, rounded up to whole ones, at least 1."""
        draws = self.uniforms(Component.FLOW_LENGTH, key, count)
        return np.maximum(np.ceil(np.interp(draws, sizes.cumulative, sizes.packets)), 1).astype(np.int64)

    def choices(self, key: int, among: int, count: int) -> Ints:
        """Return numbers from 0 to `among` − 1, all equally likely."""
        return np.ceil(self.uniforms(Component.FLOW_ENDS, key, count) * among).astype(np.int64) - 1

    def shuffled(self, key: int, values: Ints) -> Ints:
        """Return values in a random order."""
        return values[np.argsort(self.uniforms(Component.FLOW_ENDS, key, len(values)), kind="stable")]


class Part(Model):
    """A workload that is no mix of others.

    Attributes:
        priority: the class of its flows, 0 served first; the switches' `priorities` says how many there are.
    """

    priority: int = Field(default=0, ge=0)

    @property
    def moments_us(self) -> tuple[float, ...]:
        """When what it asks of the fabric changes: it is the same from one to the next."""
        return (0.0,)

    def draw(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the flows that start within the duration."""
        flows = self.drawn(topology, streams, duration_ns)
        return replace(flows, priority=np.full(len(flows), self.priority)) if self.priority else flows

    def has_classes(self, topology: FabricTopology) -> bool:
        """Tell whether any of its flows has another class than the first."""
        return self.priority > 0

    def class_problem(self, topology: FabricTopology, classes: int, by_size: bool) -> Misfit | None:
        """Return the key of a class that switches with so many have not, or that classes by size replace, and why."""
        if self.priority >= classes:
            return ("priority",), few_classes(self.priority, classes)
        if by_size and self.has_classes(topology):
            return ("priority",), "excludes switch.class_bytes: leave one of them out"
        return None

    @abstractmethod
    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return how many flows are to be drawn for the duration, in the mean."""

    @abstractmethod
    def drawn(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the same, whatever their class."""

    def problem(self, topology: FabricTopology) -> Misfit | None:
        """Return the key that does not fit a fabric, and why; nothing where all do."""
        return None

    def jobs(self, topology: FabricTopology) -> int:
        """Return how many jobs of training it has."""
        return 0

    def loads(self, topology: FabricTopology, at_us: float = 0) -> LinkLoads | None:
        """Return the mean load of every link at a moment; nothing without a rate of its own."""
        return None
