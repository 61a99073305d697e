"""What an interval of a switch's egress queue is worth, and what a trial of it leaves behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from lcca.inputs.model import Model
from lcca.inputs.units import PACKET_BYTES
from lcca.studies.acc.marking.incast import HEADER_BYTES, Incast, Trace


class PredUtility(Model):
    """PRED's utility of an interval: β · R / C + (1 − β) · Φ(q), section IV-B of its paper.

    Φ is 1 up to `queue_left`, and falls in a line to 0 at `queue_most`. The paper draws it (figure 10a) without
    numbers; `queue_most` is the queue from which PRED marks every packet.

    Attributes:
        beta: weight of the throughput (the paper: 0.4).
        queue_left: packets that cost nothing (the paper: 15).
        queue_most: packets at which Φ is 0 (the paper's maxK: 500 KB).
    """

    beta: Annotated[float, Field(ge=0, le=1)] = 0.4
    queue_left: Annotated[float, Field(ge=0)] = 15.0
    queue_most: Annotated[float, Field(gt=0)] = 500e3 / PACKET_BYTES

    def __call__(self, rate: float, queue: float) -> float:
        """Return the utility, in [0, 1], of a share of the link's rate and a mean queue (packets)."""
        length = max(self.queue_most - self.queue_left, 1e-9)
        phi = 1 - min(max((queue - self.queue_left) / length, 0.0), 1.0)
        return self.beta * min(rate, 1.0) + (1 - self.beta) * phi


@dataclass(frozen=True)
class SwitchRecord:
    """What a trial left behind.

    Attributes:
        size_bytes: (flows,) payload of flows.
        fct_us: (flows,) from a flow's start to its last packet at the receiver; NaN where the trial ended before.
        slowdown: (flows,) of the completion time on an empty network.
        queue_us: (lengths,) µs in which so many packets waited.
        marked: data packets that were marked.
        dropped: data packets that found the buffer full.
    """

    size_bytes: NDArray[np.float64]
    fct_us: NDArray[np.float64]
    slowdown: NDArray[np.float64]
    queue_us: NDArray[np.float64]
    marked: int
    dropped: int


def record_of(incast: Incast, trace: Trace, found: dict[str, Any]) -> SwitchRecord:
    """Match the flows that ns-3 played, in order on each connection, with those of the trace."""
    ends: list[list[float]] = [[] for _ in trace]
    flows = found["flows"]
    for sender, end, finished in zip(flows["sender"], flows["end_us"], flows["finished"], strict=True):
        ends[sender].append(end if finished else np.nan)
    rows = [
        (packets, done - start, (done - start) / incast.ideal_us(packets))
        for given, ended in zip(trace, ends, strict=True)
        for (start, packets), done in zip(given, ended + [np.nan] * (len(given) - len(ended)), strict=True)
    ]
    packets, fct, slowdown = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return SwitchRecord(
        packets * (PACKET_BYTES - HEADER_BYTES),
        fct,
        slowdown,
        np.array(found["queue_ns"]) / 1000,
        int(found["marked"]),
        int(sum(flows["dropped"])),
    )
