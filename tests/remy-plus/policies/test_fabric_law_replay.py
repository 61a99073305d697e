"""Laws for fabrics packet by packet: flows that meet at one link, replayed by hand with the second implementation."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.policies.fabric_law import FEATURES, TERMS, FabricLaw

from .test_fabric_law import Second

PAYLOAD, DATA, ACK = 1000, 48 + 8, 60
"""Bytes: of a full packet, what data packets have besides, an ACK's."""
ARRIVES, DEPARTS, RINGS, SENDS = range(4)
"""What comes first of what is due at one moment."""


class Sender:
    """A flow of one host: what it has sent, and what its law makes of ACKs. Times are ps."""

    def __init__(self, law: FabricLaw, size: int, line_gbps: float, own_rtt: int, base_rtt: int) -> None:
        self.size, self.line, self.own_rtt, self.base_rtt = size, line_gbps, own_rtt, base_rtt
        self.bdp = line_gbps * base_rtt / 8000
        self.packets = -(-size // PAYLOAD)
        self.law = Second(law, size / self.bdp)
        self.next = self.acked = self.furthest = self.again = 0
        self.window_end = self.reduced_until = self.last_frame = 0
        self.next_send = self.free_at = self.progress = 0
        self.gbps = line_gbps
        self.steer(line_gbps)  # until the first ACK

    def before(self, packet: int) -> int:
        return min(self.size, packet * PAYLOAD)

    def steer(self, gbps: float | None = None) -> None:
        p, window = self.law.p, self.law.window
        self.allowed = max(window * 2 ** min(max(p["ahead"], -4), 4) * self.bdp, 1)
        if gbps is None:
            gbps = min(max(window * 2 ** min(max(p["pace"], -4), 4), 1 / 1024), 1) * self.line
        if self.last_frame:
            self.next_send += round(self.last_frame * 8000 / gbps) - round(self.last_frame * 8000 / self.gbps)
        self.gbps = gbps

    @property
    def ready(self) -> bool:
        under_way = self.before(self.next) - self.before(self.acked)
        return self.next < self.packets and under_way < max(int(self.allowed), 1)

    def send(self, now: int) -> tuple[int, int]:
        """Return the packet's number and bytes."""
        number, frame = self.next, self.before(self.next + 1) - self.before(self.next) + DATA
        self.again += number < self.furthest
        self.progress = now if number == self.acked else self.progress
        self.next += 1
        self.furthest = max(self.furthest, self.next)
        self.last_frame, self.next_send = frame, now + round(frame * 8000 / self.gbps)
        return number, frame

    def hear(self, expected: int, missing: bool, sent_at: int, now: int) -> None:
        if expected > self.acked:
            self.acked, self.next, self.progress = expected, max(self.next, expected), now
        if missing:
            return self.lose(False)
        acked, sent = self.before(self.acked), self.before(self.next)
        moves = acked > self.window_end
        left = max((self.size - acked) / self.bdp, 1e-9)
        self.law.ack((now - sent_at - self.own_rtt) / self.base_rtt, left, [], moves)
        if moves:
            self.window_end = sent
        self.steer()

    def lose(self, timeout: bool) -> None:
        acked = self.before(self.acked)
        if timeout or acked >= self.reduced_until:
            self.law.lost()
            self.reduced_until = self.before(self.next)
            self.window_end = acked if timeout else self.window_end
            self.steer()
        self.next = self.acked


class Star:
    """Senders around one switch, and a receiver whose link is the only queue: drop-tail by a dynamic threshold."""

    def __init__(
        self, law: FabricLaw, flows: FabricFlows, gbps: np.ndarray, delay: np.ndarray, lossy: dict[str, float]
    ) -> None:
        self.hosts, self.delay, self.lossy = len(flows), (delay * 1000).astype(int).tolist(), lossy
        self.gbps = gbps.tolist()
        there, back = self.way(PAYLOAD + 48), self.way(ACK, back=True)
        base = max(self.longest(a, b) for a in range(self.hosts + 1) for b in range(self.hosts + 1) if a != b)
        self.senders = [
            Sender(law, int(flows.size_bytes[i]), self.gbps[i], there[i] + back[i], base) for i in range(self.hosts)
        ]
        self.expected, self.asked = [0] * self.hosts, [-(10**18)] * self.hosts
        self.ended, self.drops = [0] * self.hosts, 0
        self.queue: deque[tuple[int, int, int, int]] = deque()
        self.queued, self.link_free, self.acks_free = 0, 0, 0
        self.ack_port_free = [0] * self.hosts
        self.due: list[tuple[int, int, int, Callable[..., None], tuple[Any, ...]]] = []
        self.count = 0
        for i, start in enumerate(flows.start_ns):
            self.senders[i].next_send = self.senders[i].progress = int(start * 1000)
            self.at(int(start * 1000), SENDS, self.try_send, i)
            self.at(int(start * 1000) + self.patience, RINGS, self.ring, i)

    @property
    def patience(self) -> int:
        return int(self.lossy["retransmit_after_us"] * 1e6)

    def takes(self, frame: int, link: int) -> int:
        return round(frame * 8000 / self.gbps[link])

    def way(self, frame: int, back: bool = False) -> list[int]:
        """Return what a frame takes between every sender and the receiver."""
        last = self.takes(frame, self.hosts) + self.delay[self.hosts]
        return [self.takes(frame, i) + self.delay[i] + last for i in range(self.hosts)]

    def longest(self, a: int, b: int) -> int:
        return self.takes(PAYLOAD, a) + self.takes(PAYLOAD, b) + 2 * (self.delay[a] + self.delay[b])

    def at(self, when: int, what: int, call: Callable[..., None], *of: Any) -> None:
        self.count += 1
        heapq.heappush(self.due, (when, what, self.count, call, of))

    def run(self) -> None:
        while self.due and not all(self.ended):
            when, _, _, call, of = heapq.heappop(self.due)
            call(when, *of)

    def try_send(self, now: int, i: int) -> None:
        it = self.senders[i]
        if not it.ready:
            return
        if (earliest := max(it.free_at, it.next_send)) > now:
            return self.at(earliest, SENDS, self.try_send, i)
        number, frame = it.send(now)
        it.free_at = now + self.takes(frame, i)
        self.at(it.free_at + self.delay[i], ARRIVES, self.join, i, number, frame, now)
        self.at(it.free_at, SENDS, self.try_send, i)

    def join(self, now: int, i: int, number: int, frame: int, sent_at: int) -> None:
        free = self.lossy["buffer_bytes"] - self.queued
        if free < frame or self.queued + frame > self.lossy["alpha"] * free:
            self.drops += 1
            return
        if not self.queue and self.link_free <= now:
            return self.leave(now, i, number, frame, sent_at)
        if not self.queue:
            self.at(self.link_free, DEPARTS, self.depart)
        self.queue.append((i, number, frame, sent_at))
        self.queued += frame

    def depart(self, now: int) -> None:
        i, number, frame, sent_at = self.queue.popleft()
        self.queued -= frame
        self.leave(now, i, number, frame, sent_at)
        if self.queue:
            self.at(self.link_free, DEPARTS, self.depart)

    def leave(self, now: int, i: int, number: int, frame: int, sent_at: int) -> None:
        self.link_free = now + self.takes(frame, self.hosts)
        self.at(self.link_free + self.delay[self.hosts], ARRIVES, self.receive, i, number, sent_at)

    def receive(self, now: int, i: int, number: int, sent_at: int) -> None:
        missing = number > self.expected[i]
        if number == self.expected[i]:
            self.expected[i] += 1
            self.asked[i] = -(10**18)
            if self.expected[i] == self.senders[i].packets:
                self.ended[i] = now
        elif missing:
            if now < self.asked[i] + int(self.lossy["nack_gap_us"] * 1e6):
                return
            self.asked[i] = now
        self.acks_free = max(now, self.acks_free) + self.takes(ACK, self.hosts)
        at_switch = self.acks_free + self.delay[self.hosts]
        self.ack_port_free[i] = max(at_switch, self.ack_port_free[i]) + self.takes(ACK, i)
        back = self.ack_port_free[i] + self.delay[i]
        self.at(back, ARRIVES, self.hear, i, self.expected[i], missing, sent_at)

    def hear(self, now: int, i: int, expected: int, missing: bool, sent_at: int) -> None:
        it = self.senders[i]
        if it.acked == it.packets:
            return
        it.hear(expected, missing, sent_at, now)
        self.try_send(now, i)

    def ring(self, now: int, i: int) -> None:
        it = self.senders[i]
        if it.acked == it.packets:
            return
        if now >= it.progress + self.patience:
            it.progress = now
            if it.next > it.acked:
                it.lose(True)
                self.try_send(now, i)
        self.at(it.progress + self.patience, RINGS, self.ring, i)


def law_of(draw: np.random.Generator) -> FabricLaw:
    terms = dict(zip(TERMS, draw.normal(0, 0.4, len(TERMS)).tolist(), strict=True))
    features = dict(zip(FEATURES, draw.normal(0, 0.3, len(FEATURES)).tolist(), strict=True))
    wanted = {"add": -4.0, "loss": 1 + terms["loss"], "pace": 0.3 + terms["pace"]}
    return FabricLaw.of(terms | wanted, features | {"one": 0.2, "delay": -0.6})


@pytest.mark.parametrize("buffer_bytes", [1e9, 60e3, 8e3])
@pytest.mark.parametrize("seed", range(6))
def test_flows_are_those_of_a_replay(seed: int, buffer_bytes: float) -> None:
    """One to four flows: times, packets dropped and sent again; without losses, with some, and with timeouts."""
    draw = np.random.default_rng(seed)
    law, count = law_of(draw), 1 + seed % 4
    gbps = np.append(draw.uniform(40, 200, count), draw.uniform(20, 60))
    delay = draw.integers(300, 3000, count + 1).astype(float)
    hosts = np.arange(count)
    starts = np.sort(draw.integers(0, 20_000, count)).astype(float)
    flows = FabricFlows(hosts, np.full(count, count), draw.integers(1, 400_000, count), starts)
    lossy = {"buffer_bytes": buffer_bytes, "alpha": 0.5, "nack_gap_us": 37.0, "retransmit_after_us": 211.0}
    by_hand = Star(law, flows, gbps, delay, lossy)
    by_hand.run()
    switch = np.full(count + 1, count + 1, dtype=np.int32)
    topology = FabricTopology(count + 1, 1, np.arange(count + 1, dtype=np.int32), switch, gbps, delay)
    found = FabricEngine(law, settings=FabricSettings(lossless=False, **lossy)).run(topology, flows)
    assert found["base_rtt_ns"] * 1000 == by_hand.senders[0].base_rtt
    assert found["port_drops"].sum() == by_hand.drops
    assert (by_hand.drops > 0) == (buffer_bytes < 1e9)
    assert found["retransmitted_packets"] == sum(each.again for each in by_hand.senders)
    np.testing.assert_allclose(found["flow_fct_ns"], np.array(by_hand.ended) / 1000 - starts, rtol=1e-9)
