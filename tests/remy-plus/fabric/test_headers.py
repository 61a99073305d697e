"""Headers of the catalogue on a fabric: what ports write, as in the one-bottleneck engine; what they cost, exactly."""

import math
from dataclasses import replace

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.core.signals import SIGNAL_CEILING
from lcca.remy_plus.core.stamping import raw_stamping
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.fabric.builders import dumbbell, leaf_spine
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.files.policyfile import load
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.explicit import Xcp
from lcca.remy_plus.policies.policy import Aimd, FixedWindow, Policy, WithHeader, compile_policy
from lcca.remy_plus.policies.rules import RuleTable, one_rule
from lcca.remy_plus.switches.markers import marking
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping
from lcca.signal_sets.load import resolve

from .bare_support import BARE, PACKET_BYTES, POLICIES, RTT_US

FAST = 1e5
MARKED_ABOVE = 30  # packets
LEAF_SPINE = leaf_spine(tors=2, hosts_per_tor=2, spines=1)
ONE_PACKET = FabricFlows(np.array([0]), np.array([3]), np.array([1000]), np.array([0.0]))


def equipped(policy: Policy, name: str) -> WithHeader:
    """Return a policy with a header of the catalogue."""
    return WithHeader(policy, stamping(header(name)).on_packets(PACKET_BYTES))  # type: ignore[arg-type]


def by_limit(signal: str, limit: float) -> RuleTable:
    """Return a table that adds a packet at every ACK, and takes a tenth away from `limit` on."""
    edges, steps = np.array([0.0, limit, SIGNAL_CEILING])[:, None], np.array([1.0, 0.0])
    return RuleTable((signal,), edges[:-1], edges[1:], steps, np.array([1.0, 0.9]), np.zeros(2))


def one_switch(senders: int, gbps: float) -> FabricTopology:
    """Return senders around a switch with one receiver, whose link is the only slow one."""
    rates, delays = np.full(senders + 1, FAST * gbps), np.full(senders + 1, 100.0)
    rates[-1], delays[-1] = gbps, RTT_US * 1e3 / 2 - 100
    switch = np.full(senders + 1, senders + 1, dtype=np.int32)
    return FabricTopology(senders + 1, 1, np.arange(senders + 1, dtype=np.int32), switch, rates, delays)


def slowdowns(policy: Policy, rate: float, seed: int, switches: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the slowdowns of the same flows in the one-bottleneck engine and in a fabric.

    Flows are what ten senders of the one-bottleneck engine sent there; in the fabric each has a sender of its own, with
    links so fast that the bottleneck alone takes time.
    """
    network = Network(0, rate, RTT_US, 10, math.inf, 100, 1500, 0, "bytes")
    engine = Engine(3500, Model(mark_above=MARKED_ABOVE), jobs=1)
    found = engine.run([compile_policy(policy)], NetworkList([network]), [0], [0], [seed], keep_flows=True).columns
    order = np.argsort(found["flow_start_us"], kind="stable")
    start, end, size, done = (found[f"flow_{name}"][order] for name in ("start_us", "end_us", "length", "finished"))
    gbps, count = rate * PACKET_BYTES * 8e-3, len(start)
    hosts = np.arange(count)
    if switches == 1:
        fabric, receivers = one_switch(count, gbps), np.full(count, count)
    else:
        fabric, receivers = dumbbell(count, gbps, FAST * gbps, RTT_US * 1e3 / 2 - 200, 100), hosts + count
    flows = FabricFlows(hosts, receivers, size * (PACKET_BYTES - 8), start * 1e3)
    settings = replace(BARE, marker=marking("step", k_bytes=MARKED_ABOVE * PACKET_BYTES * 100 / gbps))
    fct_us = FabricEngine(policy, settings=settings).run(fabric, flows)["flow_fct_ns"] / 1e3
    ideal = RTT_US + size / rate
    return ((end - start) / ideal)[done > 0], (fct_us / ideal)[done > 0]


# A limit on the queue makes small differences large: they agree less closely, flow by flow.
# An XCP hop grants no increase to what follows an interval without packets (section 3.5.1), so that two hops do what
# one does not: with XCP the bottleneck is the only hop.
@pytest.mark.parametrize(
    ("policy", "switches", "least"),
    [
        (equipped(FixedWindow(40), "int-md"), 2, 0.99),
        (equipped(load(POLICIES / "link+queue.json").policy, "int-md"), 2, 0.99),
        (equipped(load(POLICIES / "link+queue.json").policy, "hpcc"), 2, 0.99),
        (equipped(load(POLICIES / "fair-rate.json").policy, "rcp-16"), 2, 0.99),
        (equipped(by_limit("mark", 0.05), "ecn"), 2, 0.99),
        (equipped(by_limit("queue", 20.0), "int-md"), 2, 0.98),
        (equipped(Xcp(), "xcp"), 1, 0.99),
    ],
    ids=["fixed-int-md", "int-md", "hpcc", "rcp-16", "ecn", "queue", "xcp"],
)
def test_policies_score_as_behind_one_bottleneck(policy: WithHeader, switches: int, least: float) -> None:
    found = [slowdowns(policy, rate, seed, switches) for rate in (2.0, 3.0, 4.0) for seed in range(4)]
    there, here = (np.log2(np.concatenate(each)) for each in zip(*found, strict=True))
    assert len(there) > 100
    assert abs(np.mean(here - there)) < 0.02
    assert np.corrcoef(there, here)[0, 1] > least


def test_ports_count_the_bytes_of_a_header_that_grows() -> None:
    made = equipped(FixedWindow(9), "int-md")
    flow = FabricFlows(np.array([0]), np.array([3]), np.array([10**5]), np.array([0.0]))
    found = FabricEngine(made).run(LEAF_SPINE, flow)
    bytes_of = dict(
        zip(zip(found["port_node"], found["port_peer"], strict=True), found["port_data_bytes"], strict=True)
    )
    way = [(0, 4), (4, 6), (6, 5), (5, 3)]  # a ToR, the spine, a ToR
    assert [bytes_of[port] for port in way] == [100 * (1056 + 16 + 16 * hops) for hops in range(4)]
    assert sum(bytes_of.values()) == sum(bytes_of[port] for port in way)


@pytest.mark.parametrize(
    "name", ["ecn", "hpcc", "rcp-16", "int-md", "csig-compact-abw", "fair-share", "fullest", "rank"]
)
def test_a_header_takes_its_time_there_and_back(name: str) -> None:
    made = header(name)
    fct = FabricEngine(equipped(FixedWindow(1), name), settings=FabricSettings(fct_at_ack=True)).run(
        LEAF_SPINE, ONE_PACKET
    )["flow_fct_ns"][0]
    data = sum(1056 + made.wire_bytes(hops) for hops in range(4))
    back = 4 * (60 + made.reflected_bytes(3))
    assert fct == pytest.approx(8 * 1000 + (data + back) * 0.08, abs=1e-6)


def test_no_header_is_lost_with_the_packets_that_are() -> None:
    settings = FabricSettings(lossless=False, buffer_bytes=30_000, fct_at_ack=True)
    flows = FabricFlows(np.array([0, 1, 2]), np.array([3, 3, 3]), np.full(3, 300_000), np.zeros(3))
    found = FabricEngine(equipped(FixedWindow(60), "int-md"), settings=settings).run(LEAF_SPINE, flows)
    assert found["port_drops"].sum() > 0
    np.testing.assert_array_equal(found["flow_delivered_bytes"], 300_000)


@pytest.mark.parametrize("lossless", [True, False])
def test_a_class_of_traffic_changes_nothing_of_a_header(lossless: bool) -> None:
    """Alone in the second of two classes headers are as with one class; with both classes, packets of each arrive."""
    hosts, size = np.array([0, 1, 2]), np.full(3, 300_000)
    found = {}
    for name, priority, priorities in (("one", [0, 0, 0], 1), ("second", [1, 1, 1], 2), ("both", [1, 0, 1], 2)):
        settings = FabricSettings(lossless=lossless, buffer_bytes=60_000, priorities=priorities)
        flows = FabricFlows(hosts, np.full(3, 3), size, np.zeros(3), priority=np.array(priority))
        engine = FabricEngine(equipped(by_limit("queue", 20), "int-md"), settings=settings)
        found[name] = engine.run(LEAF_SPINE, flows)
    for column, values in found["one"].items():
        np.testing.assert_array_equal(values, found["second"][column], err_msg=column)
    np.testing.assert_array_equal(found["both"]["flow_delivered_bytes"], size)


def test_the_mark_is_that_of_the_ports_marker() -> None:
    """Where all packets that leave some behind are marked, the window stays small; where none is, it grows."""
    took = {}
    for name, marker in {"all": marking("step", k_bytes=0), "none": marking("step", k_bytes=1e9)}.items():
        pair = FabricFlows(np.array([0, 1]), np.array([3, 3]), np.full(2, 10**6), np.zeros(2))
        for moment in (True, False):
            settings = FabricSettings(marker=marker, mark_at_dequeue=moment)
            found = FabricEngine(equipped(by_limit("mark", 0.05), "ecn"), settings=settings).run(LEAF_SPINE, pair)
            took[name, moment] = found["port_most_queued_bytes"].max()
    assert max(took["all", True], took["all", False]) < min(took["none", True], took["none", False]) / 4


def run(policy: Policy, settings: FabricSettings | None = None) -> None:
    FabricEngine(policy, settings=settings or FabricSettings()).run(LEAF_SPINE, ONE_PACKET)


def test_what_ports_do_not_know_is_refused() -> None:
    with pytest.raises(InputError, match="header none: a fabric tells senders nothing without bytes"):
        run(WithHeader(Aimd(), raw_stamping(("hop_delay",))))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="does not tell one_way_ratio"):
        run(equipped(one_rule(("one_way_ratio",)), "ecn"))
    with pytest.raises(InputError, match="does not tell fair_rate; without a header it tells available_capacity"):
        run(one_rule(("rtt_ratio",), "1/fair_rate"))


def test_what_is_known_later_is_refused_at_enqueue() -> None:
    ecn = stamping(header("ecn"))
    early = WithHeader(FixedWindow(1), replace(ecn, fields=tuple(replace(f, at="enqueue") for f in ecn.fields)))
    with pytest.raises(InputError, match="mark is not on a fabric: the fabric marks at dequeue"):
        run(early)
    run(early, FabricSettings(mark_at_dequeue=False))
    delay = stamping(header("csig-compact-delay"))
    fields = tuple(replace(f, at="enqueue") for f in delay.fields)
    with pytest.raises(InputError, match="does not know how long a packet will wait"):
        run(WithHeader(FixedWindow(1), replace(delay, fields=fields)))


@pytest.mark.parametrize("name", ["bolt", "bolt:cc_thresh=1", "timly"])
def test_a_transport_that_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(
        InputError,
        match=r"neither a transport \((known: window.*swift|did you mean .timely).*\) nor the",
    ):
        resolve(name, "fabric")
