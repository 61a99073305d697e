"""Homa against a second implementation, event by event on a star without losses, packet for packet."""

import heapq
from collections import defaultdict, deque
from collections.abc import Callable
from itertools import count

import numpy as np
import pytest

from lcca.remy_plus.fabric.builders import star
from lcca.remy_plus.fabric.flows import FabricFlows

from .homa_support import GRANT, OVERHEAD, PAYLOAD, homa, many

BYTE, DELAY = 80, 10**6
"""ps, at 100 Gb/s and over 1 µs."""
CLASSES = 8


class Wire:
    """One direction of a link: of what waits the first class goes first, in it whatever `pick` says."""

    def __init__(self, loop: "Star", arrive: Callable[[dict], None], more: Callable[[], dict | None]) -> None:
        self.loop, self.arrive, self.more = loop, arrive, more
        self.queues: list[deque[dict]] = [deque() for _ in range(CLASSES)]
        self.free = 0

    def push(self, packet: dict) -> None:
        self.queues[packet["level"]].append(packet)
        self.wake()

    def wake(self) -> None:
        self.loop.at(max(self.loop.now, self.free), 1, self.send)

    def send(self) -> None:
        if self.loop.now < self.free:
            return
        packet = next((queue.popleft() for queue in self.queues if queue), None) or self.more()
        if packet is None:
            return
        self.free = self.loop.now + packet["bytes"] * BYTE
        self.loop.at(self.free + DELAY, 0, lambda: self.arrive(packet))
        self.loop.at(self.free, 1, self.send)


class Star:
    """Hosts around a switch, with messages of Homa between them."""

    def __init__(self, flows: FabricFlows, hosts: int, unscheduled_levels: int, overcommitment: int) -> None:
        self.now, self.events, self.order = 0, list[tuple[int, int, int, Callable[[], None]]](), count()
        self.flows, self.overcommitment, self.levels = flows, overcommitment, unscheduled_levels
        self.starts = np.round(flows.start_ns * 1000).astype(int).tolist()
        self.size = flows.size_bytes.tolist()
        self.packets = [-(-size // PAYLOAD) for size in self.size]
        full = (PAYLOAD + OVERHEAD) * BYTE
        self.window = int(np.ceil((2 * (full + DELAY) + 2 * (GRANT * BYTE + DELAY)) / full))
        self.sent, self.got = [0] * len(flows), [0] * len(flows)
        self.may = [min(self.window, packets) for packets in self.packets]  # the sender's
        self.granted = list(self.may)  # the receiver's
        self.level = [CLASSES - 1] * len(flows)
        self.end = [np.nan] * len(flows)
        self.waiting = defaultdict[int, set[int]](set)  # messages by receiver
        self.sending = defaultdict[int, set[int]](set)
        self.down = [Wire(self, self.received, lambda: None) for _ in range(hosts)]
        self.up = [Wire(self, lambda p: self.down[p["to"]].push(p), lambda h=h: self.data(h)) for h in range(hosts)]
        self.cutoffs = self.cut()
        for flow, start in enumerate(self.starts):
            self.at(start, 0, lambda flow=flow: self.start(flow))

    def cut(self) -> list[int]:
        """Sizes that end classes of as many bytes that go unasked."""
        sizes = sorted(self.size)
        before = np.cumsum([min(size, self.window * PAYLOAD) for size in sizes])
        ends = [before[-1] * level / self.levels for level in range(1, self.levels)]
        return [sizes[int(np.searchsorted(before, end))] for end in ends]

    def at(self, time: int, rank: int, what: Callable[[], None]) -> None:
        """Arrivals (0) come before departures (1) of the same moment."""
        heapq.heappush(self.events, (time, rank, next(self.order), what))

    def run(self) -> np.ndarray:
        while self.events:
            self.now, _, _, what = heapq.heappop(self.events)
            what()
        return np.array(self.end)

    def start(self, flow: int) -> None:
        self.sending[int(self.flows.src[flow])].add(flow)
        self.up[self.flows.src[flow]].wake()

    def data(self, host: int) -> dict | None:
        """The next packet of the message with the fewest bytes left, of those that may send."""
        left = {flow: (self.size[flow] - self.sent[flow] * PAYLOAD, flow) for flow in self.sending[host]}
        flow = min((each for each in left if self.sent[each] < self.may[each]), key=left.__getitem__, default=None)
        if flow is None:
            return None
        number = self.sent[flow]
        self.sent[flow] += 1
        unasked = number < min(self.window, self.packets[flow])
        level = sum(self.size[flow] > cutoff for cutoff in self.cutoffs) if unasked else self.level[flow]
        payload = min(PAYLOAD, self.size[flow] - number * PAYLOAD)
        return {"flow": flow, "to": self.flows.dst[flow], "bytes": payload + OVERHEAD, "level": level, "kind": "data"}

    def received(self, packet: dict) -> None:
        flow = packet["flow"]
        if packet["kind"] == "grant":
            self.may[flow], self.level[flow] = packet["packets"], packet["class"]
            self.up[self.flows.src[flow]].wake()
        if packet["kind"] != "data":
            return
        host = int(self.flows.dst[flow])
        if self.got[flow] == 0 and self.granted[flow] < self.packets[flow]:
            self.waiting[host].add(flow)
        self.got[flow] += 1
        if self.got[flow] == self.packets[flow]:
            self.end[flow] = (self.now - self.starts[flow]) / 1000
            self.say(flow, kind="ack")
        self.grant(host)

    def say(self, flow: int, **more: object) -> None:
        packet = {"flow": flow, "to": self.flows.src[flow], "bytes": GRANT, "level": 0, **more}
        self.up[self.flows.dst[flow]].push(packet)

    def grant(self, host: int) -> None:
        while True:
            active = dict[int, int]()  # by sender
            for flow in sorted(self.waiting[host], key=lambda f: (self.size[f] - self.got[f] * PAYLOAD, f)):
                if len(active) < self.overcommitment:
                    active.setdefault(int(self.flows.src[flow]), flow)
            gone = set[int]()
            for rank, flow in enumerate(active.values()):
                most = min(self.packets[flow], self.got[flow] + self.window)
                if most > self.granted[flow]:
                    self.granted[flow] = most
                    self.say(flow, kind="grant", packets=most, **{"class": self.class_of(rank, len(active))})
                    gone |= {flow} if most == self.packets[flow] else set()
            self.waiting[host] -= gone
            if not gone:
                return

    def class_of(self, rank: int, active: int) -> int:
        return max(CLASSES - active + rank, self.levels)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("unscheduled_levels", "overcommitment"), [(1, 7), (4, 2), (6, 4), (3, 1)])
def test_every_message_takes_as_long(seed: int, unscheduled_levels: int, overcommitment: int) -> None:
    hosts = 5
    drawn = many(star(hosts), 80, seed, mean=80e3, over_ns=1.5e5)
    # Whole ps, as the engine's; no two of them alike, so that no two packets meet at the same moment.
    sent = FabricFlows(drawn.src, drawn.dst, drawn.size_bytes, np.round(drawn.start_ns, 3))
    parameters = {"unscheduled_levels": unscheduled_levels, "overcommitment": overcommitment}
    found = homa(parameters, buffer_bytes=1e9, retransmit_after_us=0).run(star(hosts), sent)
    wanted = Star(sent, hosts, unscheduled_levels, overcommitment).run()
    np.testing.assert_allclose(found["flow_fct_ns"], wanted, atol=0.01)
    assert (found["flow_fct_ns"] > 1.5 * found["flow_ideal_ns"]).mean() > 0.2  # they do meet
