"""The workload of a fabric: which flows there are, whatever the transport."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, Field

from lcca.evaluation.fabric.load import link_loads
from lcca.evaluation.fabric.part import Misfit, Part
from lcca.evaluation.fabric.patterns import AllToAll, Incast, Permutation
from lcca.evaluation.fabric.streams import Floats, Streams
from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.inputs.errors import InputError
from lcca.inputs.model import Model
from lcca.inputs.named_files import FileOrName
from lcca.remy_plus.fabric.flows import FabricFlows, in_order
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.fabric.traces import read_flows
from lcca.remy_plus.workload import FlowSizes


def _usable_sizes(name: str) -> str:
    flow_sizes(name)
    return name


class Poisson(Part):
    """Flows that start at every host as a Poisson process, to any other host with equal chance.

    A host's rate of arrivals is proportional to the rate of its links. Hosts draw from streams of their own: every
    transport meets the same flows, and another load moves their starts only.

    Attributes:
        sizes: of flows: a packaged table, a YAML file or `lognormal:MU:SIGMA`.
        load: mean payload offered, as a share of the rate of the links that `load_of` names.
        load_of: "host-links", or "tor-uplinks": all links from ToRs to other switches together, to which only flows
            that cross them count (CCEval's load).
    """

    kind: Literal["poisson"]
    sizes: Annotated[FileOrName, AfterValidator(_usable_sizes)]
    load: float = Field(gt=0)
    load_of: Literal["host-links", "tor-uplinks"]

    ends: ClassVar[bool] = False

    def problem(self, topology: FabricTopology) -> Misfit | None:
        """Return the key that does not fit the fabric, and why."""
        if (
            self.load_of == "tor-uplinks"
            and not link_loads(topology, self._full(topology)).gbps[topology.uplinks].any()
        ):
            return ("load_of",), "no flow crosses links between switches; use host-links"
        return None

    def demand(self, topology: FabricTopology) -> Floats:
        """Return the mean traffic between hosts, (hosts, hosts) Gb/s."""
        full = self._full(topology)
        if self.load_of == "host-links":
            return full * self.load
        return full * (self.load / link_loads(topology, full).of_uplinks)

    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return how many flows start within the duration, in the mean."""
        bits = flow_sizes(self.sizes, packet_bytes=1).mean_packets * 8
        return float(self.demand(topology).sum()) * duration_ns / bits

    def drawn(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the flows that start within the duration."""
        sizes = flow_sizes(self.sizes, packet_bytes=1)
        gbps = self.demand(topology).sum(axis=1).tolist()
        starts = [streams.arrivals(h, sizes.mean_packets * 8 / rate, duration_ns) for h, rate in enumerate(gbps)]
        return in_order([_from_host(host, topology.hosts, streams, sizes, each) for host, each in enumerate(starts)])

    def _full(self, topology: FabricTopology) -> Floats:
        """Return the traffic between hosts that send at the rate of their links, (hosts, hosts) Gb/s."""
        full = np.repeat(topology.host_gbps[:, None] / (topology.hosts - 1), topology.hosts, axis=1)
        np.fill_diagonal(full, 0)
        return full


def _from_host(host: int, hosts: int, streams: Streams, sizes: FlowSizes, starts: Floats) -> FabricFlows:
    other = streams.choices(host, hosts - 1, len(starts))
    size = streams.sizes(host, sizes, len(starts))
    return FabricFlows(np.full(len(starts), host), other + (other >= host), size, starts)


class Trace(Part):
    """The flows of a file, with their paths where it has any; the same for every seed.

    Attributes:
        flows: CSV file with the columns id, src, dst, size_bytes, start_ns and perhaps path, ack_path.
    """

    kind: Literal["trace"]
    flows: FileOrName

    ends: ClassVar[bool] = True

    def problem(self, topology: FabricTopology) -> Misfit | None:
        """Return the key that does not fit the fabric, and why."""
        try:
            read_flows(self.flows, topology)
        except InputError as error:
            return ("flows",), str(error)
        return None

    def demand(self, topology: FabricTopology) -> Floats | None:
        """Return nothing: a trace ends, whatever it asks."""
        return None

    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return none: the file's are there already."""
        return 0

    def drawn(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the flows of the file that start within the duration."""
        return read_flows(self.flows, topology).before(duration_ns)


Single = Annotated[Poisson | Incast | AllToAll | Permutation | Trace, Field(discriminator="kind")]


class Mix(Model):
    """Several workloads at once, each with random streams of its own.

    Attributes:
        parts: the workloads; another one at the end changes nothing in those before it.
    """

    kind: Literal["mix"]
    parts: tuple[Single, ...] = Field(min_length=1)

    @property
    def ends(self) -> bool:
        """Whether it has a last flow."""
        return all(each.ends for each in self.parts)

    def problem(self, topology: FabricTopology) -> Misfit | None:
        """Return the key that does not fit the fabric, and why."""
        for part, each in enumerate(self.parts):
            if misfit := each.problem(topology):
                keys, text = misfit
                return ("parts", part, *keys), text
        return None

    def demand(self, topology: FabricTopology) -> Floats | None:
        """Return the mean traffic between hosts, (hosts, hosts) Gb/s, of the parts that have one."""
        demands = [demand for each in self.parts if (demand := each.demand(topology)) is not None]
        return np.sum(demands, axis=0) if demands else None

    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return how many flows start within the duration, in the mean."""
        return sum(each.count(topology, duration_ns) for each in self.parts)

    def draw(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the flows of all parts that start within the duration."""
        parts = enumerate(self.parts)
        return in_order([each.draw(topology, replace(streams, part=part), duration_ns) for part, each in parts])


Workload = Annotated[Poisson | Incast | AllToAll | Permutation | Trace | Mix, Field(discriminator="kind")]
