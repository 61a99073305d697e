"""How long queues are over time: against M/D/1 and against samples."""

import math

import numpy as np
import pytest

from lcca.remy_plus.fabric.builders import dumbbell, star
from lcca.remy_plus.fabric.engine import FabricEngine, Watch
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import settings

FRAME, RESOLUTION = 1048, 1 / 32


def waiting_in_m_d_1(load: float, most: int) -> np.ndarray:
    """Return P(at most n wait), n = 0 … most, at any time.

    The chain at departures has the law at any time; with a(k) the chance of k arrivals in one service,
    p(n+1) a(0) = p(n) − p(0) a(n) − Σ p(i) a(n + 1 − i), i = 1 … n (Kleinrock, Queueing Systems I, section 5.6).
    """
    arrivals = [math.exp(-load) * load**k / math.factorial(k) for k in range(most + 3)]
    inside = [1 - load]
    for n in range(most + 1):
        rest = sum(inside[i] * arrivals[n + 1 - i] for i in range(1, n + 1))
        inside.append((inside[n] - inside[0] * arrivals[n] - rest) / arrivals[0])
    return np.cumsum(inside)[1:]


@pytest.mark.parametrize("load", [0.3, 0.6])
def test_queues_over_time_as_in_m_d_1(load: float) -> None:
    random, pairs, count = np.random.default_rng(5), 30, 100_000
    starts = np.cumsum(random.exponential(FRAME * 8 / load, size=count))  # ns at 1 Gb/s
    src = random.integers(pairs, size=count)
    flows = FabricFlows(src, src + pairs, np.full(count, 1000), starts)
    engine = FabricEngine("window", settings=settings(buffer_bytes=1e12))
    found = engine.run(dumbbell(pairs, bottleneck_gbps=1, host_gbps=1e5), flows)
    law = waiting_in_m_d_1(load, 60)
    packets = np.round(found["fullest_queued_bytes"] / FRAME / (1 + RESOLUTION / 2))
    for n in (0, 1, 3, 8):
        share = 1 - found["fullest_queued_ns"][packets > n].sum() / found["end_ns"]
        assert share == pytest.approx(law[n], abs=0.012)
    port = (found["port_node"] == 2 * pairs) & (found["port_peer"] == 2 * pairs + 1)
    p99 = found["port_p99_queued_bytes"][port][0] / FRAME
    low, high = np.searchsorted(law, [0.986, 0.993])
    assert low <= p99 <= high * (1 + RESOLUTION)


def test_the_p99_is_that_of_samples() -> None:
    """Queues of an incast under HPCC and DCTCP, looked at every 20 ns."""
    flows = FabricFlows(np.arange(1, 9), np.zeros(8), np.full(8, 2 * 10**6), np.zeros(8))
    for transport in ("hpcc", "dctcp", "window"):
        watch = Watch(every_ns=20, ports=[(9, 0)])
        found = FabricEngine(transport).run(star(9), flows, watch=watch)
        port = (found["port_node"] == 9) & (found["port_peer"] == 0)
        samples = np.quantile(found["sample_queued_bytes"][:, 0], 0.99)
        p99 = found["port_p99_queued_bytes"][port][0]
        assert samples * (1 - 1e-3) <= p99 <= samples * (1 + RESOLUTION + 1e-3)
        assert p99 <= found["port_most_queued_bytes"][port][0]


def test_what_is_seldom_is_no_p99() -> None:
    """A queue that stands for less than a hundredth of the time."""
    flows = FabricFlows(np.array([1, 2, 1]), np.zeros(3), np.array([1000, 1000, 1000]), np.array([0, 0, 1e6]))
    found = FabricEngine("window").run(star(3), flows)
    assert found["port_most_queued_bytes"].max() == FRAME and found["port_p99_queued_bytes"].max() == 0


def test_the_queue_at_the_end_counts() -> None:
    """The horizon cuts a queue off that is still there: it counts until then."""
    flows = FabricFlows(np.array([1, 2]), np.zeros(2), np.full(2, 10**6), np.zeros(2))
    engine = FabricEngine("window", {"bdps": 0}, settings(buffer_bytes=1e9))
    found = engine.run(star(3), flows, horizon_ns=4e4)
    areas = found["fullest_queued_bytes"] * found["fullest_queued_ns"]
    mean = found["port_mean_queued_bytes"].max()
    assert mean * found["end_ns"] <= areas.sum() <= mean * found["end_ns"] * (1 + RESOLUTION)
