"""Selective hosts beside those that go back, and where packets are taken for lost too early or requests cross."""

from dataclasses import replace

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine, Watch
from lcca.remy_plus.fabric.events import LinkChange, LinkEvents
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings, settings
from lcca.remy_plus.switches.markers import marking

INCAST = FabricFlows(np.arange(3), np.full(3, 3), np.full(3, 1_000_000), np.zeros(3))


@pytest.mark.parametrize(
    "transport", ["rcp", "dctcp", "dctcp-window", "swift", "timely", "dcqcn", "dcqcn+", "powertcp", "theta-powertcp"]
)
def test_where_nothing_is_lost_hosts_that_reorder_do_as_those_that_go_back(transport: str) -> None:
    sent = FabricFlows(np.arange(3), np.full(3, 3), np.array([1_000_000, 700_000, 500_000]), np.array([0.0, 1e3, 5e3]))
    counts = {"notification_gap_us": 5.0, "gap_per_flow_us": 2.0, "marks_within_us": 100.0}
    parameters = counts if transport == "dcqcn+" else {}  # ACKs bring back how many flows were marked
    back, selective = (
        FabricEngine(transport.removesuffix("+"), parameters, FabricSettings(selective=each)).run(
            star(4), sent, horizon_ns=1e8
        )
        for each in (False, True)
    )
    np.testing.assert_array_equal(selective["flow_fct_ns"], back["flow_fct_ns"])


@pytest.mark.parametrize("timeout_us", [2, 8])
def test_packets_that_time_out_too_early_do_not_widen_windows(timeout_us: float) -> None:
    """Three windows of 1.5 bandwidth-delay products fit into a queue of ten, whatever was sent twice."""
    engine = FabricEngine("nscc", {"timeout_us": timeout_us, "timeout_drains": 0}, settings("uet-htsim", queue_bdps=10))
    record = engine.run(star(4), INCAST, horizon_ns=1e7)
    assert record["timeouts"] > 0
    assert record["port_trims"].sum() == 0
    np.testing.assert_array_equal(record["flow_delivered_bytes"], INCAST.size_bytes)


def crowd(transport: str) -> tuple[FabricFlows, FabricEngine]:
    """Return short and long flows in eight classes where all that exceeds short queues is dropped."""
    draws = np.random.default_rng(1)
    count = 120
    src = draws.integers(0, 8, count)
    dst = (src + draws.integers(1, 8, count)) % 8
    size = np.where(draws.random(count) < 0.5, draws.integers(1, 5, count), draws.integers(1, 300_000, count))
    start = np.sort(draws.random(count) * 1e5)
    sent = FabricFlows(src, dst, size, start, priority=draws.integers(0, 8, count).astype(np.int32))
    own = FabricSettings(
        queue_bdps=0.3, trim_bytes=0, lossless=False, adaptive=True, sleek=True, priorities=8, retransmit_after_us=200
    )
    return sent, FabricEngine(transport, settings=own)


@pytest.mark.parametrize("transport", ["nscc", "ndp", "rccc", "nscc+rccc", "eqds"])
def test_requests_that_cross_say_nothing_of_the_base_rtt(transport: str) -> None:
    """Senders probe after base RTTs: one taken for too short has them probe, and send again, ever more often."""
    sent, engine = crowd(transport)
    record = engine.run(leaf_spine(2, 4, 4, 100, 100), sent, horizon_ns=2e6)
    np.testing.assert_array_equal(record["flow_delivered_bytes"], sent.size_bytes)
    assert record["port_drops"].sum() > 100
    assert record["retransmitted_packets"] < 2.5 * record["port_drops"].sum()


@pytest.mark.parametrize("transport", ["nscc", "rccc", "nscc+rccc", "ndp", "eqds"])
def test_windows_shorter_than_a_packet_let_one_go(transport: str) -> None:
    record = FabricEngine(transport, {"first_bdps": 0.001}, settings("uet-htsim")).run(star(4), INCAST, horizon_ns=1e7)
    np.testing.assert_array_equal(record["flow_delivered_bytes"], INCAST.size_bytes)


@pytest.mark.parametrize(("transport", "credit_rate"), [("eqds", 0.986), ("eqds", 0.9), ("rccc", 0.99), ("ndp", 0.99)])
def test_receivers_share_their_link_among_all_that_send(transport: str, credit_rate: float) -> None:
    """EQDS (NSDI 2022): after the first window credit fills the link, to each alike; no trims, a queue that drains."""
    count = np.arange(1, 9)
    sent = FabricFlows(count, np.zeros_like(count), np.full(8, 2_000_000), np.zeros(8))
    engine = FabricEngine(transport, {"credit_rate": credit_rate}, FabricSettings(queue_bdps=1))
    record = engine.run(star(9), sent, watch=Watch(1000.0, range(8), [(9, 0)]))
    base = record["base_rtt_ns"]
    late = (record["sample_ns"] > 40 * base) & (record["sample_ns"] < 0.9 * record["flow_fct_ns"].min())
    begin, end = np.flatnonzero(late)[[0, -1]]
    bytes_got = record["sample_delivered_bytes"][end] - record["sample_delivered_bytes"][begin]
    line = 12.5 * (record["sample_ns"][end] - record["sample_ns"][begin]) * 1000 / 1048
    assert bytes_got.sum() / line == pytest.approx(credit_rate, abs=0.01)
    assert bytes_got.sum() ** 2 / (8 * (bytes_got**2).sum()) > 0.999
    assert record["sample_queued_bytes"][late].max() < 12.5 * base and record["sample_queued_bytes"][end] < 5000
    first = engine.run(star(9), sent, horizon_ns=40 * base)
    assert first["port_trims"].sum() == record["port_trims"].sum() > 0


@pytest.mark.parametrize("transport", ["dcqcn", "rcp", "dctcp"])
def test_packets_out_of_order_mean_losses_with_and_without_windows(transport: str) -> None:
    own = FabricSettings(selective=True, sleek=True, queue_bdps=0.2, trim_bytes=0, lossless=False)
    record = FabricEngine(transport, settings=own).run(star(4), INCAST, horizon_ns=1e8)
    assert record["port_drops"].sum() > 0
    assert record["timeouts"] == 0
    np.testing.assert_array_equal(record["flow_delivered_bytes"], INCAST.size_bytes)


@pytest.mark.parametrize(("queue_bdps", "most"), [(0.5, 1.035), (1, 1.035), (2, 1.06)])
def test_what_others_overtook_is_sent_again_once(queue_bdps: float, most: float) -> None:
    """Switches drop what exceeds their queues; of what is sent again, hardly anything had arrived."""
    sent = FabricFlows(np.arange(8), np.full(8, 8), np.full(8, 1_000_000), np.zeros(8))
    own = settings("uet-htsim", trim_bytes=0, sleek=True, queue_bdps=queue_bdps)
    runs = [FabricEngine("nscc", settings=own).run(star(9), sent, seed, horizon_ns=1e7) for seed in range(1, 11)]
    for record in runs:
        np.testing.assert_array_equal(record["flow_delivered_bytes"], sent.size_bytes)
    drops, again = (sum(int(np.sum(record[key])) for record in runs) for key in ("port_drops", "retransmitted_packets"))
    assert drops > 1000
    assert again < most * drops


def test_senders_whose_windows_time_out_ask_once_per_round_trip() -> None:
    """Whole windows of 6 bandwidth-delay products are lost, so that their timers expire in a row."""
    sent = FabricFlows(np.arange(4), np.full(4, 4), np.full(4, 2_000_000), np.zeros(4))
    own = settings("uet-htsim", trim_bytes=0, queue_bdps=0.1)
    record = FabricEngine("rccc", {"first_bdps": 6}, own).run(star(5), sent, horizon_ns=1e7)
    requests = record["port_ack_packets"][record["port_node"] < 4]  # what senders send beside data
    base_ns = 4 * 1000 + 2 * (4150 + 64) * 8 / 100
    assert record["timeouts"] > 1000
    assert (requests <= 1 + record["flow_fct_ns"] / base_ns).all()


def test_the_answer_to_a_request_names_no_packets_beyond_the_first_that_is_missing() -> None:
    """The second of two packets arrives and its ACK is lost: a sender without credit asks, and sends both again.

    By hand: they reach the switch at 1332 and 1664 ns, the second the receiver at 2996; its ACK takes 1005 ns a link.
    """
    changes = [LinkChange(*each) for each in ((1, 1, 2, 0, 0), (1600, 1, 2, None, 0), (3010, 1, 2, 0, 1))]
    events = LinkEvents([*changes, LinkChange(5000, 1, 2, None, 1)], convergence_ns=1e6)
    sent = FabricFlows(np.zeros(1), np.ones(1), np.full(1, 2 * 4086), np.zeros(1))
    own = settings("uet-htsim", trim_bytes=0, base_rtt_ns=8000)  # 100,000 bytes
    record = FabricEngine("rccc", {"first_bdps": 2 * 4150 / 100_000}, own).run(
        replace(star(2), events=events), sent, horizon_ns=1e7
    )
    assert record["event_lost_packets"].tolist() == [1, 0]
    assert record["timeouts"] == record["retransmitted_packets"] == 2


def test_grants_take_the_ways_that_entropies_allow() -> None:
    one = FabricFlows(np.zeros(1), np.ones(1), np.full(1, 1_000_000), np.zeros(1))
    uplinks = {}
    for entropies in (1, 64):
        own = settings("uet-htsim", entropies=entropies)
        record = FabricEngine("rccc", settings=own).run(leaf_spine(2, 1, 4, 100, 100), one, horizon_ns=1e7)
        up = (record["port_node"] == 3) & (record["port_peer"] > 3)
        uplinks[entropies] = (record["port_ack_packets"][up] > 0).sum()
    assert uplinks == {1: 1, 64: 4}


@pytest.mark.parametrize("queue_bdps", [0.2, 0.5])
def test_out_of_order_is_by_the_window_that_a_sender_has_at_its_rate(queue_bdps: float) -> None:
    """All packets are marked, so that DCTCP's windows, which go by its rate, are soon of few packets."""
    every = marking("step", k_bytes=0)
    own = FabricSettings(selective=True, sleek=True, queue_bdps=queue_bdps, trim_bytes=0, lossless=False, marker=every)
    sent = FabricFlows(np.arange(2), np.full(2, 2), np.full(2, 300_000), np.zeros(2))
    record = FabricEngine("dctcp", settings=own).run(star(3), sent, horizon_ns=1e7)
    assert record["port_drops"].sum() > 0
    assert record["flow_fct_ns"].max() < 140_000  # by the window at line rate 150,000 and 177,000


@pytest.mark.parametrize("key", ["spraying", "sleek"])
def test_hosts_that_go_back_do_not_spray(key: str) -> None:
    own = FabricSettings(**{"spraying": {"spraying": "mixed"}, "sleek": {"sleek": True}}[key])  # type: ignore[arg-type]
    with pytest.raises(InputError, match=f"{key}: needs selective hosts"):
        FabricEngine("dctcp", settings=own).run(star(4), INCAST)
