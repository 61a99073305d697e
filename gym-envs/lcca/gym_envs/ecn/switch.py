"""A switch's egress queue in ns-3 whose marking is set interval by interval, and what that is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from lcca.gym_envs.ecn.incast import HEADER_BYTES, Incast, Trace
from lcca.gym_envs.ecn.settings import MarkSetting
from lcca.gym_envs.ns3.host import SWITCH
from lcca.gym_envs.ns3.simulator import installed
from lcca.gym_envs.processes.session import Session
from lcca.inputs.errors import InputError
from lcca.inputs.model import Model
from lcca.inputs.units import PACKET_BYTES

SMALL_BYTES = 100e3
"""Flows below are small: PRED's paper measures their completion times (section VI-C.3)."""


@dataclass(frozen=True)
class Reading:
    """What a switch sees of its queue over an interval.

    Attributes:
        time_us: the interval's length.
        queue: packets waiting, mean over time.
        rate: share of the link's rate that was sent.
        marked: share of the link's rate that was marked.
        now_us: at its end.
        over: whether the trial is over.
    """

    time_us: float
    queue: float
    rate: float
    marked: float
    now_us: float
    over: bool


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

    def measures(self) -> dict[str, float]:
        """Return quantiles of completion times (NaN where no flow ended) and, over time, of the queue in packets."""
        small, ended, length = self.size_bytes < SMALL_BYTES, np.isfinite(self.fct_us), np.cumsum(self.queue_us)
        flows = {
            **{f"small_fct_p{p}_us": (self.fct_us[small & ended], p) for p in (50, 99)},
            **{f"small_slowdown_p{p}": (self.slowdown[small & ended], p) for p in (50, 99)},
            "large_fct_p99_us": (self.fct_us[~small & ended], 99),
        }
        return {
            **{name: float(np.percentile(found, p)) if len(found) else np.nan for name, (found, p) in flows.items()},
            "queue_mean": float(self.queue_us @ np.arange(len(length)) / length[-1]),
            **{f"queue_p{p}": float(np.searchsorted(length, p / 100 * length[-1])) for p in (50, 95, 99)},
            "unfinished": int((~ended).sum()),
            "marked": self.marked,
            "dropped": self.dropped,
        }


class EcnSwitch:
    """Trials of an incast in ns-3, one at a time, in a process of its own.

    Args:
        incast: the traffic.
        timeout: seconds within which ns-3 must play an interval.

    Raises:
        InputError: ns-3 is not installed.
    """

    def __init__(self, incast: Incast, timeout: float = 60.0) -> None:
        installed()
        self.incast = incast
        self._session = Session(SWITCH, timeout)
        self._trace: Trace = []
        self._about = ""

    def begin(self, trace: int, seed: int) -> None:
        """Set a trial up.

        Args:
            trace: seed of the flows.
            seed: of the draws that decide which packets are marked.

        Raises:
            SimulationLost: ns-3 died or did not answer; the message names trace and seed.
        """
        self._about = f"trace {trace}, seed {seed}"
        self._trace = self.incast.trace(trace)
        self._session.call("begin", self.incast.plan(self._trace, seed), about=self._about)

    def advance(self, setting: MarkSetting, interval_us: float) -> Reading:
        """Mark by a setting for an interval, or to the end of the trial.

        Raises:
            InputError: the trial is over.
            SimulationLost: ns-3 died or did not answer.
        """
        time, queue, sent, marked, now, over = self._session.call(
            "advance", setting.min_k, setting.max_k, setting.max_p, interval_us, about=self._about
        )
        full = self.incast.bytes_per_us * time
        return Reading(time, queue, sent / full, marked * PACKET_BYTES / full, now, over)

    def record(self) -> SwitchRecord:
        """Return the record of the trial, which is over; once."""
        if not self._about:
            raise InputError("record: no trial has begun")
        found = self._session.call("collect", about=self._about)
        self._about = ""
        return _record(self.incast, self._trace, found)

    def close(self) -> None:
        """End ns-3's process."""
        self._session.close()


def _record(incast: Incast, trace: Trace, found: dict[str, Any]) -> SwitchRecord:
    """Match the flows that were played, in order on each connection, with those of the trace."""
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
