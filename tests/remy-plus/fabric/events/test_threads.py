"""Threads that share a run: every bit as with one thread, whatever they are and whatever the fabric has."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lcca.remy_plus import _core
from lcca.remy_plus.fabric import engine as fabric_engine
from lcca.remy_plus.fabric.builders import dumbbell, fat_tree, leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord, Watch, compiled, engine_of
from lcca.remy_plus.fabric.events import LinkChange, LinkEvents
from lcca.remy_plus.fabric.flows import FabricFlows, in_order
from lcca.remy_plus.fabric.settings import FabricSettings, settings
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.policies.fabric_law import FabricLaw
from lcca.remy_plus.policies.policy import Aimd, WithHeader
from lcca.remy_plus.policies.rules import RuleTable, bisect, one_rule
from lcca.remy_plus.switches.markers import MARKERS, marking
from lcca.remy_plus.switches.transports import TRANSPORTS
from lcca.signal_sets.headers.header import Header, header
from lcca.signal_sets.headers.simulated import stamping
from lcca.signal_sets.load import resolve

THREADS = (2, 3, 7)
LEAF_SPINE = leaf_spine(tors=4, hosts_per_tor=4, spines=2)
LOSSY = {"lossless": False, "buffer_bytes": 60e3}

Run = Callable[[], FabricRecord]


def many(topology: FabricTopology, count: int, seed: int, classes: int = 1, mean: float = 30e3) -> FabricFlows:
    """Flows of random sizes and classes between random hosts, close together in time."""
    random = np.random.default_rng(seed)
    src = random.integers(topology.hosts, size=count)
    dst = (src + random.integers(1, topology.hosts, size=count)) % topology.hosts
    sizes = np.ceil(random.exponential(mean, size=count)).astype(np.int64)
    starts = np.sort(random.uniform(0, 5e4, size=count))
    return FabricFlows(src, dst, sizes, starts, priority=random.integers(classes, size=count))


@pytest.fixture
def bits(monkeypatch: pytest.MonkeyPatch) -> Callable[[Run], FabricRecord]:
    """Return what compares a run by one thread with those by several, which share every window, and returns it.

    Several go through many windows together unless packets of each are counted: so both.
    """
    engine = _core.run_fabric

    def record(run: Run, threads: int, counted: bool) -> FabricRecord:
        always = {"threads": threads, "least_packets": 0, "keep_rounds": counted}
        monkeypatch.setattr(fabric_engine._core, "run_fabric", lambda *given, **named: engine(*given, **named | always))
        return run()

    def compare(run: Run) -> FabricRecord:
        alone = record(run, 1, counted=True)
        for threads in THREADS:
            for counted in (True, False):
                shared = record(run, threads, counted)
                assert alone.keys() - shared.keys() <= (set() if counted else {"round_packets"})
                for name, values in shared.items():
                    assert np.asarray(values).tobytes() == np.asarray(alone[name]).tobytes(), (name, threads, counted)
        return alone

    return compare


Bits = Callable[[Run], FabricRecord]


@pytest.mark.parametrize(
    "changes", [{}, LOSSY, {"spraying": "oblivious", "selective": True}], ids=["pfc", "drops", "sprayed"]
)
@pytest.mark.parametrize("name", sorted(name for name, kind in TRANSPORTS.items() if not kind.ideal))
def test_transports(bits: Bits, name: str, changes: dict[str, Any]) -> None:
    own = TRANSPORTS[name].settings
    engine = FabricEngine(name, settings=settings(**{key: each for key, each in changes.items() if key not in own}))
    flows = many(LEAF_SPINE, 120, seed=len(name))
    record = bits(lambda: engine.run(LEAF_SPINE, flows, seed=3, horizon_ns=3e6))
    assert (record["round_packets"].sum(axis=0) > 0).all()


def test_receivers_that_grant_to_a_law(bits: Bits) -> None:
    law = FabricLaw.of({"first": 1.0}, inputs={"credit": (-1.0, 0.5, 0.2), "trims": (-1.0, -0.5, 0.1)})
    own = settings(spraying="mixed", selective=True, granted=True, queue_bdps=0.5)
    flows = many(LEAF_SPINE, 150, seed=9, mean=100e3)
    record = bits(lambda: engine_of(law, own).run(LEAF_SPINE, flows, seed=3))
    assert record["port_trims"].sum() > 100 and np.isfinite(record["flow_fct_ns"]).all()


def test_ties(bits: Bits) -> None:
    """All hosts of a fat tree, in step, send as much to all others on equal links."""
    topology = fat_tree(4)
    src, dst = (each.ravel() for each in np.nonzero(~np.eye(topology.hosts, dtype=bool)))
    flows = FabricFlows(src, dst, np.full(len(src), 5_000), np.zeros(len(src)))
    record = bits(lambda: FabricEngine("hpcc").run(topology, flows))
    assert np.isfinite(record["flow_fct_ns"]).all()


def test_storms_of_pauses(bits: Bits) -> None:
    """Incasts on switches with room for a few frames: pauses spread to hosts that send elsewhere."""
    src = np.array([host for host in range(16) for _ in range(2) if host not in (0, 5)])
    dst = np.where(np.arange(len(src)) % 2, 0, 5)
    flows = FabricFlows(src, dst, np.full(len(src), 60_000), np.zeros(len(src)))
    engine = FabricEngine("window", {"bdps": 4.0}, settings(buffer_bytes=30e3, alpha=0.5))
    record = bits(lambda: engine.run(LEAF_SPINE, flows))
    assert record["port_pauses_sent"].sum() > 100 and record["port_drops"].sum() == 0


@pytest.mark.parametrize("silence_ns", [0.0, 4.3e5])
@pytest.mark.parametrize("transport", ["dctcp", "homa", "ndp"])
def test_flows_that_begin_beyond_the_horizon(bits: Bits, transport: str, silence_ns: float) -> None:
    """The run ends as all else falls silent, and flows that never begin change no time."""
    engine, early = FabricEngine(transport), many(LEAF_SPINE, 100, seed=14)
    started = [early, replace(early, start_ns=early.start_ns + silence_ns)]
    late = replace(early, start_ns=early.start_ns + 2e6)
    record = bits(lambda: engine.run(LEAF_SPINE, in_order([*started, late]), horizon_ns=1e6))
    alone = engine.run(LEAF_SPINE, in_order(started), horizon_ns=1e6)
    assert record["end_ns"] < 1e6 and not np.isfinite(record["flow_fct_ns"][200:]).any()
    np.testing.assert_array_equal(record["flow_fct_ns"][:200], alone["flow_fct_ns"])


@pytest.mark.parametrize("topology", [star(2), dumbbell(2)], ids=["star", "dumbbell"])
def test_no_pairs_of_hosts(bits: Bits, topology: FabricTopology) -> None:
    none = np.array([], dtype=np.int64)
    record = bits(lambda: FabricEngine("dctcp").run(topology, FabricFlows(none, none, none, none.astype(float))))
    assert len(record["flow_fct_ns"]) == 0


def test_one_pair_of_hosts(bits: Bits) -> None:
    flow = FabricFlows(np.array([0]), np.array([1]), np.array([300_000]), np.array([0.0]))
    record = bits(lambda: FabricEngine("swift").run(star(2), flow))
    assert record["flow_fct_ns"][0] > 0


@pytest.mark.parametrize("kind", sorted(MARKERS))
def test_markers(bits: Bits, kind: str) -> None:
    engine = FabricEngine("dctcp", settings=settings(marker=marking(kind)))
    flows = many(LEAF_SPINE, 200, seed=5, mean=100e3)
    bits(lambda: engine.run(LEAF_SPINE, flows, seed=2))


@pytest.mark.parametrize("tuner", ["@expert", "@dcqcn-plus", "@paraleon:interval_us=20"])
def test_tuners(bits: Bits, tuner: str) -> None:
    policy = resolve("dcqcn" + tuner, "fabric").policy
    flows = many(LEAF_SPINE, 150, seed=6)
    watch = Watch(777.0, flows=(0, 3, 7), ports=((0, 16), (16, 20)))
    bits(lambda: engine_of(policy, FabricSettings()).run(LEAF_SPINE, flows, watch=watch))


@pytest.mark.parametrize("off_ns", [0.0, 7_654.321])
@pytest.mark.parametrize("transport", ["dcqcn", "homa", "nscc"])
def test_rounds(bits: Bits, transport: str, off_ns: float) -> None:
    src, dst = (each.ravel() for each in np.nonzero(~np.eye(8, dtype=bool)))
    number = np.repeat(np.arange(4), len(src))
    size = np.random.default_rng(1).integers(1, 9_000, size=len(number))
    ends, off = (np.tile(src, 4), np.tile(dst, 4)), np.full(len(number), off_ns)
    flows = FabricFlows(*ends, size, np.zeros(len(number)), round=number, after=number - 1, off_ns=off)
    record = bits(lambda: FabricEngine(transport).run(leaf_spine(tors=2, hosts_per_tor=4, spines=2), flows))
    assert np.isfinite(record["flow_start_ns"]).all()


@pytest.mark.parametrize("transport", ["dctcp", "hpcc", "homa"])
def test_classes_of_traffic(bits: Bits, transport: str) -> None:
    engine = FabricEngine(transport, settings=settings(priorities=4, ack_priority=1, buffer_bytes=200e3))
    flows = many(LEAF_SPINE, 200, seed=8, classes=4)
    bits(lambda: engine.run(LEAF_SPINE, flows))


@pytest.mark.parametrize("transport", ["hpcc", "nscc", "dctcp"])
def test_links_that_fail(bits: Bits, transport: str) -> None:
    """Packets are lost on links, at switches and for want of a way, and links slow down."""
    changes = [
        LinkChange(9e3, 16, 20, 0.0, 0),
        LinkChange(15e3, 17, 21, 25.0, 1),
        LinkChange(20e3, 2, 16, 0.0, 2),
        LinkChange(40e3, 16, 20, None, 0),
        LinkChange(60e3, 2, 16, None, 2),
    ]
    topology = replace(LEAF_SPINE, events=LinkEvents(changes, 5e3))
    flows = many(LEAF_SPINE, 300, seed=9, mean=60e3)
    record = bits(lambda: FabricEngine(transport).run(topology, flows, horizon_ns=5e6))
    assert (record["event_lost_packets"] > 0).sum() >= 2


@pytest.mark.parametrize("selective", [False, True])
@pytest.mark.parametrize("name", ["int-md", "nosignal-8b", "xcp"])
def test_headers(bits: Bits, name: str, selective: bool) -> None:
    policy = WithHeader(Aimd(), stamping(header(name)))
    engine = engine_of(policy, settings(selective=selective, lossless=False, buffer_bytes=150e3))
    flows = many(LEAF_SPINE, 150, seed=10, mean=60e3)
    bits(lambda: engine.run(LEAF_SPINE, flows, horizon_ns=5e6))


def test_records_that_hops_leave_as_they_were(bits: Bits) -> None:
    """Storage of packets is used again: whose words were there before follows from threads, and must not be read."""
    keys = header("int-md").model_dump(mode="json")
    for field in keys["fields"]:
        field |= {"when": "qlen_bytes > 20000"} if field["name"] == "queue" else {}
    engine = engine_of(WithHeader(table("queue", 3.0), stamping(Header.model_validate(keys))), FabricSettings())
    flows = many(LEAF_SPINE, 150, seed=10, mean=60e3)
    record = bits(lambda: engine.run(LEAF_SPINE, flows, horizon_ns=5e6))
    assert len(set(record["flow_fct_ns"])) > 100


def table(signal: str = "receive_ewma", split: float = 0.2) -> RuleTable:
    """Return two rules that differ."""
    rules = one_rule(("receive_ewma", "queue")).with_action(0, 12, 0.6, 0.2)
    at = np.array([split, np.nan] if signal == "receive_ewma" else [np.nan, split])
    return bisect(rules, 0, at).with_action(1, 3, 0.7, 0.5)


@pytest.mark.parametrize("every", [0, 3])
def test_rules(bits: Bits, every: int) -> None:
    """Look-ups that are kept have an order, which one thread alone has."""
    policy = replace(compiled(table(), FabricSettings()), keep_every=every)
    record = bits(lambda: FabricEngine(policy).run(LEAF_SPINE, many(LEAF_SPINE, 100, seed=11)))
    assert (record["rule_hits"] > 100).all() and (len(record["look_up_rule"]) > 100) == (every > 0)


def test_windows_with_few_packets_are_gone_through_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that go to and fro between one thread and two have the same bits too."""
    flows = in_order([many(LEAF_SPINE, 60, seed=12), many(LEAF_SPINE, 60, seed=13)])
    engine, found = _core.run_fabric, []
    for least in (0, 1, 50, 100, 200):
        monkeypatch.setattr(
            fabric_engine._core,
            "run_fabric",
            lambda *given, least=least, **named: engine(
                *given, **named | {"threads": 2, "least_packets": least, "keep_rounds": True}
            ),
        )
        found.append(FabricEngine("hpcc").run(LEAF_SPINE, flows))
    packets = found[0]["round_packets"].sum(axis=1)
    assert packets.sum() > 200 * 150 and 0.1 < (packets > 200).mean() < 0.9
    for each in found[1:]:
        for name, values in found[0].items():
            assert np.asarray(values).tobytes() == np.asarray(each[name]).tobytes(), name
