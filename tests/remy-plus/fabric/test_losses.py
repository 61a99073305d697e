"""How transports react to losses, and how often θ-PowerTCP moves its rate."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lcca.remy_plus.fabric.builders import dumbbell, leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord, Watch
from lcca.remy_plus.fabric.events import LinkChange, LinkEvents
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.switches.markers import marking
from lcca.remy_plus.switches.transports import TRANSPORTS

NEVER_MARKED = marking("step", k_bytes=1e12)


def one(size: int) -> FabricFlows:
    return FabricFlows(np.array([0]), np.array([1]), np.array([size]), np.zeros(1))


@pytest.mark.parametrize(
    ("transport", "parameters", "packets"),
    [
        # RFC 5681: one packet after a timeout, and after every other one.
        ("dctcp-window", {"initial": 64}, [64, 1, 1, 1, 1, 1]),
        ("dctcp", {}, [52, 1, 1, 1, 1, 1]),
        # Swift, Algorithm 1: half after each, and the smallest window after the fifth in a row.
        ("swift", {"most": 64}, [52, 26, 13, 7, 4, 1]),
    ],
)
def test_timeouts_shrink_the_window(transport: str, parameters: dict[str, float], packets: list[int]) -> None:
    """A switch that drops every packet: what is under way after each timeout is the window, in whole packets."""
    engine = FabricEngine(transport, parameters, settings(lossless=False, buffer_bytes=500, retransmit_after_us=100))
    found = engine.run(star(2), one(10**6), horizon_ns=590e3, watch=Watch(every_ns=50e3, flows=[0]))
    assert (found["sample_under_way_bytes"][1::2, 0] / 1000).tolist() == packets


@pytest.mark.parametrize(("transport", "parameters"), [("dctcp-window", {}), ("swift", {"base_us": 500, "range": 0})])
def test_a_window_halves_as_a_packet_is_lost(transport: str, parameters: dict[str, float]) -> None:
    """A tail-drop queue at a bottleneck: the window goes from half of the room there is to all of it.

    A queue may have half of the buffer (alpha 1); going back, nearly nothing is under way for a moment.
    """
    lossy = settings(lossless=False, buffer_bytes=2e5, alpha=1, marker=NEVER_MARKED, nack_gap_us=200)
    engine = FabricEngine(transport, parameters, lossy)
    topology, end = dumbbell(1, bottleneck_gbps=10), 4e7
    found = engine.run(topology, one(10**9), horizon_ns=end, watch=Watch(every_ns=10e3, flows=[0]))
    delivered = found["flow_delivered_bytes"][0]
    assert found["port_drops"].sum() > 0
    assert delivered * 8 / end > 0.9 * 10 * 1000 / 1048
    room = (2e5 / 2 + 10 * found["base_rtt_ns"] / 8) * 1000 / 1048
    late = found["sample_under_way_bytes"][1000:, 0]
    assert np.quantile(late, 0.02) == pytest.approx(room / 2, rel=0.1)
    assert late.max() == pytest.approx(room, rel=0.05)


def test_theta_powertcp_moves_once_per_rtt() -> None:
    """Algorithm 2: the window follows once per RTT, not at every ACK."""
    flows = FabricFlows(np.arange(1, 5), np.zeros(4, int), np.full(4, 10**9), np.zeros(4))
    watch = Watch(every_ns=100, flows=[0])
    found = FabricEngine("theta-powertcp").run(star(5), flows, horizon_ns=5e5, watch=watch)
    moves = np.flatnonzero(np.diff(found["sample_gbps"][:, 0])) * 100
    assert len(moves) > 40
    assert np.diff(moves).min() >= found["base_rtt_ns"] - 300


def rates(transport: str, parameters: dict[str, float], **changes: float) -> tuple[np.ndarray, FabricRecord]:
    """Return the rate of a flow of 100 Gb/s through 10 Gb/s every 100 ns, in Gb/s; nothing is marked."""
    tight = settings(**{"lossless": False, "buffer_bytes": 2e5, "marker": NEVER_MARKED, "nack_gap_us": 10} | changes)
    watch = Watch(every_ns=100, flows=[0])
    found = FabricEngine(transport, parameters, tight).run(dumbbell(1, 10), one(10**8), horizon_ns=4e6, watch=watch)
    return found["sample_gbps"][:, 0], found


def test_dctcp_halves_its_rate_once_per_window() -> None:
    """RFC 8257, section 3.5: half after a loss, once per window of data; a round trip is the base RTT at least."""
    gbps, found = rates("dctcp", {})
    steps = np.flatnonzero(np.diff(gbps) < 0)
    assert len(steps) >= 4
    np.testing.assert_allclose(gbps[steps + 1] / gbps[steps], 0.5, rtol=0.02)
    assert np.diff(steps).min() * 100 >= found["base_rtt_ns"] - 100
    with_pfc, never = rates("dctcp", {}, lossless=True, headroom_delays=0, buffer_bytes=4e4)
    assert never["port_drops"].sum() > 0 and (np.diff(with_pfc) >= 0).all()  # whose NICs take nothing for lost


def test_dctcp_begins_anew_after_a_timeout() -> None:
    """RFC 5681: one packet per RTT, twice as much after each, up to half of what it was; then the constant."""
    incast = FabricFlows(np.arange(1, 9), np.zeros(8, int), np.full(8, 2 * 10**5), np.zeros(8))
    tight = settings(lossless=False, buffer_bytes=3e4, marker=NEVER_MARKED, retransmit_after_us=100)
    watch = Watch(every_ns=100, flows=range(8))
    found = FabricEngine("dctcp", {}, tight).run(star(9), incast, horizon_ns=1e6, watch=watch)
    packet = 1000 * 8 / found["base_rtt_ns"]
    wanted = [100, *(packet * 2**doubling for doubling in range(5)), 50, 50.615]
    matching = 0
    for gbps in found["sample_gbps"].T:
        changes = gbps[np.flatnonzero(np.diff(gbps)) + 1]
        matching += len(changes) >= 8 and np.allclose(changes[:8], wanted)
    assert matching >= 1


WITH_FACTOR = sorted(name for name, kind in TRANSPORTS.items() if "loss_factor" in kind.knobs)


def test_those_of_nics_have_a_loss_factor() -> None:
    assert WITH_FACTOR == ["dcqcn", "hpcc", "powertcp", "theta-powertcp", "timely", "window"]


@pytest.mark.parametrize("transport", WITH_FACTOR)
def test_a_loss_factor_leaves_fewer_packets_to_send_again(transport: str) -> None:
    """An incast above the buffer; where nothing is lost the parameter changes nothing."""
    incast = FabricFlows(np.arange(1, 9), np.zeros(8, int), np.full(8, 3 * 10**5), np.zeros(8))
    lossy, pfc = (settings(lossless=kept, buffer_bytes=4e5) for kept in (False, True))
    usual, tuned = (FabricEngine(transport, {"loss_factor": each}, lossy).run(star(9), incast) for each in (1, 0.5))
    assert 0 < tuned["retransmitted_packets"] < 0.9 * usual["retransmitted_packets"]
    np.testing.assert_array_equal(tuned["flow_delivered_bytes"], incast.size_bytes)
    same = [FabricEngine(transport, {"loss_factor": each}, pfc).run(star(9), incast) for each in (1, 0.5)]
    np.testing.assert_array_equal(same[0]["flow_fct_ns"], same[1]["flow_fct_ns"])


@pytest.mark.parametrize("transport", ["dcqcn", "timely"])
def test_a_loss_factor_is_taken_once_per_base_rtt(transport: str) -> None:
    gbps, found = rates(transport, {"loss_factor": 0.75})
    steps = np.flatnonzero(gbps[1:] < 0.8 * gbps[:-1])
    assert len(steps) >= 4
    np.testing.assert_allclose(gbps[steps + 1] / gbps[steps], 0.75, rtol=0.02)
    assert np.diff(steps).min() * 100 >= found["base_rtt_ns"] - 100


def test_dcqcn_recovers_from_a_loss_without_a_mark() -> None:
    """Fast recovery: by the timer, half of the way back to the rate before the loss."""
    gbps, _ = rates("dcqcn", {"loss_factor": 0.5, "increase_us": 20})
    cut = np.flatnonzero(np.diff(gbps) < 0)[0]
    risen = np.flatnonzero(np.diff(gbps[cut + 1 :]) > 0)
    assert len(risen) > 0
    first = cut + 1 + risen[0]
    assert gbps[first + 1] == pytest.approx((gbps[first] + gbps[cut]) / 2)


OF_HOSTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in ("dctcp", "hpcc", "rcp", "homa", "ndp", "nscc", "nscc+rccc")),
    ("dctcp", {"selective": True}),
    ("swift", {"spraying": "mixed", "selective": True}),
]


@pytest.mark.parametrize("priorities", [1, 2])
@pytest.mark.parametrize(("transport", "changes"), OF_HOSTS)
def test_no_timer_acts_while_pauses_hold_packets_up(transport: str, changes: dict[str, Any], priorities: int) -> None:
    """An incast that takes 5.4 ms, with timers of 1 ms and less: all is waited for, and nothing is lost."""
    own = {} if transport == "homa" else {"priorities": priorities}
    engine = FabricEngine(transport, {}, settings(buffer_bytes=4e6, **own, **changes))
    src = np.resize(np.arange(1, 24), 800)
    incast = FabricFlows(src, np.zeros(800, int), np.full(800, 8000), np.zeros(800))
    found = engine.run(leaf_spine(3, 8, 2, host_gbps=10, uplink_gbps=40), incast)
    assert found["port_drops"].sum() == 0 < found["port_pauses_sent"].sum()
    assert (found["retransmitted_packets"], found["timeouts"]) == (0, 0)
    assert found["port_data_packets"][found["port_node"] < 24].sum() == 800 * 8
    assert found["flow_fct_ns"].max() > 5e6


@pytest.mark.parametrize(("transport", "changes"), OF_HOSTS)
def test_timers_find_what_a_link_has_lost_with_pfc(transport: str, changes: dict[str, Any]) -> None:
    """A link fails under a message of three packets: no later one has a NACK sent, and a timer has to find it."""
    engine = FabricEngine(transport, {}, settings(**changes))
    down = [LinkChange(1e3, 1, 2, 0.0, 0), LinkChange(2e3, 1, 2, None, 0)]
    found = engine.run(replace(star(2), events=LinkEvents(down, 100e3)), one(3_000))
    assert found["port_lost_packets"].sum() >= 1 and found["retransmitted_packets"] >= 1
    assert 30e3 < found["flow_fct_ns"][0] < 2.1e6


@pytest.mark.parametrize(("transport", "changes"), OF_HOSTS)
def test_packets_dropped_for_want_of_headroom_are_sent_again(transport: str, changes: dict[str, Any]) -> None:
    incast = FabricFlows(np.arange(1, 9), np.zeros(8, int), np.full(8, 10**5), np.zeros(8))
    own = settings(headroom_delays=0, buffer_bytes=4e4, alpha=1, **changes)
    found = FabricEngine(transport, {}, own).run(star(9), incast, horizon_ns=1e9)
    assert found["port_drops"].sum() > 0
    np.testing.assert_array_equal(found["flow_delivered_bytes"], 10**5)


@pytest.mark.parametrize(("transport", "changes"), OF_HOSTS)
def test_timers_wait_for_round_trips_longer_than_theirs(transport: str, changes: dict[str, Any]) -> None:
    """Links of 400 km without PFC: what comes back after 8 ms is no loss."""
    engine = FabricEngine(transport, {}, settings(lossless=False, **changes))
    found = engine.run(star(3, delay_ns=2e6), replace(one(50_000), src=np.array([2])))
    assert found["port_drops"].sum() == 0 and 4e6 < found["flow_fct_ns"][0] < 60e6
    assert (found["retransmitted_packets"], found["timeouts"]) == (0, 0)


def test_timers_in_rtts_double_with_every_timeout_in_a_row() -> None:
    """RFC 6298, 5.5, up to 64 times, where a switch drops every packet; those in µs stay, as in HPCC's simulator."""
    own, window = settings(lossless=False, buffer_bytes=500), {"bdps": 0.001}  # one packet

    def sent_again(until_rtts: float, **timer: float) -> int:
        engine = FabricEngine("window", window, replace(own, **timer))
        found = engine.run(star(2), one(10**6), horizon_ns=until_rtts * base_ns)
        return int(found["retransmitted_packets"])

    base_ns = FabricEngine("window", window, own).run(star(2), one(10**6), horizon_ns=1e4)["base_rtt_ns"]
    ends = np.cumsum(10 * 2.0 ** np.minimum(np.arange(9), 6))  # of timeouts, base RTTs
    for number, end in enumerate(ends):
        assert sent_again(end - 1, retransmit_rtts=10.0) == number
        assert sent_again(end + 1, retransmit_rtts=10.0) == number + 1
    assert sent_again(100.5, retransmit_after_us=10 * base_ns / 1000) == 10
