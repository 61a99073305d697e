"""Where the fabric engine ends: what cannot be is refused, what cannot finish ends, short links lose nothing."""

import math
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.fabric.builders import leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine, Watch
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import Deployment, FabricSettings, settings
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.policies.rules import one_rule
from lcca.remy_plus.switches.markers import marking
from lcca.remy_plus.switches.transports import TRANSPORTS

STATM = Path("/proc/self/statm")


def incast(senders: int, size: int) -> FabricFlows:
    hosts = np.arange(1, senders + 1)
    return FabricFlows(hosts, 0 * hosts, np.full(senders, size), np.zeros(senders))


@pytest.mark.parametrize(
    ("transport", "parameters", "changes", "message"),
    [
        ("window", {}, {"payload_bytes": 0}, "payload_bytes: must be from 1 to 16384, got 0"),
        ("window", {}, {"payload_bytes": 2**40}, "payload_bytes is out of range"),
        ("window", {}, {"ack_bytes": -100}, "ack_bytes: must be from 1"),
        ("window", {}, {"pfc_bytes": 70_000}, "pfc_bytes: must be from 1"),
        ("window", {}, {"buffer_bytes": np.nan}, "buffer_bytes is not a number"),
        ("hpcc", {}, {"queue_quantum_bytes": 0}, "queue_quantum_bytes: must be from 1"),
        ("window", {}, {"retransmit_after_us": 1e300}, "retransmit_after_us"),
        ("window", {"bdps": -1}, {}, "bdps: must be from 0 to"),
        ("dcqcn", {"decrease_us": 0}, {}, "decrease_us: must be from 0.001"),
        ("dcqcn", {"alpha_us": 0}, {}, "alpha_us: must be from 0.001"),
        ("dcqcn", {"increase_us": -1}, {}, "increase_us: must be from 0.001"),
        ("timely", {"min_gbps": 0}, {}, "min_gbps: must be from 1e-06"),
        ("swift", {"least": 0}, {}, "least: must be from 0.001"),
        ("swift", {"least": 2, "most": 1}, {}, "least: must be above 0, and most above it"),
        ("swift", {"beta": np.nan}, {}, "beta: must be from 0 to 1, got nan"),
    ],
)
def test_settings_that_cannot_be(
    transport: str, parameters: dict[str, float], changes: dict[str, float], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        FabricEngine(transport, parameters, settings(**changes)).run(star(3), incast(2, 5000))


@pytest.mark.parametrize(
    ("watch", "message"),
    [(Watch(1000, [99]), "no flow 99"), (Watch(1e-5, [0]), "every 1 to"), (Watch(1000, [], [(0, 1)]), "no link")],
)
def test_what_cannot_be_watched(watch: Watch, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FabricEngine("window").run(star(3), incast(2, 5000), watch=watch)


def int32(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, dtype=np.int32)


GIVEN: dict[str, Any] = {
    "hosts": 3,
    "switches": 1,
    "a": int32(0, 1, 2),
    "b": int32(3, 3, 3),
    "gbps": np.ones(6),
    "delay_ns": np.ones(3),
    "src": int32(1, 2),
    "dst": int32(0, 0),
    "size_bytes": np.array([10, 10]),
    "start_ns": np.zeros(2),
    "transport": "window",
    "parameters": {},
    "settings": FabricSettings().values({}),
    "marker": "red",
    "marker_parameters": {},
    "paths": [],
    "ack_paths": [],
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"src": int32(1)}, "flows: arrays must be equally long"),
        ({"b": int32(3)}, "links: arrays must be equally long"),
        ({"paths": [[3]]}, "flows: arrays must be equally long"),
        ({"src": int32(1, 9)}, "flow 1: needs hosts"),
        ({"src": int32(-1, 2)}, "flow 0: needs hosts"),
        ({"dst": int32(0, 3)}, "flow 1: needs hosts"),
        ({"dst": int32(0, 2)}, "flow 1: is sent to its sender"),
        ({"paths": [[3], [3, 1, 3]]}, "node 1 of a way is no switch"),
        ({"ack_paths": [[3], [99]]}, "node 0 has no link to node 99"),
        ({"start_ns": np.array([0, np.nan])}, "flow 1: must start"),
        ({"start_ns": np.array([0, 1e18])}, "flow 1: must start"),
        ({"gbps": np.array([1, np.inf, 1, 1, 1, 1])}, "Gb/s"),
        ({"delay_ns": np.array([1, 1, np.inf])}, "delay"),
        ({"hosts": -1}, "nodes at most"),
    ],
)
def test_the_core_refuses_what_python_would_have(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _core.run_fabric(**(GIVEN | changes))


@pytest.mark.parametrize(("gbps", "delay_ns"), [(10, 1), (10, 1000), (100, 50)])
def test_nothing_is_lost_with_pfc_however_short_the_links(gbps: float, delay_ns: float) -> None:
    engine = FabricEngine("window", {"bdps": 0}, settings(buffer_bytes=2e5, retransmit_after_us=0))
    found = engine.run(star(9, gbps, delay_ns), incast(8, 10**6))
    assert found["port_drops"].sum() == 0 < found["port_pauses_sent"].sum()
    assert found["flow_delivered_bytes"].sum() == 8 * 10**6


def test_without_headroom_packets_are_lost() -> None:
    engine = FabricEngine("window", {"bdps": 0}, settings(buffer_bytes=2e5, headroom_delays=0))
    assert engine.run(star(9), incast(8, 10**6), horizon_ns=1e6)["port_drops"].sum() > 0


def test_windows_longer_than_a_key_keep_their_order() -> None:
    """Links of 6 s: senders take turns at the receiver's link, and their last packets arrive in the third turn."""
    found = FabricEngine("window", settings=settings(retransmit_after_us=0)).run(star(9, delay_ns=6e9), incast(8, 3000))
    np.testing.assert_allclose(np.sort(found["flow_fct_ns"]) - 12e9, 83.84 * np.arange(18, 26), atol=0.01)


def test_each_missing_packet_is_asked_for_at_once() -> None:
    """The gap is between requests for one packet. One request of each flow would send 52 packets again, a window."""
    seldom = settings(lossless=False, buffer_bytes=6e4, alpha=1, nack_gap_us=1e5, retransmit_after_us=0)
    found = FabricEngine("window", settings=seldom).run(star(3), incast(2, 5 * 10**7), horizon_ns=2e6)
    assert found["retransmitted_packets"] > 10 * 2 * 52


def test_slow_pacing_is_no_loss() -> None:
    """Packets that leave less often than senders lose patience are not sent again."""
    slow = settings(retransmit_after_us=100)
    engine = FabricEngine("dcqcn", {"max_gbps": 0.05, "min_gbps": 0.01}, slow)
    assert engine.run(star(3), incast(1, 20_000))["retransmitted_packets"] == 0


def test_bytes_count_from_the_decrease_on() -> None:
    """What was acknowledged before the first decrease is no reason to increase."""
    marks = settings(marker=marking("step", k_bytes=1e6))
    rates = [
        FabricEngine("dcqcn", {"increase_bytes": count}, marks).run(
            star(3), incast(2, 10**8), horizon_ns=1.2e5, watch=Watch(1000, [0, 1])
        )["sample_gbps"]
        for count in (0, 4e5)
    ]
    np.testing.assert_array_equal(*rates)
    assert rates[0].min() < 50


def ring() -> tuple[FabricTopology, FabricFlows]:
    """Three switches in a ring with a host each, and flows that each cross two of its links: a cycle of buffers."""
    a, b = np.array([0, 1, 2, 3, 4, 5]), np.array([3, 4, 5, 4, 5, 3])
    topology = FabricTopology(3, 3, a, b, np.full(6, 100.0), np.full(6, 1000.0))
    src = np.array([0, 1, 2])
    path = [(3, 4, 5), (4, 5, 3), (5, 3, 4)]
    return topology, FabricFlows(src, (src + 2) % 3, np.full(3, 10**7), np.zeros(3), path=path)


@pytest.mark.parametrize("watch", [None, Watch(1000, [0])])
def test_a_deadlock_of_pauses_ends_the_run(watch: Watch | None) -> None:
    """PFC in a cycle of buffers stands still for ever; its flows are unfinished and the run ends."""
    topology, flows = ring()
    engine = FabricEngine("window", {"bdps": 0}, settings(buffer_bytes=50e3, retransmit_after_us=0))
    found = engine.run(topology, flows, watch=watch)
    assert np.isnan(found["flow_fct_ns"]).all() and found["port_drops"].sum() == 0
    assert found["port_paused_ns"].max() > 0


def test_a_deadlock_ends_the_run_though_timers_ring() -> None:
    """Without a horizon retransmission timers would ring for 9 · 10¹⁵ ns."""
    topology, flows = ring()
    found = FabricEngine("window", {"bdps": 0}, settings(buffer_bytes=50e3)).run(topology, flows)
    assert np.isnan(found["flow_fct_ns"]).all() and 1e9 < found["end_ns"] < 1.1e9


def test_what_is_always_dropped_ends_the_run() -> None:
    found = FabricEngine("window", settings=settings(lossless=False, buffer_bytes=500)).run(star(3), incast(2, 5000))
    assert np.isnan(found["flow_fct_ns"]).all() and found["flow_delivered_bytes"].sum() == 0
    assert found["end_ns"] < 1.1e9 and found["port_drops"].sum() > 1000


def test_what_is_slow_goes_on() -> None:
    """Senders that pace a packet in 2 s, links of 6 s and flows that start late deliver in the end."""
    slow = FabricEngine("dcqcn", {"max_gbps": 4e-6, "min_gbps": 1e-6}).run(star(3), incast(1, 3000))
    far = FabricEngine("window").run(star(3, delay_ns=6e9), incast(2, 3000))
    late = FabricFlows(np.array([1, 2]), np.array([0, 0]), np.array([1000, 1000]), np.array([0, 7e9]))
    for found in (slow, far, FabricEngine("window").run(star(3), late)):
        assert not np.isnan(found["flow_fct_ns"]).any()


def test_the_core_runs_hosts_without_a_switch() -> None:
    link = {"a": int32(0), "b": int32(1), "gbps": np.ones(2), "delay_ns": np.ones(1)}
    found = _core.run_fabric(**(GIVEN | link | {"hosts": 2, "switches": 0, "src": int32(0, 1), "dst": int32(1, 0)}))
    assert not np.isnan(found["flow_fct_ns"]).any() and not len(found["fullest_queued_ns"])


def test_no_flows_take_no_time() -> None:
    found = FabricEngine("window").run(star(3), incast(2, 1).before(-1.0))
    assert found["end_ns"] == 0 and len(found["flow_fct_ns"]) == 0


def test_ports() -> None:
    """As many as the engine says that it has, and not one more."""
    engine, most, of_node = FabricEngine("window"), _core.FABRIC_MOST_PORTS, _core.FABRIC_MOST_PORTS_OF_NODE
    assert len(engine.run(star(of_node), incast(1, 1))["port_node"]) == 2 * of_node
    with pytest.raises(InputError, match=f"a node may have {of_node} ports at most"):
        engine.run(star(of_node + 1), incast(1, 1))
    hosts = most // 32 - 8  # in each of 16 racks, with links to 8 spines
    assert most - 32 < len(engine.run(leaf_spine(16, hosts, 8), incast(1, 1))["port_node"]) <= most
    with pytest.raises(InputError, match=f"a fabric may have {most} ports at most"):
        engine.run(leaf_spine(16, hosts + 1, 8), incast(1, 1))


def chain(switches: int, last_gbps: float = 100.0) -> FabricTopology:
    """Two hosts at the ends of a chain of switches, the link of host 0 with a rate of its own."""
    nodes, gbps = np.array([0, *range(2, switches + 2), 1]), np.full(switches + 1, 100.0)
    gbps[0] = last_gbps
    return FabricTopology(2, switches, nodes[:-1], nodes[1:], gbps, np.full(switches + 1, 1000.0))


@pytest.mark.parametrize("transport", ["hpcc", "powertcp"])
def test_the_sixth_switch_has_room_for_its_stamp(transport: str) -> None:
    """Its port is the bottleneck: a sender that did not hear of it would keep a window of its line there, 190 kB."""
    found = FabricEngine(transport).run(chain(6, last_gbps=10), incast(1, 10**7))
    (last,) = np.flatnonzero((found["port_node"] == 2) & (found["port_peer"] == 0))
    assert np.isfinite(found["flow_fct_ns"]).all() and found["port_mean_queued_bytes"][last] < 20e3


@pytest.mark.parametrize("changes", [{}, {"adaptive": True, "selective": True}])
@pytest.mark.parametrize("transport", ["hpcc", "powertcp", one_rule(("queue",))], ids=str)
def test_a_seventh_has_none(transport: Any, changes: dict[str, Any]) -> None:
    longer, flows = chain(7), incast(1, 10_000)
    with pytest.raises(InputError, match="flow 0: 7 switches on its way write stamps, and packets have room for 6"):
        FabricEngine(transport, settings=settings(**changes)).run(longer, flows)
    for other in (
        FabricEngine("dctcp", settings=settings(**changes)),
        FabricEngine(transport, settings=settings(stamping=Deployment("tor"))),
    ):
        assert np.isfinite(other.run(longer, flows)["flow_fct_ns"]).all()


@pytest.mark.skipif(not STATM.exists(), reason="the system does not say what a process holds")
def test_trials_leave_no_memory_behind() -> None:
    fabric, random = star(1000), np.random.default_rng(1)
    src = random.integers(999, size=3000)
    flows = FabricFlows(src, src + 1, np.full(3000, 20_000), np.zeros(3000))
    held = []
    for _ in range(30):
        FabricEngine("hpcc").run(fabric, flows)
        held.append(int(STATM.read_text().split()[1]) * resource.getpagesize())
    assert held[-1] - held[9] < 20 * 2**20  # a page of 2 MiB left behind by every other trial is as much


def test_every_parameter_of_the_engine_is_described() -> None:
    """Or says what a transport is; those that Python describes have the engine's default or one of their own."""
    described: dict[str, set[str]] = {}
    for kind in TRANSPORTS.values():
        described.setdefault(kind.engine, set()).update({*kind.knobs, *kind.variant})
        assert all(math.isfinite(knob.default) for knob in kind.knobs.values())
    for engine, parameters in _core.transport_parameters().items():
        assert described[engine] - {"min_gbps", "loss_factor"} == set(parameters), engine
    assert TRANSPORTS["hpcc"].knobs["eta"].default == _core.transport_parameters()["hpcc"]["eta"] == 0.95
    assert TRANSPORTS["dcqcn"].knobs["increase_us"].default == 300
