"""The switches of a fabric as a scenario's file gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from lcca.inputs.errors import InputError
from lcca.inputs.model import Model, keyed_numbers, problem_at, raise_problems
from lcca.remy_plus import _core
from lcca.remy_plus.fabric.flows import FabricFlows, few_classes
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.switches.markers import MARKERS, Marking, marking

HEADROOM_FRAMES = 4
"""For each link beside its delays; `remy-plus/src/fabric/simulation_setup.cpp` says which."""


class MarkerModel(Model):
    """A marker of `lcca.remy_plus.switches.markers.MARKERS`, and those of its parameters that differ from the defaults.

    Attributes:
        kind: its name.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float]

    kind: str

    @model_validator(mode="before")
    @classmethod
    def _quantities(cls, value: Any) -> Any:
        return keyed_numbers(value)

    @model_validator(mode="after")
    def _possible(self) -> MarkerModel:
        try:
            self.build()
        except InputError as error:
            key, _, text = str(error).partition(": ")
            raise_problems("marker", [problem_at((key,), text)])
        return self

    def build(self) -> Marking:
        """Return the marker."""
        return marking(self.kind, **self.__pydantic_extra__)


class SwitchModel(Model):
    """What all switches have.

    Attributes:
        buffer_bytes: shared by all ports of a switch, headroom apart.
        buffer_bytes_per_port: in its place: so much for each port of a switch, shared by all of them; switches of
            100G have 0.2 to 0.5 MB.
        pfc: pause what comes in rather than drop it.
        alpha: share of the free buffer that one ingress (with PFC) or one queue (without) may take, at 100 Gb/s.
        headroom_delays: headroom of a port for what arrives after a pause: its link's rate times so many of its delays
            (HPCC's simulator has three).
        priorities: classes of traffic, 0 first: each has its own queues, thresholds, headroom and pauses; each
            transport's own if left out, 1 for most.
        class_bytes: a flow's class is by its size: 0 below so many bytes, one more for each doubling, at most the last
            (as hosts set code points); the workload's `priority` if left out.
        ack_priority: the class of ACKs; that of their data if left out (HPCC's simulator can put them first).
        marker: which packets are marked; each transport's own if left out.
        mark_at: where a packet is marked: as it leaves the queue, as it joins it or, with `queue_bdps`, as its last bit
            is sent.
        thresholds: by which rate of a link that slows down those of marks go, and how much own queues hold: as `built`,
            or the `current` one.
        queue_bdps: in place of a shared buffer and PFC: the data of each port wait in a queue of its own of so many
            bandwidth-delay products; above it a fair coin picks the packet that comes or the newest that waits.
        trim_bytes: with `queue_bdps`: what is left of the picked one, which goes before data; 0 drops it.
    """

    units: ClassVar[Mapping[str, str]] = {"buffer_bytes_per_port": "bytes", "class_bytes": "bytes"}

    buffer_bytes: float = Field(default=32 * 2**20, gt=0)
    buffer_bytes_per_port: float | None = Field(default=None, gt=0)
    pfc: bool = True
    alpha: float = Field(default=0.125, gt=0)
    headroom_delays: float = Field(default=3, ge=0)
    priorities: int | None = Field(default=None, ge=1, le=8)
    class_bytes: float | None = Field(default=None, gt=0)
    ack_priority: int | None = Field(default=None, ge=0)
    marker: MarkerModel | None = None
    mark_at: Literal["dequeue", "enqueue", "sent"] = "dequeue"
    thresholds: Literal["built", "current"] = "built"
    queue_bdps: float | None = Field(default=None, gt=0, le=1e6)
    trim_bytes: int = Field(default=64, ge=0, le=1500)

    @model_serializer(mode="wrap")
    def _written(self, content: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out the buffer that does not count, and classes where there are none of their own."""
        others = {"buffer_bytes", "buffer_bytes_per_port"} - {self.buffer_key}
        others |= {key for key in ("priorities", "class_bytes") if getattr(self, key) is None}
        others |= {"thresholds"} if self.thresholds == "built" else set()
        own = {"queue_bdps", "trim_bytes"}
        others |= own if self.queue_bdps is None else {"buffer_bytes", "pfc", "alpha", "headroom_delays"}
        return {key: value for key, value in content(self).items() if key not in others}

    @model_validator(mode="after")
    def _has_one_buffer(self) -> SwitchModel:
        if self.buffer_bytes_per_port is not None and "buffer_bytes" in self.model_fields_set:
            text = "excludes buffer_bytes (of a whole switch): leave one of them out"
            raise_problems("switch", [problem_at(("buffer_bytes_per_port",), text)])
        return self

    @model_validator(mode="after")
    def _has_one_kind_of_queue(self) -> SwitchModel:
        shared = {"buffer_bytes", "buffer_bytes_per_port", "alpha", "headroom_delays"} & self.model_fields_set
        shared = {key for key in shared if getattr(self, key) is not None}
        shared |= {"pfc"} if self.pfc and "pfc" in self.model_fields_set else set()
        if self.queue_bdps is not None and shared:
            text = f"excludes {min(shared)}, which is of a shared buffer: leave one of them out"
            raise_problems("switch", [problem_at(("queue_bdps",), text)])
        if self.queue_bdps is None and (wrong := {"trim_bytes"} & self.model_fields_set):
            raise_problems("switch", [problem_at((min(wrong),), "needs queue_bdps: shared buffers drop, or pause")])
        if self.queue_bdps is None and self.mark_at == "sent":
            raise_problems("switch", [problem_at(("mark_at",), "sent needs queue_bdps; try dequeue")])
        return self

    @model_validator(mode="after")
    def _asked_where_it_can_be(self) -> SwitchModel:
        if self.marker and self.mark_at.replace("sent", "dequeue") not in MARKERS[self.marker.kind].at:
            where = " or ".join(MARKERS[self.marker.kind].at)
            raise_problems("switch", [problem_at(("mark_at",), f"{self.marker.kind} marks at {where} only")])
        return self

    @model_validator(mode="after")
    def _is_a_class(self) -> SwitchModel:
        if self.ack_priority is not None and self.ack_priority >= self.classes:
            raise_problems("switch", [problem_at(("ack_priority",), few_classes(self.ack_priority, self.classes))])
        if self.class_bytes is not None and self.classes == 1:
            raise_problems("switch", [problem_at(("class_bytes",), "needs switch.priorities above 1")])
        return self

    @property
    def classes(self) -> int:
        """How many classes of traffic flows may have."""
        return 1 if self.priorities is None else self.priorities

    def classed(self, flows: FabricFlows) -> FabricFlows:
        """Return flows in the classes of their sizes; as they are without `class_bytes`."""
        if self.class_bytes is None:
            return flows
        # frexp: size / class_bytes = m 2^e, 0.5 <= m < 1, so that e is exact at powers of two.
        doublings = np.frexp(flows.size_bytes / self.class_bytes)[1]
        return replace(flows, priority=np.clip(doublings, 0, self.classes - 1).astype(np.int32))

    def settings(self) -> dict[str, Any]:
        """Return the engine's settings."""
        return {
            "buffer_bytes": self.buffer_bytes,
            "buffer_bytes_per_port": self.buffer_bytes_per_port or 0.0,
            "lossless": self.pfc,
            "alpha": self.alpha,
            "headroom_delays": self.headroom_delays,
            "priorities": self.priorities,
            "ack_priority": self.ack_priority,
            "marker": self.marker and self.marker.build(),
            "mark_at_dequeue": self.mark_at != "enqueue",
            "thresholds_by_rate": self.thresholds == "current",
            **self._own_queues(),
        }

    def _own_queues(self) -> dict[str, Any]:
        """Return the settings of queues of their own; nothing where buffers are shared, or as the preset says."""
        if self.queue_bdps is None:
            return {}
        own = {"queue_bdps": self.queue_bdps, "trim_bytes": self.trim_bytes, "lossless": False}
        return own | ({"mark_when_sent": True} if self.mark_at == "sent" else {})

    def buffers(self, topology: FabricTopology) -> NDArray[np.float64]:
        """Return the bytes that each switch has for all of its ports, headroom apart, (switches,)."""
        if self.buffer_bytes_per_port is None:
            return np.full(topology.switches, self.buffer_bytes)
        ports = np.bincount(np.concatenate([topology.a, topology.b]), minlength=topology.nodes)[topology.hosts :]
        return np.asarray(ports * self.buffer_bytes_per_port, dtype=np.float64)

    @property
    def buffer_key(self) -> str:
        """The key that says how large the buffers are."""
        return "buffer_bytes" if self.buffer_bytes_per_port is None else "buffer_bytes_per_port"

    def problem(self, topology: FabricTopology, frame_bytes: int, classes: int | None = None) -> str:
        """Return why its buffer is too small for a fabric with such frames (less telemetry); empty if it is not.

        Args:
            topology: the fabric.
            frame_bytes: of a full frame.
            classes: of the transport; those of flows if left out.
        """
        if not self.pfc or self.queue_bdps is not None:
            return ""
        classes = classes or self.classes
        frames = HEADROOM_FRAMES * (frame_bytes + _core.FABRIC_MOST_TELEMETRY_BYTES) if self.headroom_delays else 0
        others = 2 * (classes - 1) * FabricSettings.pfc_bytes if self.headroom_delays else 0
        per_link = classes * (self.headroom_delays * topology.gbps * topology.delay_ns / 8 + frames + others)
        ends, both = np.concatenate([topology.a, topology.b]), np.tile(per_link, 2)
        headroom = np.bincount(ends, weights=both, minlength=topology.nodes)[topology.hosts :]
        buffers = self.buffers(topology)
        most = int((headroom - buffers).argmax())
        if buffers[most] >= headroom[most]:
            return ""
        return (
            f"{buffers[most]:,.0f} bytes are less than the headroom of switch {topology.hosts + most}, "
            f"{headroom[most]:,.0f} (headroom_delays × rate × delay and {HEADROOM_FRAMES} frames for each link "
            f"and class); give it more, or set pfc: false"
        )
