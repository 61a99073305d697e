"""The flows of a file as a workload: a trace of ours, or a file of another program."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from lcca.evaluation.fabric.formats.reading import flows_of, is_foreign
from lcca.evaluation.fabric.workload.part import Misfit, Part, Streams
from lcca.inputs.errors import InputError, about
from lcca.inputs.names import FileOrName
from lcca.remy_plus.fabric.flows import FabricFlows, few_classes
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.fabric.traces import read_flows


class Trace(Part):
    """The flows of a file, with their paths and classes where it has any; the same for every seed.

    Attributes:
        flows: CSV file with the columns id, src, dst, size_bytes, start_ns and perhaps path, ack_path; priority, the
            class of each flow in place of the key, 0 served first; after, the ids of flows that must be over before it
            starts, such as `3 17 20..35`, and delay_ns, how long after them; job and step, what it belongs to. Those
            that begin after `duration_us` are left out. Or a file of another program as `lcca import` reads it:
            htsim's (.cm), HPCC's or SimAI's (.txt) or GOAL (.goal).
        over: when flows of a CSV file are over for those that wait for them: as their last byte is received, or as
            their sender has the ACK of it. In `after` single ones may have another moment: `3:begun`, `3:received`,
            `3:acknowledged`.
    """

    kind: Literal["trace"]
    flows: FileOrName
    over: Literal["received", "acknowledged"] = "received"

    ends: ClassVar[bool] = True

    def problem(self, topology: FabricTopology, classes: int | None = None, end_ns: float = math.inf) -> Misfit | None:
        """Return the key that does not fit the fabric, so many classes or the duration, and why."""
        try:
            self._read(topology, classes, end_ns)
        except InputError as error:
            return ("flows",), str(error)
        return None

    def class_problem(self, topology: FabricTopology, classes: int, by_size: bool) -> Misfit | None:
        """Return the key whose classes cannot be, and why."""
        if misfit := self.problem(topology, classes):
            return misfit
        if self.priority and self._read(topology).priority.any():
            return ("priority",), f"excludes the column priority of {self.flows}: leave one of them out"
        return super().class_problem(topology, classes, by_size)

    def has_classes(self, topology: FabricTopology) -> bool:
        """Tell whether any of its flows has another class than the first."""
        return super().has_classes(topology) or bool(self._read(topology).priority.any())

    def jobs(self, topology: FabricTopology) -> int:
        """Return how many jobs of training its columns name."""
        return int(self._read(topology).job.max(initial=-1)) + 1

    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return none: the file's are there already."""
        return 0

    def drawn(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the flows of the file that start within the duration."""
        return self._read(topology).before(duration_ns)

    def _read(self, topology: FabricTopology, classes: int | None = None, end_ns: float = math.inf) -> FabricFlows:
        if not is_foreign(self.flows):
            return read_flows(self.flows, topology, classes, self.over, end_ns)
        flows = flows_of(self.flows)
        with about(self.flows):
            flows.before(end_ns)
            flows.require_on(topology)
            if classes is not None and flows.priority.max() >= classes:
                raise InputError(f"priority: {few_classes(int(flows.priority.max()), classes)}")
        return flows
