"""All workloads of a fabric by their kind, and mixes of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from lcca.evaluation.fabric.workload.incast import Incast
from lcca.evaluation.fabric.workload.part import Misfit, Part
from lcca.evaluation.fabric.workload.patterns import AllToAll, Permutation
from lcca.evaluation.fabric.workload.poisson import Poisson
from lcca.evaluation.fabric.workload.streams import Floats, Streams
from lcca.inputs.errors import InputError
from lcca.inputs.model import Model
from lcca.inputs.names import FileOrName
from lcca.remy_plus.fabric.flows import FabricFlows, in_order
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.fabric.traces import read_flows


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

    def demand(self, topology: FabricTopology, at_us: float = 0) -> Floats | None:
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

    @property
    def moments_us(self) -> tuple[float, ...]:
        """When what it asks of the fabric changes."""
        return tuple(sorted({at_us for each in self.parts for at_us in each.moments_us}))

    def demand(self, topology: FabricTopology, at_us: float = 0) -> Floats | None:
        """Return the mean traffic between hosts at a moment, (hosts, hosts) Gb/s, of the parts that have one."""
        demands = [demand for each in self.parts if (demand := each.demand(topology, at_us)) is not None]
        return np.sum(demands, axis=0) if demands else None

    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return how many flows start within the duration, in the mean."""
        return sum(each.count(topology, duration_ns) for each in self.parts)

    def draw(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the flows of all parts that start within the duration."""
        parts = enumerate(self.parts)
        return in_order([each.draw(topology, replace(streams, part=part), duration_ns) for part, each in parts])


Workload = Annotated[Poisson | Incast | AllToAll | Permutation | Trace | Mix, Field(discriminator="kind")]
