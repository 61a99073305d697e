"""Senders on many links once more, as plainly as can be: queues are lists, every end of service is an event.

Senders come on once and stay on. They have a fixed window and send as fast as it allows. At one instant the ends of
services go first: a packet that arrives as another one leaves finds the place free.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass, field

BUCKETS = 10
INSTANT = 1e-9  # µs
ROUNDING = 1e-6  # of a service: arrivals between links that are so little early are at the end of the service


@dataclass
class Packet:
    sender: int
    sequence: int
    sent: float
    size: float = 1.0
    hop: int = 0
    queue: int = 0
    link: float = 0.0
    spare: float = math.inf
    received: float = math.nan


@dataclass
class Link:
    rate: float
    delay: float
    buffer: float
    interval: float = 10.0
    waiting: deque[Packet] = field(default_factory=deque)
    serving: Packet | None = None
    starts: list[tuple[int, float]] = field(default_factory=list)  # bucket, size
    accepted: int = 0
    dropped: int = 0
    most: int = 0
    latest: tuple[float, object] = (-1.0, None)  # µs of the latest arrival, and from where
    ends: float = -1.0  # µs, of the latest service
    changed: float = 0.0
    queue_integral: float = 0.0  # packet·µs
    busy: float = 0.0  # µs

    def count(self, now: float, size: float) -> float:
        """Count a start of service; return the utilisation."""
        bucket = int(now * (BUCKETS / self.interval))
        self.starts.append((bucket, size))
        oldest = max(bucket - (BUCKETS - 1), 0)
        work = sum(each for at, each in self.starts if at >= oldest)
        begin = oldest / (BUCKETS / self.interval)
        return min(1.0, work / max((now - begin) * self.rate, 1.0))

    def settle(self, now: float) -> None:
        """Bring the integrals up to now."""
        self.queue_integral += len(self.waiting) * (now - self.changed)
        self.busy += (now - self.changed) * (self.serving is not None)
        self.changed = now


@dataclass(frozen=True)
class Row:
    """One feedback."""

    now: float
    sent: float
    sender: int
    sequence: int
    queue: int
    link: float


class Reference:
    """One simulation: run it, then read `rows`, `links` and `dropped`."""

    def __init__(
        self,
        links: list[Link],
        forward: list[list[int]],
        backward: list[list[int]],
        starts: list[float],
        window: int,
        ack_size: float,
        one_way: bool,
    ) -> None:
        self.links, self.forward, self.backward = links, forward, backward
        self.window, self.ack_size, self.one_way = window, ack_size, one_way
        self.sent = [0] * len(starts)
        self.acknowledged = [-1] * len(starts)
        self.dropped = [0] * len(starts)
        self.acks_dropped = [0] * len(starts)
        self.rows: list[Row] = []
        self.first_tie = math.inf
        self.events: list[tuple[float, bool, int, str, object]] = []
        self.number = 0
        for sender, time in enumerate(starts):
            self.plan(time, "send", sender)

    def plan(self, time: float, what: str, whom: object) -> None:
        self.number += 1
        heapq.heappush(self.events, (time, what != "end", self.number, what, whom))

    def run(self, duration: float) -> None:
        while self.events and self.events[0][0] <= duration:
            now, _, _, what, whom = heapq.heappop(self.events)
            getattr(self, what)(now, whom)
        for link in self.links:
            link.settle(duration)

    def send(self, now: float, sender: int) -> None:
        while self.sent[sender] < self.acknowledged[sender] + 1 + self.window:
            packet = Packet(sender, self.sent[sender], now)
            self.sent[sender] += 1
            self.enter(now, packet)

    def way(self, packet: Packet) -> list[int]:
        return self.forward[packet.sender] + self.backward[packet.sender]

    def enter(self, now: float, packet: Packet) -> None:
        index = self.way(packet)[packet.hop]
        link = self.links[index]
        self.note_tie(now, link, (packet.sender, self.way(packet)[packet.hop - 1]) if packet.hop else packet.sender)
        if packet.hop > 0 and 0 < link.ends - now < ROUNDING / link.rate:
            return self.plan(link.ends, "enter", packet)
        if link.serving is not None and len(link.waiting) >= link.buffer:
            link.dropped += 1
            (self.dropped if packet.size == 1 else self.acks_dropped)[packet.sender] += 1
            return None
        link.settle(now)
        link.accepted += 1
        link.waiting.append(packet)
        if link.serving is None:
            self.start(now, index)
        link.most = max(link.most, len(link.waiting))
        return None

    def note_tie(self, now: float, link: Link, source: object) -> None:
        """Remember when packets first came to one link from two sides at once: their order is anyone's."""
        if now - link.latest[0] < INSTANT and source != link.latest[1]:
            self.first_tie = min(self.first_tie, now)
        link.latest = (now, source)

    def start(self, now: float, index: int) -> None:
        link = self.links[index]
        packet = link.waiting.popleft()
        link.serving = packet
        used = link.count(now, packet.size)
        if packet.size == 1 or not self.one_way:
            packet.queue = max(packet.queue, len(link.waiting))
            packet.link = max(packet.link, used)
            packet.spare = min(packet.spare, link.rate * (1 - used))
        link.ends = now + packet.size / link.rate
        self.plan(link.ends, "end", index)

    def end(self, now: float, index: int) -> None:
        link = self.links[index]
        link.settle(now)
        packet, link.serving = link.serving, None
        if link.waiting:
            self.start(now, index)
        self.plan(now + link.delay, "arrive", packet)

    def arrive(self, now: float, packet: Packet) -> None:
        packet.hop += 1
        if packet.hop == len(self.forward[packet.sender]):
            packet.received = now
            packet.size = self.ack_size
        if packet.hop < len(self.way(packet)):
            return self.enter(now, packet)
        self.acknowledged[packet.sender] = max(self.acknowledged[packet.sender], packet.sequence)
        self.rows.append(Row(now, packet.sent, packet.sender, packet.sequence, packet.queue, packet.link))
        return self.send(now, packet.sender)
