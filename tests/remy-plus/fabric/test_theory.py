"""The fabric engine against queueing theory and max-min fairness."""

import numpy as np
import pytest

from lcca.remy_plus.fabric.builders import dumbbell, leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine, Watch
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.switches.markers import marking


@pytest.mark.parametrize("load", [0.3, 0.8])
@pytest.mark.parametrize("sizes", [(1000, 1000), (52, 1000)])
def test_packets_wait_at_a_port_as_in_m_g_1(load: float, sizes: tuple[int, int]) -> None:
    """Pollaczek-Khinchine: mean wait = λ E[S²] / (2 (1 − ρ)); hosts' links take no time."""
    random, pairs, count = np.random.default_rng(3), 30, 60_000
    payload = random.choice(sizes, size=count)
    service = (payload + 48) * 8.0  # ns at 1 Gb/s
    mean = float(service.mean())
    starts = np.cumsum(random.exponential(mean / load, size=count))
    src = random.integers(pairs, size=count)
    flows = FabricFlows(src, src + pairs, payload, starts)
    topology = dumbbell(pairs, bottleneck_gbps=1, host_gbps=1e5)
    found = FabricEngine("window", settings=settings(buffer_bytes=1e12)).run(topology, flows)
    wait = found["flow_fct_ns"] - found["flow_ideal_ns"]
    expected = load / mean * float((service**2).mean()) / (2 * (1 - load))
    assert wait.mean() == pytest.approx(expected, rel=0.06)
    port = (found["port_node"] == 2 * pairs) & (found["port_peer"] == 2 * pairs + 1)
    in_queue = found["port_mean_queued_bytes"][port][0]
    assert in_queue == pytest.approx((wait * (payload + 48)).sum() / found["end_ns"], rel=1e-6)  # Little's law


@pytest.mark.parametrize("transport", ["hpcc", "swift"])
def test_long_flows_come_to_max_min_shares(transport: str) -> None:
    """Three flows into host 0; one of their senders has a second flow, which gets what is left of its link."""
    ends = [(1, 0), (2, 0), (3, 0), (3, 4), (5, 6)]
    src, dst = (np.array(each) for each in zip(*ends, strict=True))
    flows = FabricFlows(src, dst, np.full(5, 10**9), np.zeros(5))
    early, late = (
        FabricEngine(transport).run(star(7), flows, horizon_ns=end)["flow_delivered_bytes"] for end in (3e6, 9e6)
    )
    gbps = (late - early) * 8 / 6e6
    wanted = np.array([1 / 3, 1 / 3, 1 / 3, 2 / 3, 1]) * gbps[4]
    np.testing.assert_allclose(gbps, wanted, rtol=0.15)
    assert gbps[4] > 85


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_a_lossy_queue_grows_to_its_share_of_the_buffer(alpha: float) -> None:
    """Choudhury and Hahne, 1998: one queue with a dynamic threshold fills α / (1 + α) of the buffer."""
    hosts = np.arange(1, 9)
    flows = FabricFlows(hosts, 0 * hosts, np.full(8, 10**6), np.zeros(8))
    lossy = settings(lossless=False, buffer_bytes=2e5, alpha=alpha)
    found = FabricEngine("window", settings=lossy).run(star(9), flows, horizon_ns=1e5)
    most = found["port_most_queued_bytes"].max()
    share = alpha / (1 + alpha) * 2e5
    assert share - 2 * 1048 < most <= share
    assert found["port_drops"].sum() > 0


@pytest.mark.parametrize("tors", [2, 3])
def test_a_switch_has_a_buffer_for_each_of_its_ports(tors: int) -> None:
    """The same law of Choudhury and Hahne at switches of different size: the spine has a port a rack, each ToR five."""
    topology = leaf_spine(tors=tors, hosts_per_tor=4, spines=1, uplink_gbps=100)
    last = topology.hosts - 4  # first host of the last rack, to which all others send
    src = np.arange(last)
    flows = FabricFlows(src, last + src % 4, np.full(last, 10**6), np.zeros(last))
    lossy = settings(lossless=False, buffer_bytes_per_port=4e4, alpha=0.5)
    found = FabricEngine("window", settings=lossy).run(topology, flows, horizon_ns=1e5)
    first, spine = topology.hosts, topology.nodes - 1
    ports = {first: 5, spine: tors}
    congested = {first: (spine, 0.5)} | ({spine: (spine - 1, 0.5)} if tors > 2 else {})
    for switch, (peer, alpha) in congested.items():
        port = (found["port_node"] == switch) & (found["port_peer"] == peer)
        share = alpha / (1 + alpha) * 4e4 * ports[switch]
        assert share - 2 * 1048 < found["port_most_queued_bytes"][port][0] <= share


def test_swift_holds_its_target_delay() -> None:
    """Two flows: the RTT settles where window / RTT is half the link and the target for that window is the RTT."""
    flows = FabricFlows(np.array([1, 2]), np.array([0, 0]), np.full(2, 10**9), np.zeros(2))
    found = FabricEngine("swift").run(star(3), flows, horizon_ns=4e6)
    base, packet_us = found["base_rtt_ns"] / 1e3, 1056 * 8e-5
    target = 1.25 * base + 0.5
    slope = 4 * 1.25 * base / (0.1**-0.5 - 256**-0.5)
    for _ in range(50):
        target = 1.25 * base + 0.5 + slope * ((target / 2 / packet_us) ** -0.5 - 256**-0.5)
    queue = (target - base) / packet_us * 1056
    port = (found["port_node"] == 3) & (found["port_peer"] == 0)
    assert found["port_mean_queued_bytes"][port][0] == pytest.approx(queue, rel=0.25)


def long_flows(count: int) -> FabricFlows:
    return FabricFlows(np.arange(1, count + 1), np.zeros(count, int), np.full(count, 10**9), np.zeros(count))


def test_swift_lets_a_queue_stand_for_every_hop_of_its_target() -> None:
    """Two flows through one switch: 20 µs more for a hop are 20 µs more of queue, 250 kB at 100 Gb/s."""
    mean = [
        FabricEngine("swift", {"hop_us": hop_us, "most": 2000, "range": 0})
        .run(star(3), long_flows(2), horizon_ns=1e7)["port_mean_queued_bytes"]
        .max()
        for hop_us in (5, 25)
    ]
    assert mean[1] - mean[0] == pytest.approx(250e3, rel=0.2)


def test_dctcp_keeps_a_link_busy_with_a_threshold_far_below_its_product() -> None:
    """A fifth of the bandwidth-delay product is enough where decreases go with marks (SIGCOMM 2010, section 3.4)."""
    engine = FabricEngine("dctcp-window", settings=settings(marker=marking("step", k_bytes=10e3)))
    found = engine.run(star(3), long_flows(2), horizon_ns=5e6)
    assert found["flow_delivered_bytes"].sum() * 8 / 5e6 > 0.98 * 100 * 1000 / 1048
    assert found["port_most_queued_bytes"].max() < 100e3


def test_theta_powertcp_brakes_as_the_rtt_grows() -> None:
    """An incast of eight: what a fixed window leaves standing is gone within some RTTs, and the link stays busy."""
    watch = Watch(every_ns=1000, ports=[(9, 0)])
    found = FabricEngine("theta-powertcp").run(star(9), long_flows(8), horizon_ns=1e6, watch=watch)
    queue = found["sample_queued_bytes"][:, 0]
    assert queue[40:].mean() < 0.1 * queue.max()
    assert found["flow_delivered_bytes"].sum() * 8 / 1e6 > 91  # it is 88 where the gradient counts the other way


def test_rcp_may_start_at_a_share_of_the_line() -> None:
    """A round trip passes before the second packet, or none does and packets have the gaps of that share."""
    alone = FabricFlows(np.array([0]), np.array([1]), np.array([20_000]), np.zeros(1))
    topology, frame_ns = star(3), (1048 + 8) * 8 / 100
    usual, half, line = (
        FabricEngine("rcp", {"first": first}).run(topology, alone)["flow_fct_ns"][0] for first in (0, 0.5, 1)
    )
    assert line == pytest.approx(4000 - 2000 + (20 + 1) * frame_ns)
    assert half - line == pytest.approx(19 * frame_ns)
    round_trip = 4000 + 2 * frame_ns + 2 * (60 + 4) * 8 / 100
    assert usual - line == pytest.approx(round_trip - frame_ns)


@pytest.mark.parametrize("seed", range(8))
def test_the_base_rtt_is_the_largest_of_all_pairs(seed: int) -> None:
    """Racks of hosts with links of their own, some alike, below one spine: of every pair the one way there is."""
    random = np.random.default_rng(seed)
    racks, hosts = 3, 12
    rack = random.integers(racks, size=hosts)
    gbps = np.concatenate([random.choice((10.0, 100.0), size=hosts), random.choice((40.0, 400.0), size=racks)])
    delay = np.concatenate([random.choice((200.0, 900.0), size=hosts), random.choice((100.0, 3000.0), size=racks)])
    back = np.where(random.random(hosts + racks) < 0.3, gbps / 2, gbps)
    ends = np.concatenate([hosts + rack, np.full(racks, hosts + racks)])
    fabric = FabricTopology(hosts, racks + 1, np.arange(hosts + racks), ends, gbps, delay, back)

    def rtt(src: int, dst: int) -> float:
        up = [src] if rack[src] == rack[dst] else [src, hosts + rack[src]]
        down = [dst] if rack[src] == rack[dst] else [dst, hosts + rack[dst]]
        sending = sum(8000 / gbps[link] for link in up) + sum(8000 / back[link] for link in down)
        return sending + 2 * sum(delay[link] for link in up + down)

    pairs = [(src, dst) for src in range(hosts) for dst in range(hosts) if src != dst]
    flows = FabricFlows(np.array([0]), np.array([1]), np.array([1000]), np.zeros(1))
    found = FabricEngine("window").run(fabric, flows)["base_rtt_ns"]
    assert found == pytest.approx(max(rtt(*pair) for pair in pairs), abs=0.01)
