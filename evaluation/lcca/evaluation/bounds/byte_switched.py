"""What is possible with byte-switched senders, whose flows last until nothing of them is under way any more.

How long they are on depends on the policy, so the best allocation is no convex program. There is the fair share, and an
upper bound that holds for any policy, whatever its flows lose:

Let r = T/C be what a sender gets of its share of time. For any set S of k of n senders, the link serves packets of S
only while one of S is on, and then the shares of S add up to 1/(1 + n − k) of the time at least. So
Σ x/C <= (1 + n − k)·Σ s over S. If S are the k senders with the largest r, the k-th of them therefore has
r <= n − k + 1: else all of S had more. Hence Σ log r <= log n!. With one sender the link's rate is the limit; of many,
those whose short flows are served first while the others wait do get more than the link's rate of their share.
"""

from __future__ import annotations

import math
from collections import deque
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.bounds.bottleneck import Bottleneck
from lcca.evaluation.trials.throughput_delay import ThroughputDelay
from lcca.remy_plus.engine import FlowPlan

Floats = NDArray[np.float64]


def upper_bound(counted: int, senders: int, link: Bottleneck, utility: ThroughputDelay) -> float:
    """Return what no trial's score exceeds, in bits, if so many of the senders count."""
    shares = np.arange(senders, senders - counted, -1)
    return float(utility.of(shares / link.service_us, link.round_trip_us).mean())


class ProcessorSharing:
    """A link that everyone with packets left shares equally, without a queue: what each sender gets, in packets and µs.

    A flow begins a pause after its sender's previous one has arrived. Two clocks do all sums: what each that sends has
    been served since the trial began, and the share of time of each that is on.

    Attributes:
        packets: (senders,) sent by the end of the trial.
        share_us: (senders,) integral of dt / (senders that are on) while on.
    """

    def __init__(self, plan: FlowPlan, senders: int, link: Bottleneck, duration: float) -> None:
        """Play a trial of this duration (µs)."""
        self.packets, self.share_us = np.zeros(senders), np.zeros(senders)
        self._waits = link.round_trip_us - link.service_us  # from the last packet's departure to its acknowledgement
        self._flows = [deque[tuple[float, int]]() for _ in range(senders)]
        for sender, pause, length in zip(plan.sender, plan.pause_us, plan.length, strict=True):
            self._flows[sender].append((float(pause), int(length)))
        self._due: list[tuple[float, int]] = []  # when a sender goes on, or off
        self._sending: list[tuple[float, int]] = []  # where the clock of service will be when a sender's flow is sent
        self._on: dict[int, float] = {}  # where the clock of shares was when a sender came on
        self._now = self._served = self._shared = 0.0
        for sender in range(senders):
            self._pause(sender)
        self._play(1 / link.service_us, duration)

    def _play(self, rate: float, duration: float) -> None:
        while self._now < duration:
            sent = math.inf
            if self._sending:
                sent = self._now + max(self._sending[0][0] - self._served, 0.0) * len(self._sending) / rate
            due = self._due[0][0] if self._due else math.inf
            time = min(sent, due, duration)
            if self._sending:
                self._served += (time - self._now) * rate / len(self._sending)
            if self._on:
                self._shared += (time - self._now) / len(self._on)
            self._now = time
            if self._now >= duration:
                break
            if sent <= due:
                sender = heappop(self._sending)[1]
                heappush(self._due, (self._now + self._waits, sender))
            elif (sender := heappop(self._due)[1]) in self._on:
                self.share_us[sender] += self._shared - self._on.pop(sender)
                self._pause(sender)
            else:
                length = self._flows[sender].popleft()[1]
                self.packets[sender] += length
                self._on[sender] = self._shared
                heappush(self._sending, (self._served + length, sender))
        for left, sender in self._sending:
            self.packets[sender] -= left - self._served
        for sender, begin in self._on.items():
            self.share_us[sender] += self._shared - begin

    def _pause(self, sender: int) -> None:
        if self._flows[sender]:
            heappush(self._due, (self._now + self._flows[sender][0][0], sender))
