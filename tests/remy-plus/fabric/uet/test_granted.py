"""Receivers that grant credit to learnt policies: against a second implementation, RCCC, and by what must hold."""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine, Watch, engine_of
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.policies.fabric_law import FabricLaw
from lcca.remy_plus.policies.policy import FixedWindow, Mixture, Policy, with_header
from lcca.remy_plus.switches.transports import Transport
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping

GRANTED = FabricSettings(selective=True, granted=True, queue_bdps=1.0)
GREEDY = FabricLaw.of({"first": 4.0, "largest": 4.0, "ahead": 4.0, "loss": 0.0}, {"one": 1.5})
"""At the rate of the line, 256 bandwidth-delay products under way, whatever happens."""
SEES_HOPS = replace(GREEDY, inputs=("queue",), coefficients=((0.0, 0.0, 0.0),))
HEADED = [with_header(GREEDY, stamping(header(name))) for name in ("fair-share", "int-md")]
TELLS = 1e-3
"""Of credit in the exponent of a window: enough to be read, too little to matter."""


def goodput(policy: str | Policy, **changes: object) -> tuple[float, float, int, int]:
    """Return an 8:1 incast's share of the line after 40 RTTs, its fairness (Jain), and trims until then and in all."""
    count = np.arange(1, 9)
    sent = FabricFlows(count, np.zeros_like(count), np.full(8, 2_000_000), np.zeros(8))
    engine = FabricEngine(policy, settings=replace(GRANTED, **changes))  # type: ignore[arg-type]
    record = engine.run(star(9), sent, watch=Watch(1000.0, range(8), [(9, 0)]))
    np.testing.assert_array_equal(record["flow_delivered_bytes"], sent.size_bytes)
    base = record["base_rtt_ns"]
    late = (record["sample_ns"] > 40 * base) & (record["sample_ns"] < 0.9 * record["flow_fct_ns"].min())
    begin, end = np.flatnonzero(late)[[0, -1]]
    got = record["sample_delivered_bytes"][end] - record["sample_delivered_bytes"][begin]
    last = (record["port_node"] == 9) & (record["port_peer"] == 0)
    frame = record["port_data_bytes"][last] / record["port_data_packets"][last]
    line = 12.5 * (record["sample_ns"][end] - record["sample_ns"][begin]) * 1000 / frame
    first = engine.run(star(9), sent, horizon_ns=40 * base)
    if engine.settings.granted:
        assert record["sample_queued_bytes"][end] < 5000
    return (
        float(got.sum() / line[0]),
        got.sum() ** 2 / (8 * (got**2).sum()),
        first["port_trims"].sum(),
        record["port_trims"].sum(),
    )


@pytest.mark.parametrize("policy", [GREEDY, FixedWindow(100_000), FabricLaw.of({}, {"one": 1.5}), SEES_HOPS, *HEADED])
def test_senders_of_an_incast_share_the_line_however_much_they_would_send(policy: Policy) -> None:
    share, fairness, first, trims = goodput(policy)
    assert share == pytest.approx(0.99, abs=0.003)
    assert fairness > 0.999
    assert first == trims > 0  # of the credit that nobody granted


def test_a_law_without_restraint_does_as_rccc() -> None:
    """Of a first window alike as many packets are trimmed; without credit they are trimmed on and on."""
    own, of_rccc, alone = (goodput(each, **how) for each, how in ((GREEDY, {}), ("rccc", {}), (GREEDY, OFF)))
    assert own[0] == pytest.approx(of_rccc[0], abs=0.003)
    assert own[3] == pytest.approx(of_rccc[3], rel=0.05)
    assert alone[3] > 20 * own[3]


OFF = {"granted": False}


# --- the signal


class Carried(NamedTuple):
    """Bytes of a data packet, of its header besides on each of two links, of an ACK; the header's name."""

    frame: int
    headers: tuple[int, int] = (0, 0)
    ack: int = 60
    name: str = ""


CARRIED = [
    Carried(1056),
    Carried(1090, ack=88),
    Carried(1056, (4, 4), 64, "fair-share"),
    Carried(1056, (16, 32), 92, "int-md"),
]
"""The time of sending alone, or with stamps or a header; what they ask for is in other places."""


class Lone:
    """A flow that its law paces alone, and its receiver that grants, written down once more; times are ps.

    Data and what comes back, ACKs and grants, each go over two links, first come first served.
    """

    control, delay = 60, 1_000_000
    quantum, most_quanta, per_quantum = 256, 64, 20_686  # at 99 Gb/s

    def __init__(self, packets: int, share: float, ahead: float, base_ns: float, carried: Carried) -> None:
        self.frame, self.headers, self.ack_bytes, _ = carried
        self.share, self.ahead, self.bdp, self.most = share, 2**ahead, 12.5 * base_ns, int(18.75 * base_ns)
        self.window, self.under_way = self.ahead * self.bdp * self.frame / 1000, 0
        self.credit, self.got, self.speculates, self.left = self.most, 0, True, packets * self.frame
        self.gap, self.next_send = (self.frame + self.headers[0]) * 80.0, 0.0
        self.wanted = self.granted = 0
        self.waits = self.idles = False
        self.turn_at, self.free_at = math.inf, 0.0
        self.data_free = self.back_free = self.switch_free = 0.0
        self.told: list[tuple[float, float]] = []  # when, and how much
        self.events: list[tuple[float, int, str, int]] = []
        self.numbers = itertools.count()
        self.later(0, "send")
        while self.events:
            now, _, what, value = heapq.heappop(self.events)
            getattr(self, what)(now, value)

    def later(self, at: float, what: str, value: int = 0) -> None:
        heapq.heappush(self.events, (at, next(self.numbers), what, value))

    # the sender

    def send(self, now: float, _: int = 0) -> None:
        if self.left == 0 or self.credit <= 0 or now < self.next_send or self.under_way >= self.window:
            return
        self.left -= self.frame
        self.under_way += self.frame
        cost = self.frame + self.headers[1]
        self.credit -= cost
        left = self.left + self.left * self.headers[1] // self.frame
        lacks = min(left, self.most, int((self.window / self.frame + 1) * cost)) - self.credit
        if self.speculates and self.left:
            lacks = max(lacks, cost)
        at_switch = now + (self.frame + self.headers[0]) * 80 + self.delay
        self.data_free = max(self.data_free, at_switch) + cost * 80
        self.later(self.data_free + self.delay, "arrive", self.got + math.ceil(lacks / self.quantum))
        self.next_send = now + self.gap
        self.later(self.next_send, "send")

    def hear(self) -> None:
        if self.speculates:
            self.credit = min(self.credit, 0)
        self.speculates = False

    def ack(self, now: float, _: int) -> None:
        self.hear()
        self.under_way -= self.frame
        left = max(self.credit, 0) / self.most
        self.told.append((now, left))
        bdps = self.share * 2 ** (TELLS * left) + 2**-17
        self.window = bdps * self.ahead * self.bdp * self.frame / 1000
        gap = int((self.frame + self.headers[0]) * 80 / bdps + 0.5)
        self.next_send += gap - self.gap
        self.gap = gap
        self.later(max(now, self.next_send), "send")

    def grant(self, now: float, granted: int) -> None:
        self.hear()
        self.credit = min(self.credit + (granted - self.got) * self.quantum, self.most)
        self.got = granted
        self.later(max(now, self.next_send), "send")

    # the receiver

    def back(self, now: float, what: str, bytes_: int, value: int = 0) -> None:
        self.back_free = max(self.back_free, now) + bytes_ * 80
        self.switch_free = max(self.switch_free, self.back_free + self.delay) + bytes_ * 80
        self.later(self.switch_free + self.delay, what, value)

    def arrive(self, now: float, wanted: int) -> None:
        self.back(now, "ack", self.ack_bytes)
        if wanted <= self.wanted:
            return
        self.wanted = wanted
        if not self.waits:
            self.waits = True
            self.turn_at = min(self.turn_at, max(now, self.free_at))
            self.later(self.turn_at, "turn")

    def turn(self, now: float, _: int) -> None:
        if now != self.turn_at:
            return
        quanta = self.most_quanta
        if self.waits:
            quanta = max(min(self.wanted - self.granted, quanta), 0)
        self.granted += quanta
        self.back(now, "grant", self.control, self.granted)
        if self.waits:
            self.waits = self.wanted > self.granted
            self.idles = self.idles or not self.waits
        else:
            self.idles = self.granted < self.wanted + self.most // self.quantum
        self.free_at = now + (quanta or 4) * self.per_quantum
        self.turn_at = self.free_at if self.waits or self.idles else math.inf
        if self.turn_at < math.inf:
            self.later(self.turn_at, "turn")


@pytest.mark.parametrize("carried", CARRIED)
@pytest.mark.parametrize(("share", "ahead"), [(0.3, 3.0), (0.5, 3.0), (0.95, 3.0), (0.3, 1.0), (0.6, 0.5), (0.5, -1.0)])
def test_the_credit_of_a_lone_flow_is_that_of_a_second_implementation(
    share: float, ahead: float, carried: Carried
) -> None:
    """Whatever its window lets it ask for; with the last one it waits for ACKs as well."""
    law = FabricLaw.of(
        {"largest": 4.0, "ahead": ahead, "loss": 0.0, "add": -17.0},
        {"one": float(np.log2(share)), "window": -1.0},
        {"credit": (TELLS, 0.0, 0.0)} | ({"queue": (0.0, 0.0, 0.0)} if carried.ack == 88 else {}),
    )
    policy = with_header(law, stamping(header(carried.name)) if carried.name else None)
    flow = FabricFlows(np.array([0]), np.array([1]), np.array([800_000]), np.array([0.0]))
    record = engine_of(policy, GRANTED).run(star(2), flow, watch=Watch(37.3, [0]))
    model = Lone(800, share, ahead, record["base_rtt_ns"], carried)
    times, values = np.array(model.told).T
    at = record["sample_ns"] * 1000
    known = (at > times[0] + 100) & (at < times[-1] - 100)
    known &= np.abs(at[:, None] - times).min(axis=1) > 10
    seen = (np.log2(record["sample_gbps"][known, 0] / 100 - 2**-17) - np.log2(share)) / TELLS
    expected = values[np.searchsorted(times, at[known]) - 1]
    assert len(seen) > 1500 and np.ptp(expected) > 0.2
    np.testing.assert_allclose(seen, expected, atol=1e-6)


# --- what it goes with


def test_flows_that_ask_end_whatever_is_lost() -> None:
    """Queues of a few packets trim or drop; senders without credit ask again, and windows of a packet go on."""
    draw = np.random.default_rng(2)
    src = draw.integers(0, 8, 150)
    dst = (src + draw.integers(1, 8, 150)) % 8
    sent = FabricFlows(src, dst, np.ceil(draw.exponential(60e3, 150)).astype(np.int64), np.sort(draw.random(150) * 1e5))
    topology = leaf_spine(2, 4, 2, 100, 100)
    for policy in (GREEDY, FabricLaw.of({"first": -6.0, "largest": -4.0}), FixedWindow(1)):
        for more in ({"queue_bdps": 0.1}, {"queue_bdps": 0.1, "trim_bytes": 0}, {"queue_bdps": 0, "buffer_bytes": 3e4}):
            own = replace(GRANTED, spraying="mixed", lossless=False, retransmit_after_us=200, **more)
            record = engine_of(policy, own).run(topology, sent, horizon_ns=1e9)
            assert policy is not GREEDY or record["port_trims"].sum() + record["port_drops"].sum() > 500
            np.testing.assert_array_equal(record["flow_delivered_bytes"], sent.size_bytes)


def test_transports_keep_their_own_receivers() -> None:
    sent = FabricFlows(np.arange(3), np.full(3, 3), np.full(3, 300_000), np.zeros(3))
    for name in ("rccc", "nscc", "dctcp", "hpcc", "homa"):
        off, on = (
            FabricEngine(name, settings=replace(GRANTED, granted=each)).run(star(4), sent) for each in (False, True)
        )
        np.testing.assert_array_equal(on["flow_fct_ns"], off["flow_fct_ns"])
    of_credit = FabricLaw.of({}, inputs={"credit": (-2.0, -1.0, 0.5)})
    alone, mixed = (
        engine_of(each, GRANTED).run(star(4), sent) for each in (of_credit, Mixture(of_credit, of_credit, 0.5))
    )
    np.testing.assert_array_equal(mixed["flow_fct_ns"], alone["flow_fct_ns"])


@pytest.mark.parametrize(
    ("policy", "changes", "text"),
    [
        (FabricLaw.of({}, inputs={"credit": (0.0, 0.0, 0.0)}), OFF, "policy: credit: .* the scenario granted: true"),
        (GREEDY, {"selective": False}, "granted: needs selective hosts"),
        (Mixture(GREEDY, Transport("dctcp"), 0.5), {}, r"need other fabrics than each other \(granted\)"),
    ],
)
def test_what_it_does_not_go_with(policy: Policy, changes: dict[str, bool], text: str) -> None:
    sent = FabricFlows(np.arange(3), np.full(3, 3), np.full(3, 1000), np.zeros(3))
    with pytest.raises(InputError, match=text):
        engine_of(policy, replace(GRANTED, **changes)).run(star(4), sent)
