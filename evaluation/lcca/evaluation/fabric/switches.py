"""The switches of a fabric as a scenario's file gives them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from lcca.inputs.model import Model, problem_at, raise_problems
from lcca.remy_plus.fabric.topology import FabricTopology


class Ecn(Model):
    """Marking by the bytes that wait at a port: never below kmin, always above kmax, between them up to pmax (RED).

    Attributes:
        kmin_bytes: of a port of 100 Gb/s; other rates in proportion.
        kmax_bytes: likewise; the same as kmin_bytes for a step.
        pmax: probability at kmax_bytes.
    """

    kmin_bytes: float = Field(ge=0)
    kmax_bytes: float = Field(ge=0)
    pmax: float = Field(gt=0, le=1)

    @model_validator(mode="after")
    def _in_order(self) -> Ecn:
        if self.kmin_bytes > self.kmax_bytes:
            text = f"must be at least kmin_bytes ({self.kmin_bytes:g}), got {self.kmax_bytes:g}"
            raise_problems("ecn", [problem_at(("kmax_bytes",), text)])
        return self


class SwitchModel(Model):
    """What all switches have.

    Attributes:
        buffer_bytes: shared by all ports of a switch, headroom apart.
        pfc: pause what comes in rather than drop it.
        alpha: share of the free buffer that one ingress (with PFC) or one queue (without) may take, at 100 Gb/s.
        headroom_delays: headroom of a port for what arrives after a pause: its link's rate times so many of its delays
            (HPCC's simulator has three).
        ecn: thresholds; those of each transport if left out.
        mark_at: where a packet is marked: as it leaves the queue or as it joins it.
    """

    buffer_bytes: float = Field(default=32 * 2**20, gt=0)
    pfc: bool = True
    alpha: float = Field(default=0.125, gt=0)
    headroom_delays: float = Field(default=3, ge=0)
    ecn: Ecn | None = None
    mark_at: Literal["dequeue", "enqueue"] = "dequeue"

    def settings(self) -> dict[str, Any]:
        """Return the engine's settings."""
        found = {
            "buffer_bytes": self.buffer_bytes,
            "lossless": self.pfc,
            "alpha": self.alpha,
            "headroom_delays": self.headroom_delays,
            "mark_at_dequeue": self.mark_at == "dequeue",
        }
        if self.ecn is None:
            return found
        thresholds = {"mark_min_bytes": self.ecn.kmin_bytes, "mark_max_bytes": self.ecn.kmax_bytes}
        return found | thresholds | {"mark_most": self.ecn.pmax}

    def problem(self, topology: FabricTopology) -> str:
        """Return why its buffer is too small for the fabric; empty if it is not."""
        if not self.pfc:
            return ""
        per_link = self.headroom_delays * topology.gbps * topology.delay_ns / 8
        ends, both = np.concatenate([topology.a, topology.b]), np.tile(per_link, 2)
        headroom = np.bincount(ends, weights=both, minlength=topology.nodes)[topology.hosts :]
        most = int(headroom.argmax())
        if self.buffer_bytes >= headroom[most]:
            return ""
        return (
            f"{self.buffer_bytes:,.0f} bytes are less than the headroom of switch {topology.hosts + most}, "
            f"{headroom[most]:,.0f} (headroom_delays × rate × delay of its links); give it more, or set pfc: false"
        )
