"""What every workload has that is no mix of others."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from lcca.evaluation.fabric.workload.streams import Floats, Streams
from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.inputs.model import Model
from lcca.inputs.names import FileOrName
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.topology import FabricTopology

Misfit = tuple[tuple[str | int, ...], str]
"""The keys of a workload that do not fit a fabric, and why."""

MOST_US = 1e9
"""Of a time that a workload waits."""


def _usable_sizes(name: str) -> str:
    flow_sizes(name)
    return name


Sizes = Annotated[FileOrName, AfterValidator(_usable_sizes)]
"""Of flows: a packaged table, a YAML file, `lognormal:MU:SIGMA` or `uniform:LOW:HIGH`."""


class Part(Model):
    """A workload that is no mix of others.

    Attributes:
        priority: the class of its flows; the switches' `priorities` says how many there are.
    """

    dense: ClassVar[bool] = False
    """Whether it has a rate for each pair of hosts (`demand`)."""

    priority: int = Field(default=0, ge=0)

    @property
    def moments_us(self) -> tuple[float, ...]:
        """When what it asks of the fabric changes: it is the same from one to the next."""
        return (0.0,)

    def draw(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the flows that start within the duration."""
        flows = self.drawn(topology, streams, duration_ns)
        return replace(flows, priority=np.full(len(flows), self.priority))

    @abstractmethod
    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return how many flows are to be drawn for the duration, in the mean."""

    @abstractmethod
    def drawn(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the same, whatever their class."""

    @abstractmethod
    def demand(self, topology: FabricTopology, at_us: float = 0) -> Floats | None:
        """Return the mean traffic between hosts at a moment, (hosts, hosts) Gb/s; nothing without a rate of its own."""


class Timed(Part):
    """A workload without end, or that comes and goes: its flows start between two moments.

    Attributes:
        start_us: from then on.
        stop_us: and before then; within the whole duration if left out.
    """

    dense: ClassVar[bool] = True

    start_us: float = Field(default=0, ge=0, le=MOST_US)
    stop_us: float | None = Field(default=None, gt=0, le=MOST_US)

    @model_validator(mode="after")
    def _stops_after_its_start(self) -> Timed:
        if self.stop_us is not None and self.stop_us <= self.start_us:
            raise ValueError(f"stop_us must be after start_us ({self.start_us:g} µs), got {self.stop_us:g}")
        return self

    @property
    def ends(self) -> bool:
        """Whether it has a last flow, whatever the duration."""
        return self.stop_us is not None

    @property
    def moments_us(self) -> tuple[float, ...]:
        """When it begins; what it no longer asks when it is over needs no look."""
        return (self.start_us,)

    def runs(self, at_us: float) -> bool:
        """Tell whether flows may start at a moment."""
        return self.start_us <= at_us < (math.inf if self.stop_us is None else self.stop_us)

    def span_ns(self, duration_ns: float) -> tuple[float, float]:
        """Return when the first flow may start, and for how long flows may from then on, in ns."""
        first = self.start_us * 1000
        last = duration_ns if self.stop_us is None else min(duration_ns, self.stop_us * 1000)
        return first, max(last - first, 0.0)
