"""Markers of the fabric in ns-3: against a queue replayed by hand, and against the same flows on the fabric."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lcca.gym_envs.ns3.baselines import with_hand_designed
from lcca.gym_envs.ns3.host import run_plan
from lcca.gym_envs.ns3.plan import Ns3Options, trial_plan
from lcca.gym_envs.ns3.simulator import UNUSED
from lcca.remy_plus.engine import Model
from lcca.remy_plus.fabric.builders import dumbbell
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.hand_designed import hand_designed
from lcca.remy_plus.switches.markers import MARKERS
from lcca.remy_plus.topology import Topology
from lcca.remy_plus.tuners.tuned import named_transport

pytestmark = pytest.mark.usefixtures("ns3")

FRAME, RATE, RTT = 1048, 1.0, 100.0  # bytes on the wire as on the fabric, packets/µs, µs
GBPS = RATE * FRAME * 8 / 1000
BURST = 60  # packets of a first window, which is sent at once; a receiver lets no more than 65 come
NETWORK = Network(3, RATE, RTT, 1, 400, 1e12, 1e-6, 0.0)


def trial(name: str, network: Network = NETWORK, duration: float = 95.0, seed: int = 1) -> dict[str, Any]:
    plan = trial_plan(network, UNUSED, seed, duration, Model(), Ns3Options(packet_bytes=FRAME), False)
    return run_plan(with_hand_designed(plan, hand_designed(name), network))


def burst(marker: str, seed: int = 1, senders: int = 1, **parameters: float) -> int:
    """Return the marks of first windows, before any acknowledgement is back."""
    given = ",".join(f"{key}={value}" for key, value in parameters.items())
    name = f"dctcp:initial_window={BURST // senders}@{marker}:{given}"
    return int(trial(name, replace(NETWORK, senders=senders), seed=seed)["marked"])


START = np.arange(BURST) / RATE  # µs, when each packet of a burst leaves
WAITED = START - np.arange(BURST) * FRAME * 8 / Ns3Options().host_gbps / 1000  # they come one behind the other
BEHIND = np.append(0, np.arange(BURST - 2, -1, -1)) * FRAME
"""Bytes that each packet of a burst leaves behind: the first finds the port idle and leaves before the others come."""


@pytest.mark.parametrize("k_bytes", [FRAME - 1, FRAME + 1, 17 * FRAME + 1, 58 * FRAME - 1, 58 * FRAME + 1])
def test_a_step_marks_what_leaves_more_behind(k_bytes: float) -> None:
    assert burst("step", k_bytes=k_bytes * 100 / GBPS) == (BEHIND > k_bytes).sum()  # it is for 100 Gb/s


def test_red_marks_in_proportion() -> None:
    low, high, most = 10 * FRAME, 50 * FRAME, 0.5
    found = [
        burst("red", seed, kmin_bytes=low * 100 / GBPS, kmax_bytes=high * 100 / GBPS, pmax=most) for seed in range(12)
    ]
    chance = np.where(BEHIND > high, 1, np.clip(BEHIND - low, 0, None) / (high - low) * most)
    assert np.mean(found) == pytest.approx(chance.sum(), abs=4 * np.sqrt((chance * (1 - chance)).sum() / 12))
    assert len(set(found)) > 3


@pytest.mark.parametrize("kind", ["ecn-sharp", "codel"])
def test_waits_are_those_of_the_network(kind: str) -> None:
    """A queue that stays is marked at gaps of interval / √n from when it has lasted for an interval (RFC 8289)."""
    target, interval = 10.2, 6.3
    instant = {"instant_us": 1e6} if kind == "ecn-sharp" else {}
    above = START[(WAITED >= target) & ((BEHIND > FRAME) | (kind == "ecn-sharp"))]
    first = START[START > above[0] + interval][0]
    due = first + np.concatenate([[0], np.cumsum(interval / np.sqrt(np.arange(1, 100)))])
    assert burst(kind, target_us=target, interval_us=interval, **instant) == (due < above[-1]).sum() > 5


def test_ecn_sharp_marks_all_that_waited_too_long() -> None:
    assert burst("ecn-sharp", instant_us=40.7, interval_us=1e6) == (WAITED > 40.7).sum()


def test_pred_counts_the_flows() -> None:
    """Its slope is in proportion to the flows that it has seen."""
    slope, kmin = 1.5, 10 * FRAME
    chance = {n: np.clip(n * slope * np.clip(BEHIND - kmin, 0, None) / 1e6, 0, 1) for n in (1, 4)}
    for senders, each in chance.items():
        found = [burst("pred", s, senders, qla=0, slope_per_mb=slope, kmin_bytes=kmin) for s in range(12)]
        # Of a second flow it knows from its first packet on.
        spread = np.sqrt((each * (1 - each)).sum() / 12)
        assert np.mean(found) == pytest.approx(each.sum(), abs=4 * spread)
    assert chance[4].sum() > 3 * chance[1].sum()


BEGIN, END = 6_000.0, 20_000.0
LIKE = 100 / GBPS * FRAME
"""A packet's bytes at a threshold that goes with the rate."""


def steady_ns3(marker: str, senders: int) -> tuple[float, float]:
    """Return the mean queue, in packets, and the share of packets with a mark, of long flows."""
    network = replace(NETWORK, senders=senders)
    before, after = (trial(f"dctcp@{marker}", network, duration) for duration in (BEGIN, END))
    queue = after["queue_mean_packets"] * END - before["queue_mean_packets"] * BEGIN
    delivered = sum(after["flows"]["delivered"]) - sum(before["flows"]["delivered"])
    assert delivered > 0.97 * RATE * (END - BEGIN)
    return queue / (END - BEGIN), (after["marked"] - before["marked"]) / delivered


def steady_fabric(marker: str, senders: int) -> tuple[float, float]:
    """Return the same on the fabric, at the port between two switches."""
    name = named_transport(f"dctcp-window@{marker}")
    engine = FabricEngine(name.name, name.parameters, settings(marker=name.marker))
    hosts = np.arange(senders)
    flows = FabricFlows(hosts, hosts + senders, np.full(senders, 10**9), np.zeros(senders))
    topology = dumbbell(senders, GBPS, Ns3Options().host_gbps, RTT / 2 * 1000, 1.0)
    before, after = (engine.run(topology, flows, 1, time * 1000) for time in (BEGIN, END))
    port = int(np.argmax(after["port_mean_queued_bytes"]))
    queue = [float(each["port_mean_queued_bytes"][port] * each["end_ns"]) / FRAME / 1000 for each in (before, after)]
    packets = (after["flow_delivered_bytes"].sum() - before["flow_delivered_bytes"].sum()) / 1000
    marked = after["port_marked_packets"][port] - before["port_marked_packets"][port]
    return (queue[1] - queue[0]) / (END - BEGIN), float(marked / packets)


@pytest.mark.slow
@pytest.mark.parametrize(
    "marker",
    [
        f"step:k_bytes={30.5 * LIKE}",
        f"red:kmin_bytes={20 * LIKE},kmax_bytes={120 * LIKE},pmax=0.5",
        "codel:target_us=20,interval_us=200",
        "ecn-sharp:instant_us=60,target_us=20,interval_us=200",
        "pie:target_us=25,update_us=50",
        "pred:slope_per_mb=0.5,count_us=125,adjust_us=500,kmax_bytes=200000",
    ],
)
def test_long_flows_are_as_on_the_fabric(marker: str) -> None:
    """DCTCP of ns-3 and of the fabric are two programs; only the marker is the same.

    One sends a packet once all of it fits into the window, the other as long as less than the window is under way: so a
    packet for each flow. A queue's swing takes a ms, so that one more or less at either end is a tenth of the marks.
    """
    senders = 4
    (queue, marked), (fabric_queue, fabric_marked) = (f(marker, senders) for f in (steady_ns3, steady_fabric))
    assert queue == pytest.approx(fabric_queue, abs=senders + 0.05 * fabric_queue)
    assert marked == pytest.approx(fabric_marked, rel=0.2)


@pytest.mark.parametrize("kind", MARKERS)
def test_every_marker_runs_on_several_links(kind: str) -> None:
    line = replace(NETWORK, senders=2, topology=Topology("line", 3))
    found = trial(f"dctcp@{kind}", line, 1_000)
    assert found["delivered"] > 0
    assert str(trial(f"dctcp@{kind}", line, 1_000)) == str(found)  # as text: not a number equals itself there


def test_a_port_without_a_buffer_still_sends() -> None:
    found = trial("dctcp@step:k_bytes=1", replace(NETWORK, buffer=0), 1_000)
    assert found["delivered"] > 0 and found["marked"] == 0 and found["queue_mean_packets"] == 0
