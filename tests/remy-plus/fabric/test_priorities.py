"""Classes of traffic: waiting times against queueing theory and a queue by hand, pauses and thresholds of a class."""

import heapq
from itertools import product
from typing import Any

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import dumbbell, leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord, Watch
from lcca.remy_plus.fabric.flows import FabricFlows, in_order
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.fabric.topology import FabricTopology

UNPACED = ("window", {"bdps": 0})


def flows(*rows: tuple[int, int, int, float, int]) -> FabricFlows:
    src, dst, size, start, priority = (np.array(each) for each in zip(*rows, strict=True))
    return FabricFlows(src, dst, size, start.astype(float), priority=priority)


def many(topology: FabricTopology, count: int, seed: int, priorities: int, mean: float = 100e3) -> FabricFlows:
    """Flows of random sizes and classes between random hosts, close together in time."""
    random = np.random.default_rng(seed)
    src = random.integers(topology.hosts, size=count)
    dst = (src + random.integers(1, topology.hosts, size=count)) % topology.hosts
    sizes = np.ceil(random.exponential(mean, size=count)).astype(np.int64)
    starts = np.sort(random.uniform(0, 1e5, size=count))
    return FabricFlows(src, dst, sizes, starts, priority=random.integers(priorities, size=count))


def equal(first: FabricRecord, second: FabricRecord) -> None:
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name], err_msg=name)


def replay(arrival: np.ndarray, service: np.ndarray, priority: np.ndarray) -> np.ndarray:
    """Return how long each packet waits at a link that takes the first of the lowest class whenever it is free."""
    order, waits, free, queue = iter(np.argsort(arrival, kind="stable").tolist()), np.zeros(len(arrival)), 0.0, []
    coming = next(order, None)
    while queue or coming is not None:
        if not queue:
            free = max(free, arrival[coming])
        while coming is not None and arrival[coming] <= free:
            heapq.heappush(queue, (priority[coming], arrival[coming], coming))
            coming = next(order, None)
        _, came, packet = heapq.heappop(queue)
        waits[packet] = free - came
        free += service[packet]
    return waits


def test_classes_wait_as_cobham_says() -> None:
    """Cobham 1954: class k waits λ E[S²] / 2 / (1 − σ(k − 1)) / (1 − σ(k)), with σ(k) the load of classes 0 to k."""
    random, pairs, count, share, load = np.random.default_rng(4), 30, 90_000, np.array([0.2, 0.5, 0.3]), 0.8
    priority = random.choice(3, size=count, p=share)
    payload = np.array([300, 1000, 600])[priority]
    service = (payload + 48) * 8.0  # ns at 1 Gb/s
    rate = load / float(service.mean())
    starts = np.cumsum(random.exponential(1 / rate, size=count))
    src = random.integers(pairs, size=count)
    sent = FabricFlows(src, src + pairs, payload, starts, priority=priority)
    engine = FabricEngine("window", settings=settings(buffer_bytes=1e12, priorities=3))
    found = engine.run(dumbbell(pairs, bottleneck_gbps=1, host_gbps=1e5), sent)
    wait = found["flow_fct_ns"] - found["flow_ideal_ns"]
    residual = rate * float((service**2).mean()) / 2
    loads = np.array([rate * share[k] * service[priority == k][0] for k in range(3)])
    before = np.concatenate([[0], np.cumsum(loads)])
    for k, rel in enumerate((0.03, 0.04, 0.12)):
        assert wait[priority == k].mean() == pytest.approx(residual / (1 - before[k]) / (1 - before[k + 1]), rel=rel)
    by_hand = replay(starts + service / 1e5, service, priority)
    assert np.mean(np.abs(wait - by_hand) > 1) < 1e-3  # ns; packets that come within 0.1 ns may change places
    port = (found["port_node"] == 2 * pairs) & (found["port_peer"] == 2 * pairs + 1)
    in_queue = found["port_mean_queued_bytes"][port][0]
    assert in_queue == pytest.approx((wait * (payload + 48)).sum() / found["end_ns"], rel=1e-6)  # Little's law


@pytest.mark.parametrize(("transport", "lossless"), [("hpcc", True), ("dcqcn", True), ("swift", False), ("rcp", True)])
@pytest.mark.parametrize("priority", [0, 1])
def test_one_class_among_others_is_like_one_alone(transport: str, lossless: bool, priority: int) -> None:
    """Classes without traffic change no bit."""
    topology, shared = leaf_spine(2, 4, 2), {"lossless": lossless, "buffer_bytes": 2e5}
    sent = many(topology, 150, 2, 1)
    moved = FabricFlows(sent.src, sent.dst, sent.size_bytes, sent.start_ns, priority=sent.priority + priority)
    alone = FabricEngine(transport, settings=settings(**shared)).run(topology, sent)
    equal(alone, FabricEngine(transport, settings=settings(**shared, priorities=3)).run(topology, moved))
    assert alone["port_pauses_sent"].sum() > 0 or alone["port_drops"].sum() > 0


@pytest.mark.parametrize(("seed", "priorities", "acks"), [*product(range(3), (2, 3), (None, 0))])
def test_nothing_is_lost_with_pfc_whatever_the_load(seed: int, priorities: int, acks: int | None) -> None:
    topology = leaf_spine(hosts_per_tor=4, tors=3, spines=2)
    sent = many(topology, 150, seed, priorities)
    buffer = [30e3, 60e3, 200e3][seed]
    classes = settings(buffer_bytes=buffer, priorities=priorities, ack_priority=acks, fct_at_ack=True)
    found = FabricEngine(*UNPACED, classes).run(topology, sent)
    assert found["port_drops"].sum() == 0 == found["retransmitted_packets"]
    assert found["port_pauses_sent"].sum() == found["port_pauses_received"].sum() > 0
    np.testing.assert_array_equal(found["flow_delivered_bytes"], sent.size_bytes)
    packets = np.ceil(sent.size_bytes / 1000).sum()
    to_hosts, from_hosts = found["port_peer"] < topology.hosts, found["port_node"] < topology.hosts
    for name in ("port_data_packets", "port_ack_packets"):
        assert found[name][to_hosts].sum() == found[name][from_hosts].sum() == packets


@pytest.mark.parametrize(("gbps", "delay_ns"), [(10, 1), (100, 50)])
@pytest.mark.parametrize("priorities", [2, 8])
def test_nothing_is_lost_with_pfc_however_short_the_links(gbps: float, delay_ns: float, priorities: int) -> None:
    """A buffer of 20 packets, in which pauses of one class wait for those of the others."""
    random, topology = np.random.default_rng(1), star(9, gbps, delay_ns)
    src = random.integers(1, 9, size=300)
    dst = np.where(random.random(300) < 0.7, 0, src % 8 + 1)
    starts, priority = np.sort(random.uniform(0, 1e4, size=300)), random.integers(priorities, size=300)
    sent = FabricFlows(src, dst, random.integers(1, 20_000, size=300), starts, priority=priority)
    tight = settings(buffer_bytes=20e3, priorities=priorities, retransmit_after_us=0)
    found = FabricEngine(*UNPACED, tight).run(topology, sent)
    assert found["port_drops"].sum() == 0 < found["port_pauses_sent"].sum()
    np.testing.assert_array_equal(found["flow_delivered_bytes"], sent.size_bytes)


@pytest.mark.parametrize("changes", [{"buffer_bytes": 60e3}, {"buffer_bytes": 60e3, "lossless": False}])
def test_looking_at_ports_more_often_changes_nothing(changes: dict[str, Any]) -> None:
    """Ports are brought up to date only when something comes; a watch does it all the time."""
    topology = leaf_spine(2, 4, 2)
    sent, engine = many(topology, 100, 5, 3, 50e3), FabricEngine(*UNPACED, settings(**changes, priorities=3))
    plain, watched = (engine.run(topology, sent, horizon_ns=3e6, watch=watch) for watch in (None, Watch(73.0, [0])))
    equal({name: each for name, each in plain.items() if not name.startswith("sample")}, watched)
    assert plain["port_pauses_sent"].sum() > 0 or plain["port_drops"].sum() > 0


def test_a_paused_class_does_not_stop_the_others() -> None:
    """An incast of class 1 pauses the link between two switches; flows of class 0 over that link go on."""
    pairs = 9
    topology = dumbbell(pairs, bottleneck_gbps=400)
    incast = [(host, pairs, 10**6, 0, 1) for host in range(8)]
    victim = [(8, 17, 10_000, 5e4 * i, 0) for i in range(1, 9)]
    sent = flows(*sorted(incast + victim, key=lambda row: row[3]))
    victims = sent.dst == 17
    one = FabricFlows(sent.src, sent.dst, sent.size_bytes, sent.start_ns)
    shared = {"buffer_bytes": 3e5, "alpha": 0.125}
    apart = FabricEngine(*UNPACED, settings(**shared, priorities=2)).run(topology, sent)
    mixed = FabricEngine(*UNPACED, settings(**shared)).run(topology, one)
    between = (apart["port_node"] == 18) & (apart["port_peer"] == 19)
    assert apart["port_paused_ns"][between][0] > 1e5
    slowdown = [(each["flow_fct_ns"] / each["flow_ideal_ns"])[victims] for each in (apart, mixed)]
    assert slowdown[0].max() < 1.2 and slowdown[1].max() > 3


def test_acks_in_the_first_class_do_not_wait_behind_data() -> None:
    """Data of an incast fills the queue that ACKs of its receiver's own flow have to pass."""
    incast = [(host, 0, 10**6, 0, 1) for host in range(2, 9)]
    sent = flows(*incast, (0, 1, 1000, 5e4, 1), (0, 1, 1000, 1e5, 1))
    took = [
        FabricEngine("window", settings=settings(priorities=2, ack_priority=acks, fct_at_ack=True)).run(star(9), sent)
        for acks in (None, 0)
    ]
    slowdown = [(each["flow_fct_ns"] / each["flow_ideal_ns"])[-2:] for each in took]
    assert slowdown[0].min() > 5 and slowdown[1].max() < 1.2


def test_each_class_has_its_own_threshold() -> None:
    """Two full queues with a dynamic threshold hold 2 α / (1 + 2 α) of the buffer (Choudhury and Hahne, 1998)."""
    rows = [(host, 0, 10**6, 0, host % 2) for host in range(1, 9)]
    lossy = settings(lossless=False, buffer_bytes=2e5, alpha=0.5, priorities=2)
    found = FabricEngine("window", settings=lossy).run(star(9), flows(*rows), horizon_ns=1e5)
    assert found["port_most_queued_bytes"].max() == pytest.approx(2e5 / 2, abs=4 * 1048)
    assert found["port_drops"].sum() > 0


def test_the_second_class_gets_what_the_first_leaves() -> None:
    """A first class at 40 Gb/s of payload and two unpaced senders of the second, which fill the link."""
    starts = np.arange(0, 1e6, 1000 * 8 / 40)
    first = FabricFlows(0 * starts + 1, 0 * starts, 0 * starts + 1000, starts)
    long = FabricFlows(np.array([2, 3]), np.zeros(2), np.full(2, 10**9), np.zeros(2), priority=np.ones(2))
    engine = FabricEngine(*UNPACED, settings(priorities=2, buffer_bytes=1e6))
    found = engine.run(star(4), in_order([first, long]), horizon_ns=1e6)
    second = found["flow_delivered_bytes"][found["flow_delivered_bytes"] > 1000]
    assert found["flow_delivered_bytes"].sum() * 8 / 1e6 > 0.99 * 100 * 1000 / 1048 - 1
    assert second.sum() * 8 / 1e6 == pytest.approx(100 * 1000 / 1048 - 40, rel=0.02)
    slow = (found["flow_fct_ns"] / found["flow_ideal_ns"])[found["flow_delivered_bytes"] == 1000]
    assert np.nanmax(slow) < 1.1


@pytest.mark.parametrize(
    ("changes", "priority", "message"),
    [
        ({}, 1, "flow 0: needs a priority that there is"),
        ({"priorities": 2}, 2, "flow 0: needs a priority that there is"),
        ({"priorities": 9}, 0, "priorities: must be from 1 to 8, got 9"),
        ({"priorities": 2, "ack_priority": 2}, 0, "ack_priority: must be from -1 to 1, got 2"),
    ],
)
def test_classes_that_cannot_be(changes: dict[str, Any], priority: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FabricEngine("window", settings=settings(**changes)).run(star(2), flows((0, 1, 10, 0.0, priority)))
    with pytest.raises(InputError, match="priority: must be 0 or above"):
        flows((0, 1, 10, 0.0, -1))
