"""Load balancers where a spine is slow, receivers that reorder, and queues that trim."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from lcca.remy_plus.fabric.builders import fat_tree, leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord, Watch
from lcca.remy_plus.fabric.flows import FabricFlows, FlowSet
from lcca.remy_plus.fabric.settings import FabricSettings, settings
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.policies.policy import FixedWindow, WithHeader
from lcca.remy_plus.switches.transports import SPRAYING
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping

SELECTIVE = ("nscc", "rccc", "nscc+rccc", "ndp", "eqds")


def permutation(hosts: int, size: int = 2_000_000) -> FabricFlows:
    here = np.arange(hosts)
    return FabricFlows(here, (here + hosts // 2) % hosts, np.full(hosts, size), np.zeros(hosts))


def slow_spine() -> FabricTopology:
    """16 hosts at 100 Gb/s under four spines, the links of one at a quarter."""
    fast = leaf_spine(4, 4, 4, 100, 100, 1000, 1000)
    slow = (fast.a == 20) | (fast.b == 20)
    return replace(fast, gbps=np.where(slow, 25.0, 100.0))


def run(transport: str, topology: FabricTopology, sent: FabricFlows, seed: int = 1, **changes: object) -> FabricRecord:
    return FabricEngine(transport, settings=settings("uet-htsim", **changes)).run(topology, sent, seed, 1e9)


@pytest.mark.slow
def test_load_balancers_have_their_order_on_a_slow_spine() -> None:
    """Each is better than the next by the mean completion time, over seeds (paired t, 99 %)."""
    topology, sent, seeds = slow_spine(), permutation(16), range(1, 13)
    mean = {
        how: np.array([run("nscc", topology, sent, seed, spraying=how)["flow_fct_ns"].mean() for seed in seeds])
        for how in ("mixed", "bitmap", "reps", "oblivious", "flow")
    }
    for better, worse in pairwise(mean):
        apart = np.log(mean[worse] / mean[better])
        assert stats.ttest_1samp(apart, 0, alternative="greater").pvalue < 0.01, (better, worse)


def test_adaptive_switches_avoid_the_slow_spine() -> None:
    topology, sent = slow_spine(), permutation(16)
    hashed, adaptive = (run("nscc", topology, sent, spraying="oblivious", adaptive=each) for each in (False, True))
    share = [found["port_data_packets"][found["port_peer"] == 20].sum() for found in (hashed, adaptive)]
    assert share[1] < 0.7 * share[0]
    assert adaptive["flow_fct_ns"].mean() < 0.8 * hashed["flow_fct_ns"].mean()


@pytest.mark.parametrize("spraying", [*SPRAYING, "adaptive"])
@pytest.mark.parametrize("transport", [*SELECTIVE, "dctcp", "hpcc", "swift"])
def test_every_byte_is_delivered_once(transport: str, spraying: str) -> None:
    """Packets: sent = delivered + sent again; what arrives is all but what was trimmed or dropped."""
    topology, adaptive = fat_tree(4), spraying == "adaptive"
    changes = {"adaptive": adaptive, "selective": True} | ({} if adaptive else {"spraying": spraying})
    sent = permutation(16, 300_000)
    record = run(transport, topology, sent, retransmit_after_us=500, ack_bytes_every=0, **changes)
    np.testing.assert_array_equal(record["flow_delivered_bytes"], sent.size_bytes)
    packets = 16 * int(np.ceil(300_000 / 4086))
    from_hosts, to_hosts = record["port_node"] < 16, record["port_peer"] < 16
    assert record["port_data_packets"][from_hosts].sum() == packets + record["retransmitted_packets"]
    lost = record["port_trims"].sum() + record["port_drops"].sum()
    arrived = record["port_data_packets"][to_hosts].sum()
    assert arrived == packets + record["retransmitted_packets"] - lost
    assert arrived >= packets  # duplicates arrive, and are not delivered again


def test_threads_and_looks_change_nothing() -> None:
    topology, sent = slow_spine(), permutation(16)
    first, again = (run("nscc+rccc", topology, sent, 5) for _ in range(2))
    for name in first:
        np.testing.assert_array_equal(first[name], again[name], err_msg=name)


def test_a_packet_that_meets_a_full_queue_comes_a_round_trip_later() -> None:
    """Two packets meet at a port that holds one: the second is trimmed, asked for and sent again (times by hand)."""
    topology = star(3, 100, 1000)
    sent = FabricFlows(np.array([0, 1]), np.array([2, 2]), np.array([4086, 4086]), np.array([0.0, 10.0]))
    record = run("nscc", topology, sent, queue_bdps=1e-3)
    assert record["port_trims"].sum() == 1 and record["retransmitted_packets"] == 1
    frame, control, link = 332.0, 5.12, 1000.0
    begins = frame + link  # the first frame at the switch
    header = begins + frame + control + link  # at the receiver, behind the first frame
    asked = header + control + link + control + link  # whose ACK goes first
    ends = asked + 2 * (frame + link) + 2 * (control + link)
    np.testing.assert_allclose(record["flow_fct_ns"], [2 * (frame + link) + 2 * (control + link), ends - 10], atol=1e-3)


@pytest.mark.parametrize(("starts", "trims"), [([0, 332], 0), ([0, 331.999], 1), ([0, 332, 332], 1)])
def test_the_last_bit_that_leaves_makes_room_for_what_comes_at_that_moment(starts: list[float], trims: int) -> None:
    """A port that holds one packet sends the first from 1332 to 1664 ns; the others arrive 1332 ns after they start."""
    senders = np.arange(len(starts))
    sent = FabricFlows(senders, np.full(len(starts), 3), np.full(len(starts), 4086), np.array(starts, dtype=float))
    record = run("nscc", star(4, 100, 1000), sent, queue_bdps=1e-3)
    assert record["port_trims"].sum() == trims
    alone = 2 * (332 + 1000) + 2 * (5.12 + 1000)
    assert (np.abs(record["flow_fct_ns"] - alone) < 1e-3).sum() == len(starts) - trims


def test_adaptive_switches_count_what_has_left_at_that_moment_no_more() -> None:
    """As the first packet's last bit leaves an uplink, both are as empty, and the hash decides: alike for half."""
    topology = leaf_spine(2, 2, 2, 100, 100, 1000, 1000)
    same = {}
    for start in (331.999, 332):
        sent = FabricFlows(np.array([0, 1]), np.array([2, 3]), np.array([4086, 4086]), np.array([0, start]))
        runs = [run("nscc", topology, sent, seed, adaptive=True, spraying="oblivious") for seed in range(1, 21)]
        ups = [found["port_data_packets"][found["port_peer"] >= 6] for found in runs]
        same[start] = sum(int(up.max() == 2) for up in ups)
    assert same[331.999] == 0 and 3 <= same[332] <= 17


def test_what_is_trimmed_is_sent_again_at_once() -> None:
    topology = star(3, 100, 1000)
    sent = FabricFlows(np.array([0, 1]), np.array([2, 2]), np.full(2, 20_000_000), np.zeros(2))
    record = FabricEngine("window", {"bdps": 4}, settings("uet-htsim", selective=True, retransmit_after_us=500)).run(
        topology, sent, 1, 1e9
    )
    trims = record["port_trims"].sum()
    assert trims > 200 and record["port_drops"].sum() == 0
    assert record["retransmitted_packets"] == trims  # each at once, none by a timer
    assert record["timeouts"] == 0


@pytest.mark.parametrize("name", ["int-md", "hpcc"])
def test_a_header_does_not_widen_a_window(name: str) -> None:
    """Headers that grow on the way are no bytes that the window counts: 10 packets stay under way."""
    policy = WithHeader(FixedWindow(10), stamping(header(name)).on_packets(1000))  # type: ignore[arg-type]
    sent = FabricFlows(np.array([0]), np.array([1]), np.array([2_000_000]), np.array([0.0]))
    watch = Watch(10_000, flows=[0])
    record = FabricEngine(policy, settings=FabricSettings(selective=True)).run(star(2), sent, watch=watch)
    under_way = record["sample_under_way_bytes"][1:-1, 0]
    assert len(under_way) > 20
    assert under_way.max() <= 10_000


@pytest.mark.parametrize("transport", ["nscc", "nscc+rccc"])
def test_a_queue_pair_keeps_its_window(transport: str) -> None:
    """After an incast, the next messages of the same pairs begin with what is left of it: fewer packets are trimmed."""
    hosts, count = 9, 16
    rows = np.arange(count)
    waits = {
        "after": np.where(rows < 8, -1, rows - 8),
        "sets": [FlowSet(np.array([row]), "acknowledged") for row in range(8)],
    }
    flows = FabricFlows(rows % 8, np.full(count, 8), np.full(count, 400_000), np.zeros(count), **waits)
    trims = {}
    for pairs in (False, True):
        engine = FabricEngine(transport, {}, settings("uet-htsim", queue_pairs=pairs))
        found = engine.run(star(hosts), flows, seed=1)
        assert not np.isnan(found["flow_fct_ns"]).any()
        trims[pairs] = found["port_trims"].sum()
    assert trims[True] < 0.9 * trims[False]


def test_feedback_for_every_packet_and_queue_pairs_avoid_the_slow_spine() -> None:
    """In a ring of small messages; neither alone does as well."""
    ranks, steps = 16, 30
    host = np.array([4 * (rank % 4) + rank // 4 for rank in range(ranks)])
    rank, step = np.tile(np.arange(ranks), steps), np.repeat(np.arange(steps), ranks)
    before = (step - 1) * ranks + (rank - 1) % ranks
    waits = {
        "after": np.where(step == 0, -1, np.arange(len(rank)) - ranks),
        "sets": [FlowSet(np.array([row]), "received") for row in before[ranks:]],
    }
    ends = (host[rank], host[(rank + 1) % ranks], np.full(len(rank), 250_000), np.zeros(len(rank)))
    took = {}
    for pairs, each in ((False, False), (True, False), (False, True), (True, True)):
        engine = FabricEngine("nscc", {}, settings("uet-htsim", queue_pairs=pairs, feedback_per_packet=each))
        runs = (engine.run(slow_spine(), FabricFlows(*ends, **waits), seed, 1e9) for seed in range(1, 5))
        took[pairs, each] = np.mean([(run["flow_start_ns"] + run["flow_fct_ns"]).max() for run in runs])
    assert took[True, True] < 0.95 * min(took[False, False], took[True, False], took[False, True])
