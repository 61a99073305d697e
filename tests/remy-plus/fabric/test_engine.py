"""The fabric engine against closed forms, conservation and fairness."""

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import dumbbell, fat_tree, leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine, Watch
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings, settings
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.switches.markers import marking
from lcca.remy_plus.switches.transports import SCHEDULING, TRANSPORTS

WITHOUT_TELEMETRY = ["window", "dctcp", "dcqcn"]


def flows(*rows: tuple[int, int, int, float]) -> FabricFlows:
    src, dst, size, start = (np.array(each) for each in zip(*rows, strict=True))
    return FabricFlows(src, dst, size, start.astype(float))


def many(topology: FabricTopology, count: int, seed: int, mean: float = 30e3) -> FabricFlows:
    """Flows of random sizes between random hosts, close together in time."""
    random = np.random.default_rng(seed)
    src = random.integers(topology.hosts, size=count)
    dst = (src + random.integers(1, topology.hosts, size=count)) % topology.hosts
    sizes = np.ceil(random.exponential(mean, size=count)).astype(np.int64)
    return FabricFlows(src, dst, sizes, np.sort(random.uniform(0, 1e5, size=count)))


@pytest.mark.parametrize("ends", [{"fct_at_ack": False}, {"fct_at_ack": True}])
@pytest.mark.parametrize("transport", WITHOUT_TELEMETRY)
def test_a_lone_flow_has_slowdown_one(transport: str, ends: dict[str, float]) -> None:
    topology = leaf_spine(hosts_per_tor=2, tors=2, spines=2)
    sizes = [1, 999, 1000, 1001, 12_345, 10**6]
    alone = flows(*((0, 1 + i % 3, size, 1e6 * i) for i, size in enumerate(sizes)))
    found = FabricEngine(transport, settings=settings(**ends)).run(topology, alone)
    np.testing.assert_array_equal(found["flow_fct_ns"], found["flow_ideal_ns"])


def test_what_a_lone_packet_takes() -> None:
    found = FabricEngine("window").run(star(3, gbps=100, delay_ns=1000), flows((0, 1, 1000, 0)))
    assert found["flow_fct_ns"][0] == 2 * (1048 * 0.08 + 1000)


def test_a_long_flow_takes_what_the_slowest_link_lets_through() -> None:
    topology = dumbbell(1, bottleneck_gbps=40)
    found = FabricEngine("window").run(topology, flows((0, 1, 10**7, 0)))
    assert found["flow_fct_ns"][0] == pytest.approx(10**4 * 1048 * 8 / 40 + 3 * 1000, rel=1e-3)


@pytest.mark.parametrize("transport", sorted(name for name, kind in TRANSPORTS.items() if not kind.ideal))
@pytest.mark.parametrize("scheduling", SCHEDULING)
def test_what_is_sent_arrives(transport: str, scheduling: str) -> None:
    topology = fat_tree(4)
    sent = many(topology, 300, seed=1)
    found = FabricEngine(transport, settings=settings(fct_at_ack=True, scheduling=scheduling)).run(topology, sent)
    assert not np.isnan(found["flow_fct_ns"]).any()
    np.testing.assert_array_equal(found["flow_delivered_bytes"], sent.size_bytes)
    packets, sprays = np.ceil(sent.size_bytes / 1000).sum(), "spraying" in TRANSPORTS[transport].settings
    to_hosts, from_hosts = found["port_peer"] < topology.hosts, found["port_node"] < topology.hosts
    for name in ("port_data_packets", "port_ack_packets"):
        assert found[name][to_hosts].sum() == found[name][from_hosts].sum()
        if name == "port_data_packets" or not sprays:  # which have ACKs for several packets, and grants
            assert found[name][to_hosts].sum() == packets
    assert found["port_drops"].sum() == 0 and found["retransmitted_packets"] == 0
    overtakes = 6 * 1048 * 0.08 if sprays else 0  # a short last packet, by another way
    assert (found["flow_fct_ns"] >= found["flow_ideal_ns"] - overtakes).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("buffer_bytes", [50e3, 200e3])
def test_nothing_is_lost_with_pfc_whatever_the_load(seed: int, buffer_bytes: float) -> None:
    topology = leaf_spine(hosts_per_tor=4, tors=3, spines=2)
    sent = many(topology, 300, seed, mean=100e3)
    engine = FabricEngine("window", {"bdps": 0}, settings(buffer_bytes=buffer_bytes))
    found = engine.run(topology, sent)
    assert found["port_drops"].sum() == 0
    assert found["port_pauses_sent"].sum() > 0
    np.testing.assert_array_equal(found["flow_delivered_bytes"], sent.size_bytes)


def test_pauses_that_are_sent_are_received() -> None:
    topology = star(9)
    incast = flows(*((host, 0, 10**6, 0) for host in range(1, 9)))
    found = FabricEngine("window", {"bdps": 0}, settings(buffer_bytes=1e6)).run(topology, incast)
    assert found["port_pauses_sent"].sum() == found["port_pauses_received"].sum() > 0
    assert found["port_paused_ns"].sum() > 0


@pytest.mark.parametrize("transport", ["window", "dcqcn", "hpcc"])
def test_what_a_lossy_fabric_drops_is_sent_again(transport: str) -> None:
    topology = star(9)
    incast = flows(*((host, 0, 3 * 10**5, 0) for host in range(1, 9)))
    found = FabricEngine(transport, settings=settings(lossless=False, buffer_bytes=200e3)).run(topology, incast)
    assert found["port_drops"].sum() > 0 and found["retransmitted_packets"] > 0
    np.testing.assert_array_equal(found["flow_delivered_bytes"], incast.size_bytes)


@pytest.mark.parametrize("transport", ["window", "hpcc", "powertcp", "theta-powertcp", "swift", "dctcp-window", "rcp"])
def test_a_full_link_is_shared_and_busy(transport: str) -> None:
    topology = dumbbell(4, host_gbps=400)
    long = flows(*((i, 4 + i, 10**9, 0) for i in range(4)))
    found = FabricEngine(transport).run(topology, long, horizon_ns=4e6)
    share = found["flow_delivered_bytes"] / found["flow_delivered_bytes"].sum()
    np.testing.assert_allclose(share, 0.25, rtol=0.2)
    assert found["flow_delivered_bytes"].sum() * 8 / 4e6 > 0.75 * 100


def test_hpcc_keeps_queues_short_where_a_fixed_window_fills_them() -> None:
    topology = star(9)
    incast = flows(*((host, 0, 4 * 10**6, 0) for host in range(1, 9)))
    mean = {
        name: FabricEngine(name).run(topology, incast)["port_mean_queued_bytes"].max() for name in ("window", "hpcc")
    }
    assert mean["hpcc"] < 0.2 * mean["window"]


def test_marking_follows_its_line() -> None:
    """A queue that a fixed window holds between the thresholds is marked in proportion."""
    topology = star(3)
    pair = flows((1, 0, 2 * 10**7, 0), (2, 0, 2 * 10**7, 0))
    engine = FabricEngine(
        "window", settings=settings(marker=marking("red", kmin_bytes=10e3, kmax_bytes=110e3, pmax=0.5))
    )
    found = engine.run(topology, pair)
    port = (found["port_node"] == 3) & (found["port_peer"] == 0)
    queue = float(found["port_mean_queued_bytes"][port][0])
    share = float(found["port_marked_packets"][port][0] / found["port_data_packets"][port][0])
    assert share == pytest.approx(0.5 * (queue - 10e3) / 100e3, rel=0.05)


def test_marking_is_the_transports_own_unless_told() -> None:
    """DCTCP has a step at 300 kB; the same thresholds told change nothing, DCQCN's thresholds do."""
    topology = star(9)
    incast = flows(*((host, 0, 10**6, 0) for host in range(1, 9)))
    told = (settings(), settings(marker=marking("step", k_bytes=300e3)), settings(marker=marking("red")))
    runs = (FabricEngine("dctcp", settings=each).run(topology, incast) for each in told)
    own, same, other = (each["port_marked_packets"].sum() for each in runs)
    assert own == same > 1.5 * other


def test_the_seed_moves_paths_and_marks_only() -> None:
    topology = fat_tree(4)
    sent = many(topology, 200, seed=2)
    engine = FabricEngine("dcqcn", settings=settings(marker=marking("red", kmin_bytes=5e3, kmax_bytes=50e3)))
    first, again, other = (engine.run(topology, sent, seed=seed) for seed in (1, 1, 2))
    for name, values in first.items():
        np.testing.assert_array_equal(values, again[name], err_msg=name)
    assert not np.array_equal(first["flow_fct_ns"], other["flow_fct_ns"])
    np.testing.assert_array_equal(first["flow_delivered_bytes"], other["flow_delivered_bytes"])


def test_other_numbers_of_hosts_are_the_same_fabric() -> None:
    """Where no two packets meet at the same moment, nothing hangs on how hosts are numbered."""
    topology, moved = star(5), np.array([3, 0, 4, 1, 2])
    sent = flows((0, 1, 50_000, 0), (2, 1, 70_000, 333.3), (3, 4, 9_000, 777.7), (4, 1, 30_000, 1234.5))
    other = FabricFlows(moved[sent.src], moved[sent.dst], sent.size_bytes, sent.start_ns)
    first, second = (FabricEngine("window").run(topology, each) for each in (sent, other))
    np.testing.assert_array_equal(first["flow_fct_ns"], second["flow_fct_ns"])


def test_a_run_that_ends_early_says_what_came() -> None:
    found = FabricEngine("window").run(star(3), flows((0, 1, 10**9, 0)), horizon_ns=1e6)
    assert np.isnan(found["flow_fct_ns"]).all()
    assert found["flow_delivered_bytes"][0] == pytest.approx(1e6 * 100 / 8 * 1000 / 1048, rel=0.01)


def test_samples_show_rates_and_queues() -> None:
    watch = Watch(every_ns=1000, flows=[0], ports=[(4, 0)])
    incast = flows((1, 0, 10**6, 0), (2, 0, 10**6, 0))
    found = FabricEngine("hpcc").run(star(4), incast, watch=watch)
    assert found["sample_gbps"].shape == found["sample_under_way_bytes"].shape == (len(found["sample_ns"]), 1)
    assert found["sample_gbps"][2, 0] == 100
    assert found["sample_gbps"][30:60].mean() == pytest.approx(50, rel=0.2)
    assert found["sample_queued_bytes"].max() <= found["port_most_queued_bytes"].max()


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="'quic' is not known; one of window, dctcp"):
        FabricEngine("quic").run(star(3), flows((0, 1, 1, 0)))
    with pytest.raises(InputError, match="g_ is not a parameter; one of g"):
        FabricEngine("dctcp", {"g_": 1}).run(star(3), flows((0, 1, 1, 0)))
    with pytest.raises(InputError, match="16384 bytes at most"):
        FabricEngine("dctcp", settings=FabricSettings(payload_bytes=16_384)).run(star(3), flows((0, 1, 1, 0)))
    with pytest.raises(InputError, match=r"preset: 'ns2' is not known .known: default, uet-htsim, hpcc-ns3"):
        settings("ns2")


@pytest.mark.parametrize("transport", ["window", "hpcc", "swift"])
@pytest.mark.parametrize("places", [[0, 1, 62, 63, 64, 65, 126, 127], [3, 64, 127, 128, 129, 191, 300, 511]])
def test_hosts_of_a_large_switch_fare_as_those_of_a_small_one(transport: str, places: list[int]) -> None:
    few = len(places)
    sent = many(star(few), 300, seed=2, mean=50e3)
    large = FabricFlows(np.array(places)[sent.src], np.array(places)[sent.dst], sent.size_bytes, sent.start_ns)
    engine = FabricEngine(transport, settings=settings(buffer_bytes=1e5))
    small = engine.run(star(few), sent)
    found = engine.run(star(max(places) + 1), large)
    assert small["port_pauses_sent"].sum() > 0
    for column in ("flow_fct_ns", "flow_ideal_ns"):
        np.testing.assert_array_equal(found[column], small[column])
    assert found["port_pauses_sent"].sum() == small["port_pauses_sent"].sum()
