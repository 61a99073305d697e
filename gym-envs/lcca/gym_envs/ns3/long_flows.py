"""Long flows over one link whose rate may change, in milliseconds and megabits: what benchmarks of real networks run.

`run_long_trials` runs them in ns-3 (`lcca.gym_envs.ns3.long_plan` has what becomes of them there).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from lcca.inputs.errors import require

if TYPE_CHECKING:
    from lcca.remy_plus.policies.policy import Policy

MIN_RTO_MS = 200.0
"""Linux's (TCP_RTO_MIN), where the published rankings come from; RFC 6298 and ns-3 have a second."""

Driver: TypeAlias = Union[tuple[Any, ...], "Policy"]
"""What drives a flow: a policy, or what `Ns3.compile` makes of it."""


@dataclass(frozen=True)
class Bottleneck:
    """One link, both ways with the same rate and buffer, drop-tail, with marks if it is told from when on.

    Attributes:
        rates: (from when in s, Mb/s), the first from 0 on. A rate holds from its instant on, also for what is left of
            the packet being sent.
        rtt_ms: of an idle path, transmission not counted; half of it is each way.
        buffer_packets: that may wait; the one being sent does not count.
        loss: share of data packets that are lost behind the link.
        mark_packets: a packet that can be marked (ECN) is, if so many are left waiting as it leaves the buffer; None
            marks nothing. Whatever changes later, as for the buffer.

    Raises:
        InputError: a value that is out of range, or times that do not increase.
    """

    rates: tuple[tuple[float, float], ...]
    rtt_ms: float
    buffer_packets: int
    loss: float = 0.0
    mark_packets: int | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        times = [at for at, _ in self.rates]
        ordered = bool(times) and times[0] == 0 and all(a < b for a, b in pairwise(times))
        require(ordered and math.isfinite(times[-1]), "rates: times must begin at 0 s and increase")
        require(all(0 < rate < math.inf for _, rate in self.rates), "rates: must be > 0 Mb/s")
        require(0 < self.rtt_ms < 60_000, "rtt_ms: must be > 0 and below 60,000")
        require(self.buffer_packets >= 1, "buffer_packets: must be at least 1")
        require(0 <= self.loss < 1, "loss: must be from 0 to below 1")
        require(self.mark_packets is None or self.mark_packets >= 1, "mark_packets: must be at least 1")

    def megabits(self, begin_s: float, end_s: float) -> float:
        """Return what the link carries in a time at most, in Mb."""
        ends = [at for at, _ in self.rates[1:]] + [math.inf]
        spans = ((max(a, begin_s), min(b, end_s), r) for (a, r), b in zip(self.rates, ends, strict=True))
        return sum(rate * (b - a) for a, b, rate in spans if b > a)


@dataclass(frozen=True)
class LongFlow:
    """A flow that sends without end.

    Attributes:
        policy: what drives it.
        start_s: when it begins.
    """

    policy: Driver
    start_s: float = 0.0


@dataclass(frozen=True)
class LongTrial:
    """Flows over a link, counted in windows of time.

    Attributes:
        link: that all share.
        flows: each between hosts of its own.
        duration_s: of the trial.
        windows_s: (begin, end) of each, the end not included; they may overlap.
        seed: of random loss and of what congestion controls draw.
        min_rto_ms: smallest retransmission timeout.
        initial_window: packets, of hand-designed congestion controls (RFC 6928, as in Linux).

    Raises:
        InputError: a value that is out of range.
    """

    link: Bottleneck
    flows: tuple[LongFlow, ...]
    duration_s: float
    windows_s: tuple[tuple[float, float], ...]
    seed: int = 1
    min_rto_ms: float = MIN_RTO_MS
    initial_window: int = 10

    def __post_init__(self) -> None:
        """Check the values."""
        require(0 < self.duration_s <= 1e5, "duration_s: must be > 0 and at most 100,000")
        require(len(self.flows) > 0, "flows: at least one is needed")
        require(all(0 <= f.start_s < self.duration_s for f in self.flows), "start_s: must be within the trial")
        within = all(0 <= a < b <= self.duration_s for a, b in self.windows_s)
        require(within and len(self.windows_s) > 0, "windows_s: at least one, within the trial, begin before end")
        require(self.min_rto_ms > 0 and self.initial_window >= 1, "min_rto_ms, initial_window: must be > 0")


@dataclass(frozen=True)
class WindowCounts:
    """What the data packets of a flow did in a window, at the link.

    Attributes:
        packets: that left; retransmissions are packets as others are.
        bytes: of those, on the wire.
        first_s: when the last bit of the first left; not a number where none did.
        last_s: when that of the last did.
        delay_ms: mean over those of waiting, transmission and half of `rtt_ms`; not a number where none left.
        sent: that came to the link.
        dropped: that found its buffer full.
        rtt_ms: mean over acknowledgements that reached the sender; not a number where none did.
    """

    packets: int
    bytes: int
    first_s: float
    last_s: float
    delay_ms: float
    sent: int
    dropped: int
    rtt_ms: float


@dataclass(frozen=True)
class LongResult:
    """What became of a trial.

    Attributes:
        windows: by flow, then by window; empty if it failed.
        packets: data packets that the flows sent in the whole trial.
        events: of ns-3.
        cpu_s: that it took in its worker.
        error: why it failed; empty otherwise.
    """

    windows: tuple[tuple[WindowCounts, ...], ...]
    packets: int = 0
    events: int = 0
    cpu_s: float = 0.0
    error: str = ""
