"""Hand-designed congestion controls in ns-3 against theory, and against each other.

Steady state is what a longer trial has beyond a shorter one with the same seed: the longer begins as the shorter does.
"""

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from lcca.gym_envs.ns3.baselines import step_marking, with_hand_designed
from lcca.gym_envs.ns3.host import run_plan
from lcca.gym_envs.ns3.plan import Ns3Options, trial_plan
from lcca.remy_plus.engine import Model
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.families import FAMILIES, HAND_DESIGNED, STOCK
from lcca.remy_plus.policies.hand_designed import hand_designed
from lcca.remy_plus.policies.policy import FixedWindow, compile_policy
from lcca.remy_plus.topology import Topology

pytestmark = pytest.mark.usefixtures("ns3")

RATE, RTT, BUFFER = 1.0, 100.0, 200
BDP = RATE * RTT
DATA = 590  # bytes on the wire
SHORT_FLOWS = Network(4, RATE, 20.0, 1, 1000, 25.0, 300.0, 0.0, "bytes")


def long_flows(senders: int, **changes: Any) -> Network:
    """Senders that begin at once and never stop."""
    return replace(Network(3, RATE, RTT, senders, BUFFER, 1e12, 1e-6, 0.0), **changes)


def trial(name: str, network: Network, duration: float, seed: int = 1, options: Ns3Options | None = None, **plan: Any):
    made = trial_plan(
        network,
        tuple(compile_policy(FixedWindow(1)).__getstate__()),
        seed,
        duration,
        Model(),
        options or Ns3Options(),
        True,
    )
    return run_plan(with_hand_designed(made, hand_designed(name), network) | plan)


EACH = [pytest.param(name, marks=pytest.mark.full) if FAMILIES[name] in STOCK else name for name in HAND_DESIGNED]


@dataclass
class Steady:
    goodput: float  # share of the link rate, data packets
    utilisation: float
    rtt: float  # µs
    queue: float  # packets
    marked: float  # share of packets
    dropped: float  # share of packets
    each: list[int]  # packets per sender


@cache
def steady(name: str, network: Network, begin: float = 5_000.0, end: float = 15_000.0) -> Steady:
    before, after = (trial(name, network, duration) for duration in (begin, end))
    span = end - begin
    counts = ("delivered", "dropped", "delay_sum_us")
    flows = {key: np.subtract(after["flows"][key], before["flows"][key]) for key in counts}
    packets = int(flows["delivered"].sum())
    return Steady(
        packets / span / network.link_rate,
        (after["utilisation"] * end - before["utilisation"] * begin) / span,
        flows["delay_sum_us"].sum() / packets,
        (after["queue_mean_packets"] * end - before["queue_mean_packets"] * begin) / span,
        (after["marked"] - before["marked"]) / packets,
        flows["dropped"].sum() / packets,
        flows["delivered"].tolist(),
    )


# --- theory


@pytest.mark.slow
@pytest.mark.parametrize("senders", [1, 4])
def test_newreno_is_a_sawtooth(senders):
    # A window that halves at W and grows by one a round loses one packet in 3/8 W² (Mathis et al. 1997), and stays from
    # W/2 to W. Here W = BDP + buffer + the packet being sent, per sender, and W/2 fills the pipe just so.
    rtt, buffer = 20.0 * senders, 20 * senders
    found = steady("newreno", long_flows(senders, rtt=rtt, buffer=buffer), 2_000, 22_000)
    window = (rtt * RATE + buffer + 1) / senders
    assert found.goodput > 0.97
    # Time-weighted mean of a queue that grows evenly from 0 to the buffer round by round, rounds lasting as they do.
    depth = np.arange(buffer + 1)
    assert found.queue == pytest.approx(np.average(depth, weights=rtt + depth), rel=0.3)
    # Less than the theory, by the round of recovery and what the window grows until the loss is noticed.
    theory = 8 / (3 * window**2)
    assert 0.7 < found.dropped / theory < (1.1 if senders == 1 else 2.0)  # several lose together or not


@pytest.mark.parametrize("senders", [1, 4])
def test_cubic_fills_the_buffer(senders):
    found = trial("cubic", long_flows(senders), 12_000)
    assert found["utilisation"] > 0.95  # slow start included
    assert found["rtt_us"][3] == pytest.approx(RTT + BUFFER / RATE, rel=0.02)
    assert sum(found["flows"]["dropped"]) > 0


@pytest.mark.slow
@pytest.mark.parametrize("senders", [1, 4])
def test_vegas_keeps_alpha_to_beta_packets_waiting(senders):
    # Late senders take queueing for propagation and keep more; slow start has long ended.
    found = steady("vegas", long_flows(senders), 12_000, 18_000)
    assert found.goodput > 0.99 and found.dropped == 0
    assert 2 * senders - 1 <= found.queue <= 4 * senders
    assert found.rtt < 1.2 * RTT


@pytest.mark.slow
def test_vegas_obeys_its_parameters():
    found = steady("vegas:alpha=10,beta=12", long_flows(1), 12_000, 18_000)
    assert 9 <= found.queue <= 12


@pytest.mark.parametrize("name", ["bbr", "bbr-prime:signal=none"])
def test_bbr_alone_fills_the_link_without_a_queue(name):
    # 98 %: PROBE_RTT costs two rounds and 200 µs of 10,000 µs. One phase in eight queues a quarter BDP for a round.
    found = steady(name, long_flows(1), 4_000, 14_000)
    assert found.goodput > 0.95 and found.dropped == 0
    assert found.rtt < 1.15 * RTT


@pytest.mark.slow
def test_bbrs_window_bounds_the_queue_of_several():
    # With several flows the windows bind: two BDPs in all, and 3 packets and 4,096 bytes for each.
    found = steady("bbr", long_flows(4), 4_000, 10_000)
    window = 2 * BDP + 4 * (3 + 4096 / 536)
    assert found.goodput > 0.95
    assert 1.5 * RTT < found.rtt < 1.1 * (window / RATE)


@pytest.mark.slow
def test_bbr_probes_the_rtt_as_long_as_told():
    # The handshake's RTT is that of small packets: it is not seen again, and PROBE_RTT comes when it is too old.
    short, long = (
        steady(f"bbr:rtt_window_length=6000,probe_rtt_duration={us}", long_flows(1), 4_000, 10_000)
        for us in (200, 1200)
    )
    assert short.goodput > 0.94
    assert (short.goodput - long.goodput) * 6_000 == pytest.approx(1_000, rel=0.15)  # µs; 4 packets a round still go


@pytest.mark.slow
@pytest.mark.parametrize("senders", [1, 4])
def test_dctcp_keeps_the_queue_near_its_threshold(senders):
    # SIGCOMM 2010, section 3.3: the queue swings by A = sqrt(2N(C·RTT + K))/2 below K + N.
    k = 30
    found = steady(f"dctcp:mark_threshold={k}", long_flows(senders), 10_000, 20_000)
    swing = np.sqrt(2 * senders * (BDP + k)) / 2
    assert found.goodput > 0.95 and found.dropped == 0
    assert found.queue == pytest.approx(k + senders - swing / 2, abs=0.25 * k)
    if senders == 1:  # the share of marked packets that holds such a window: sqrt(2/W)
        assert found.marked == pytest.approx(np.sqrt(2 / (BDP + k)), rel=0.25)


@pytest.mark.slow
def test_two_dctcp_flows_share():
    found = steady("dctcp", long_flows(2), 10_000, 30_000)
    assert found.each[0] == pytest.approx(np.mean(found.each), rel=0.1)


def test_only_ecn_traffic_is_marked():
    red = {"queue": "red", "queue_attributes": step_marking(30)}
    unable = trial("newreno", long_flows(1), 3_000, **red)
    able = trial("dctcp:mark_threshold=30", long_flows(1), 3_000)
    assert unable["marked"] == 0 and sum(unable["flows"]["dropped"]) > 0
    assert able["marked"] > 0 and sum(able["flows"]["dropped"]) == 0


# --- the paper's modifications


@pytest.mark.slow
@pytest.mark.parametrize("senders", [1, 4])
@pytest.mark.parametrize("how", ["threshold=30", "signal=rtt,threshold=1.3"])  # of 100 µs, 30 packets at 1 packet/µs
def test_dctcp_prime_does_as_dctcp_does(senders, how):
    network = long_flows(senders)
    real = steady("dctcp:mark_threshold=30", network, 10_000, 20_000)
    prime = steady(f"dctcp-prime:{how}", network, 10_000, 20_000)
    assert prime.utilisation == pytest.approx(real.utilisation, abs=0.02)
    assert prime.queue == pytest.approx(real.queue, rel=0.15)  # a mark is as old as the queue, a stamp is not
    assert prime.marked == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "network",
    [
        long_flows(1),
        long_flows(4, loss=0.001),
        Network(9, 3.0, 25.0, 16, 200, 5000.0, 500.0, 0.001),  # of Table 1
    ],
    ids=["one", "four-lossy", "sixteen-on-off"],
)
def test_bbr_prime_without_a_signal_is_bbr(network):
    real, ours = (trial(name, network, 5_000) for name in ("bbr", "bbr-prime:signal=none"))
    assert ours["delivered"] == pytest.approx(real["delivered"], rel=0.02)
    assert ours["utilisation"] == pytest.approx(real["utilisation"], rel=0.02)
    assert mean_rtt(ours) == pytest.approx(mean_rtt(real), rel=0.06)  # they draw other phases to begin with


def mean_rtt(found: dict[str, Any]) -> float:
    return float(sum(found["flows"]["delay_sum_us"]) / sum(found["flows"]["delivered"]))


@pytest.mark.slow
def test_any_signal_spares_bbr_its_queue():
    # The paper's section 7: as much throughput, much less delay, whatever the signal.
    network = long_flows(4)
    plain = steady("bbr", network, 4_000, 9_000)
    for signal in ("queue", "link", "rtt"):
        found = steady(f"bbr-prime:signal={signal}", network, 4_000, 9_000)
        assert found.utilisation > 0.97 * plain.utilisation, signal
        assert found.queue < 0.3 * plain.queue, signal


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("newreno", 0),
        ("dctcp", 0),
        ("bbr-prime:signal=rtt", 0),
        ("bbr-prime:signal=queue", 4),
        ("bbr-prime:signal=link", 4),
        ("dctcp-prime:signal=queue", 4),
        ("dctcp-prime:signal=rtt", 0),
    ],
)
def test_signals_are_charged_on_the_wire(name, extra):
    assert bytes_of_a_packet(name) == pytest.approx(DATA + extra)


def test_headers_of_a_given_size_are_charged():
    assert bytes_of_a_packet("bbr-prime:signal=rtt", Ns3Options(header_bytes=16)) == pytest.approx(DATA + 16)


def bytes_of_a_packet(name: str, options: Ns3Options | None = None) -> float:
    """Bytes on the wire of each data packet, from a trial at whose end all that was sent has arrived."""
    found = trial(name, SHORT_FLOWS, 3_500, options=options)
    packets = sum(found["flows"]["sent"])
    assert packets == found["delivered"] > 100
    return float(found["utilisation"] * 3_500 * RATE * DATA / packets)


# --- time and state


@pytest.mark.parametrize("policy", [FixedWindow(20), FixedWindow(120)], ids=repr)
def test_stretched_time_changes_nothing(policy):
    # But rounding: ns-3 counts whole ns, of which a packet lasts 370.37; stretched a thousandfold, 370370.4.
    network = Network(3, 2.7, 100.0, 4, 300, 3000.0, 3000.0, 0.0)
    state = tuple(compile_policy(policy).__getstate__())
    plain, stretched = (
        run_plan(trial_plan(network, state, 1, 3_000.0, Model(), Ns3Options(time_scale=scale), True))
        for scale in (1.0, 1000.0)
    )
    assert stretched["delivered"] == pytest.approx(plain["delivered"], rel=1e-3)
    assert stretched["rtt_us"] == pytest.approx(plain["rtt_us"], rel=5e-3)
    assert stretched["flows"]["start_us"] == pytest.approx(plain["flows"]["start_us"], abs=0.001)
    assert stretched["flows"]["dropped"] == pytest.approx(plain["flows"]["dropped"], abs=5)


def test_a_control_without_constants_of_time_does_not_mind_its_scale():
    network = Network(5, 2.0, 25.0, 8, 150, 2000.0, 800.0, 0.001)
    plain, stretched = (trial(f"vegas:time_scale={scale}", network, 4_000) for scale in (1, 1000))
    assert plain["delivered"] == pytest.approx(stretched["delivered"], rel=0.01)


@pytest.mark.parametrize("buffer", [1000, 15], ids=["no-losses", "losses"])
@pytest.mark.parametrize("name", EACH)
def test_a_flow_knows_nothing_of_the_one_before(name, buffer):
    # One sender: whatever came before, flows of a length take the same time on an empty path.
    network = replace(SHORT_FLOWS, buffer=buffer)
    if name == "bbr-prime":
        name = "bbr-prime:signal=none"  # link utilisation and queue are the network's and remember
    flows = {key: np.array(values) for key, values in trial(name, network, 40_000)["flows"].items()}
    free = np.append(True, flows["start_us"][1:] - flows["last_arrival_us"][:-1] > 60.0) & (flows["finished"] > 0)
    complete = free & (flows["delivered"] == flows["length"])
    times: dict[int, list[float]] = defaultdict(list)
    for length, begin, end in zip(
        flows["length"][complete], flows["start_us"][complete], flows["last_arrival_us"][complete], strict=True
    ):
        times[int(length)].append(end - begin)
    several = {length: found for length, found in times.items() if len(found) > 1}
    assert len(several) > 10 and max(several) > 25
    for length, found in several.items():
        assert max(found) - min(found) < 0.01, (length, found)


@pytest.mark.parametrize("topology", [Topology("dumbbell"), Topology("line", 3)], ids=["dumbbell", "line"])
@pytest.mark.parametrize("name", EACH)
def test_all_run_on_networks_of_table_1(name, topology):
    network = replace(Network(5, 2.0, 25.0, 4, 100, 1000.0, 500.0, 0.001), topology=topology)
    found = trial(name, network, 2_000)
    assert found["delivered"] > 0 and found["utilisation"] <= 1.0001
    assert str(trial(name, network, 2_000)) == str(found)  # as text: not a number equals itself there
