"""The hosts of a fabric as a scenario's file gives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from lcca.inputs.errors import Keys
from lcca.inputs.model import Model
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.topology import FabricTopology


class HostModel(Model):
    """What all hosts have.

    Attributes:
        scheduling: which of its flows that may send a host sends of: of each in turn (round-robin), of that with the
            fewest bytes left to send (shortest), or of that with the fewest bytes sent (least-sent), which needs no
            sizes; the transport's own if left out: Homa's is shortest, that of all others round-robin.
        retransmit_us: a sender without progress for so long goes back to what is not acknowledged, a selective one
            sends a packet again so long after it was sent, neither before two base RTTs; 1000 if left out.
        retransmit_rtts: the same in base RTTs; where senders go back, it doubles with every timeout in a row, up to 64
            times.
        nack_gap_us: a receiver asks for the same packet only so often; 500 if left out.
        nack_gap_rtts: the same in base RTTs.
    """

    scheduling: Literal["round-robin", "shortest", "least-sent"] | None = None
    retransmit_us: float | None = Field(default=None, gt=0, le=1e9)
    retransmit_rtts: float | None = Field(default=None, ge=1, le=1e6)
    nack_gap_us: float | None = Field(default=None, gt=0, le=1e9)
    nack_gap_rtts: float | None = Field(default=None, ge=1, le=1e6)

    @model_serializer(mode="wrap")
    def _written(self, content: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in content(self).items() if value is not None}

    def problems(self, fabric: FabricTopology, preset: str) -> Iterator[tuple[Keys, str]]:
        """Yield keys that do not fit each other, the preset or the fabric, and why."""
        if self.scheduling is not None and preset != "default":
            yield ("scheduling",), f"preset {preset} has its own simulator's order: leave scheduling out, or the preset"
        for timer in ("retransmit", "nack_gap"):
            time_us, rtts = getattr(self, f"{timer}_us"), getattr(self, f"{timer}_rtts")
            if time_us is not None and rtts is not None:
                yield (f"{timer}_us",), f"and {timer}_rtts are the same time: leave one out"
            if time_us is not None and time_us < (base_us := base_rtt_us(fabric)):
                yield (f"{timer}_us",), f"must be at least one base RTT, here {base_us:.4g}, got {time_us:g}"

    def settings(self) -> dict[str, Any]:
        """Return the engine's settings."""
        return {
            {"retransmit_us": "retransmit_after_us"}.get(key, key): value for key, value in self.model_dump().items()
        }


def base_rtt_us(fabric: FabricTopology) -> float:
    """Return the round trip without queues that transports go by: the largest of all pairs of hosts."""
    one = FabricFlows(np.array([0]), np.array([1]), np.array([1]), np.array([0.0]))
    return float(FabricEngine("window").run(fabric, one)["base_rtt_ns"]) / 1000
