"""What episodes on a fabric are drawn from, and a small example of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from lcca.remy_plus.core.elementary import exp
from lcca.remy_plus.fabric.builders import leaf_spine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings, settings
from lcca.remy_plus.fabric.topology import FabricTopology


class Fabric(Protocol):
    """A fabric and its workload, as `lcca.evaluation.fabric.scenario.FabricScenario` is one."""

    @property
    def fabric(self) -> FabricTopology:
        """The topology."""

    @property
    def end_ns(self) -> float:
        """When no more flows start; infinite where nothing says so."""

    def flows(self, seed: int) -> FabricFlows:
        """Return the flows of an episode."""

    def settings(self) -> FabricSettings:
        """Return the engine's settings."""

    def horizon_ns(self, flows: FabricFlows) -> float:
        """Return when an episode with these flows ends at the latest."""


@dataclass(frozen=True)
class SmallFabric:
    """Two racks of four hosts at 100 Gb/s below two spines; flows of 1 kB to 1 MB between any two hosts.

    Attributes:
        flow_count: of an episode.
        duration_us: within which they start, uniformly.
    """

    flow_count: int = 80
    duration_us: float = 500.0

    @cached_property
    def fabric(self) -> FabricTopology:
        """The topology."""
        return leaf_spine(2, 4, 2)

    @property
    def end_ns(self) -> float:
        """The end of the duration."""
        return self.duration_us * 1000

    def flows(self, seed: int) -> FabricFlows:
        """Return flows whose sizes are log-uniform."""
        draws, hosts = np.random.default_rng(seed), self.fabric.hosts
        src = draws.integers(hosts, size=self.flow_count)
        dst = (src + draws.integers(1, hosts, size=self.flow_count)) % hosts
        size = exp(draws.uniform(math.log(1e3), math.log(1e6), self.flow_count)).astype(np.int64)
        return FabricFlows(src, dst, size, np.sort(draws.uniform(0, self.end_ns, self.flow_count)))

    def settings(self) -> FabricSettings:
        """Return the usual ones."""
        return settings()

    def horizon_ns(self, flows: FabricFlows) -> float:
        """Return ten times the duration."""
        return 10 * self.end_ns
