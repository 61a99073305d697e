"""What every workload has that is no mix of others."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

import numpy as np
from pydantic import Field

from lcca.evaluation.fabric.streams import Streams
from lcca.inputs.model import Model
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.topology import FabricTopology

Misfit = tuple[tuple[str | int, ...], str]
"""The keys of a workload that do not fit a fabric, and why."""


class Part(Model):
    """A workload that is no mix of others.

    Attributes:
        priority: the class of its flows; the switches' `priorities` says how many there are.
    """

    priority: int = Field(default=0, ge=0)

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
