"""The orders in which a host's flows share its link, against a second implementation, packet by packet."""

import heapq
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from lcca.remy_plus.fabric.builders import star
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.switches.transports import SCHEDULING

GBPS, DELAY_NS, PAYLOAD, OVERHEAD = 100, 1000, 1000, 48


def of_one_host(count: int, seed: int, receivers: int, over_ns: int = 40_000) -> FabricFlows:
    """Flows of host 0 to the others in turn, most of them at the same time as others."""
    random = np.random.default_rng(seed)
    sizes = np.ceil(random.lognormal(9, 1.5, size=count)).astype(np.int64)
    dst = 1 + random.integers(receivers, size=count)
    start_ns = np.sort(random.integers(0, over_ns, size=count)).astype(np.float64)
    return FabricFlows(np.zeros(count, dtype=int), dst, sizes, start_ns)


def completions_ns(flows: FabricFlows, key: Callable[[int, int], int]) -> np.ndarray:
    """Completion times where the host's link always sends of the flow with the least key(size, sent), ties by number.

    A packet is sent whole. Its switch sends each packet once it has come, in order; there is no other traffic.
    """
    sent, done = np.zeros(len(flows), dtype=int), np.zeros(len(flows))
    size, start = flows.size_bytes, flows.start_ns
    waiting: list[tuple[int, int]] = []
    free_at = {int(host): 0.0 for host in flows.dst}
    now, begun = 0.0, 0
    while begun < len(flows) or waiting:
        if not waiting:
            now = max(now, start[begun])
        while begun < len(flows) and start[begun] <= now:
            heapq.heappush(waiting, (key(int(size[begun]), 0), begun))
            begun += 1
        _, flow = heapq.heappop(waiting)
        bytes_ = min(PAYLOAD, int(size[flow] - sent[flow]))
        sent[flow] += bytes_
        takes = (bytes_ + OVERHEAD) * 8 / GBPS
        now += takes
        dst = int(flows.dst[flow])
        free_at[dst] = max(free_at[dst], now + DELAY_NS) + takes
        if sent[flow] < size[flow]:
            heapq.heappush(waiting, (key(int(size[flow]), int(sent[flow])), flow))
        else:
            done[flow] = free_at[dst] + DELAY_NS - start[flow]
    return done


@pytest.mark.parametrize("receivers", [1, 6])
@pytest.mark.parametrize("selective", [False, True])
@pytest.mark.parametrize(
    ("scheduling", "key"),
    [("shortest", lambda size, sent: size - sent), ("least-sent", lambda size, sent: sent)],
)
def test_order_is_exact(scheduling: str, key: Callable[[int, int], int], selective: bool, receivers: int) -> None:
    """Shortest first is SRPT of the link, packet by packet; least sent first is foreground-background."""
    flows = of_one_host(300, seed=3, receivers=receivers)
    own = settings(scheduling=scheduling, selective=selective, buffer_bytes=1e9)
    found = FabricEngine("window", {"bdps": 1e6}, own).run(star(1 + receivers, GBPS, DELAY_NS), flows)
    np.testing.assert_allclose(found["flow_fct_ns"], completions_ns(flows, key), rtol=0, atol=1e-3)


def test_shortest_first_is_best_of_the_orders_on_one_link() -> None:
    """SRPT has the least mean completion time of all orders (Schrage 1968)."""
    flows, topology = of_one_host(300, seed=4, receivers=6), star(7, GBPS, DELAY_NS)
    mean = {
        order: np.mean(
            FabricEngine("window", {"bdps": 1e6}, settings(scheduling=order)).run(topology, flows)["flow_fct_ns"]
        )
        for order in SCHEDULING
    }
    assert mean["shortest"] < 0.8 * mean["least-sent"] and mean["shortest"] < 0.8 * mean["round-robin"]


@pytest.mark.parametrize("transport", ["window", "hpcc", "dcqcn", "homa", "nscc", "rccc"])
def test_one_flow_a_host_has_no_order(transport: str) -> None:
    """Where no host has two flows at a time, all orders have the same bits."""
    senders = np.arange(8)
    flows = FabricFlows(senders, np.full(8, 8), 10_000 * (1 + senders), np.arange(0, 800, 100, dtype=np.float64))
    first, *others = (
        FabricEngine(transport, settings=settings(scheduling=order)).run(star(9), flows) for order in SCHEDULING
    )
    for other in others:
        for name, values in first.items():
            assert np.asarray(values).tobytes() == np.asarray(other[name]).tobytes(), name


def test_homas_own_order_is_shortest_first() -> None:
    flows = of_one_host(200, seed=5, receivers=6)
    found = {
        order: FabricEngine("homa", settings=settings(scheduling=order)).run(star(7), flows)["flow_fct_ns"]
        for order in (None, *SCHEDULING)
    }
    assert (found[None] == found["shortest"]).all() and (found[None] != found["round-robin"]).any()


@pytest.mark.parametrize("scheduling", ["shortest", "least-sent"])
@pytest.mark.parametrize("transport", ["window", "hpcc", "homa", "nscc"])
def test_what_is_lost_is_sent_again_in_every_order(transport: str, scheduling: str) -> None:
    """With small buffers and no PFC flows go back: what they have left to send grows while others wait."""
    random = np.random.default_rng(6)
    src = random.integers(8, size=400)
    dst = (src + random.integers(1, 8, size=400)) % 8
    sizes = np.ceil(random.exponential(30e3, size=400)).astype(np.int64)
    flows = FabricFlows(src, dst, sizes, np.sort(random.uniform(0, 1e5, size=400)))
    lossy = settings(scheduling=scheduling, lossless=False, buffer_bytes=20e3, alpha=1, retransmit_after_us=100)
    found = FabricEngine(transport, settings=lossy).run(star(8), flows)
    assert found["retransmitted_packets"] > 0
    np.testing.assert_array_equal(found["flow_delivered_bytes"], sizes)


def test_timers_in_base_rtts_are_those_times() -> None:
    """A lone lost packet is sent again after the timer: the same moment, said in either unit."""
    flows = FabricFlows(np.array([0, 1]), np.array([2, 2]), np.array([40_000, 40_000]), np.zeros(2))
    topology, lossy = star(3), settings(lossless=False, buffer_bytes=9000, alpha=8)
    base_us = FabricEngine("window").run(topology, flows)["base_rtt_ns"] / 1000
    by_rtts, by_us, usual = (
        FabricEngine("window", {"bdps": 9}, replace(lossy, **timers)).run(topology, flows)
        for timers in (
            {"retransmit_rtts": 5.0, "nack_gap_rtts": 2.0},
            {"retransmit_after_us": 5 * base_us, "nack_gap_us": 2 * base_us},
            dict[str, float](),
        )
    )
    assert by_rtts["retransmitted_packets"] > 0
    np.testing.assert_allclose(by_rtts["flow_fct_ns"], by_us["flow_fct_ns"], rtol=1e-9)
    assert (by_rtts["flow_fct_ns"] < usual["flow_fct_ns"]).any()


def test_a_class_that_is_paused_holds_up_no_other_of_its_host() -> None:
    """Short Homa messages of eight hosts fill one receiver's port, so that PFC pauses the first class at its senders;
    a long message of one of them to another receiver goes on in its own class."""
    burst = [(host, 9, 3000, 100.0 * i) for i in range(400) for host in range(8)]
    rows = sorted([(0, 8, 1_000_000, 0.0), *burst], key=lambda row: row[3])
    src, dst, size, start = (np.array(each) for each in zip(*rows, strict=True))
    flows = FabricFlows(src, dst, size, start.astype(np.float64))
    found = FabricEngine("homa", settings=settings(buffer_bytes=200e3, alpha=0.1)).run(star(10), flows)
    (long,) = np.flatnonzero(size == 1_000_000)
    assert found["port_pauses_received"][found["port_node"] == 0].sum() > 5
    assert found["flow_fct_ns"][long] < 1.6 * found["flow_ideal_ns"][long]
