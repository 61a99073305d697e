"""Laws on random fabrics: what holds of packets, windows, rates and bits, whatever the law and the header."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lcca.remy_plus.fabric.builders import dumbbell, fat_tree, leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord, Watch, compiled, engine_of
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.policies.fabric_law import FEATURES, LARGEST_TERM, TERMS, FabricLaw
from lcca.remy_plus.policies.policy import WithHeader
from lcca.remy_plus.switches.markers import marking
from lcca.signal_sets.headers.header import header as named_header
from lcca.signal_sets.headers.simulated import header_signals, stamping

PAYLOAD = 1000
LAST_NS, END_NS = 3.9e8, 4e8
"""The last flow starts when all others have ended and their packets are gone, or will never end."""
HEADERS = [None, "stamps", "rank", "fair-share", "hpcc", "fullest", "ecn"]
FEW = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
MANY = settings(FEW, max_examples=600, derandomize=False)


@dataclass(frozen=True)
class Case:
    """A law on a fabric."""

    topology: FabricTopology
    flows: FabricFlows
    law: FabricLaw
    engine: FabricEngine

    def run(self, seed: int = 1, end_ns: float = END_NS, watch: Watch | None = None) -> FabricRecord:
        return self.engine.run(self.topology, self.flows, seed, end_ns, watch)


def topology_of(name: str, draw: np.random.Generator) -> FabricTopology:
    gbps, other = draw.choice([10.0, 25.0, 40.0, 100.0, 400.0], 2)
    delay = float(draw.integers(50, 3000))
    if name == "star":
        return star(int(draw.integers(3, 8)), gbps, delay)
    if name == "dumbbell":
        return dumbbell(int(draw.integers(1, 5)), other, gbps, delay)
    if name == "fat-tree":
        return fat_tree(4, host_gbps=gbps, fabric_gbps=gbps, delay_ns=delay)
    return leaf_spine(2, int(draw.integers(1, 4)), int(draw.integers(1, 3)), gbps, other, delay, 2 * delay)


def flows_of(topology: FabricTopology, count: int, priorities: int, draw: np.random.Generator) -> FabricFlows:
    """Return flows close together in time, most of them to one host, and the last one."""
    dst = np.where(draw.random(count) < 0.7, 0, draw.integers(topology.hosts, size=count))
    src = (dst + draw.integers(1, topology.hosts, size=count)) % topology.hosts
    sizes = np.exp(draw.uniform(np.log(100), np.log(2e5), count)).astype(np.int64)
    starts = np.append(np.sort(draw.uniform(0, 5e3, count)), LAST_NS)
    return FabricFlows(
        np.append(src, 1),
        np.append(dst, 0),
        np.append(sizes, 100),
        starts,
        priority=draw.integers(priorities, size=count + 1),
    )


def law_of(signals: tuple[str, ...], wild: bool, draw: np.random.Generator) -> FabricLaw:
    """Return a law near those that are learnt, or one with numbers from all of their range."""

    def numbers(count: int, usual: float) -> list[float]:
        return (draw.uniform(-LARGEST_TERM, LARGEST_TERM, count) if wild else draw.normal(0, usual, count)).tolist()

    terms = dict(zip(TERMS, numbers(len(TERMS), 0.5), strict=True))
    features = dict(zip(FEATURES, numbers(len(FEATURES), 0.4), strict=True))
    if not wild:
        terms |= {"add": terms["add"] - 5, "loss": 1 + terms["loss"]}
    return FabricLaw.of(terms, features, {name: numbers(3, 0.3) for name in signals})


@st.composite
def cases(choose: st.DrawFn) -> Case:
    draw = np.random.default_rng(choose(st.integers(0, 2**32 - 1)))
    topology = topology_of(choose(st.sampled_from(["star", "dumbbell", "leaf-spine", "fat-tree"])), draw)
    header, wild = choose(st.sampled_from(HEADERS)), choose(st.booleans())
    lossless, priorities = choose(st.booleans()), choose(st.sampled_from([1, 8]))
    flows = flows_of(topology, choose(st.integers(1, 25)), priorities, draw)
    of_fabric = FabricSettings(
        lossless=lossless,
        buffer_bytes=float(np.exp(draw.uniform(np.log(1e4), np.log(2e5)))),
        alpha=float(draw.choice([0.125, 1.0])),
        priorities=priorities,
        ack_priority=choose(st.sampled_from([None, 0])),
        marker=marking("step", k_bytes=float(draw.uniform(0, 5e4))),
        retransmit_after_us=0 if lossless else 700,
        nack_gap_us=50,
        fct_at_ack=True,
    )
    if header in (None, "stamps"):
        law = law_of(("link", "queue") if header else (), wild, draw)
        return Case(topology, flows, law, engine_of(law, of_fabric))
    described = named_header(header)
    law = law_of(header_signals(described), wild, draw)
    policy = WithHeader(law, stamping(described))
    return Case(topology, flows, law, engine_of(policy, of_fabric))


def check_packets(case: Case, found: FabricRecord) -> None:
    """What is delivered and dropped is what was sent, at every switch; with PFC, by every port what its flows have."""
    size, delivered, ended = case.flows.size_bytes, found["flow_delivered_bytes"], np.isfinite(found["flow_fct_ns"])
    assert (delivered[ended] == size[ended]).all() and (delivered <= size).all()
    node, peer, data, acks = (found[f"port_{name}"] for name in ("node", "peer", "data_packets", "ack_packets"))
    hosts, packets = case.topology.hosts, -(-size // PAYLOAD)
    sent, received = data[node < hosts].sum(), data[peer < hosts].sum()
    assert acks[node < hosts].sum() <= received
    if not ended.all():
        assert sent >= received
        return
    assert sent == packets.sum() + found["retransmitted_packets"]
    for switch in range(hosts, hosts + case.topology.switches):
        come, gone = peer == switch, node == switch
        dropped = found["port_drops"][gone].sum()
        assert (data + acks)[come].sum() == (data + acks)[gone].sum() + dropped
    if not found["port_drops"].any():
        assert acks[node < hosts].sum() == acks[peer < hosts].sum() == sent == received
    if case.engine.settings.lossless:
        crossed = np.zeros(len(node))
        for ports, count in zip(found["flow_ports"], packets, strict=True):
            crossed[ports[ports >= 0]] += count
        np.testing.assert_array_equal(data, crossed)


def check_pfc(case: Case, found: FabricRecord) -> None:
    assert found["port_drops"].sum() == found["retransmitted_packets"] == 0
    assert found["port_pauses_sent"].sum() == found["port_pauses_received"].sum()


def check_bounds(case: Case, found: FabricRecord) -> None:
    """Rates are those of the line or down to a 1024th, and no more is under way than the law's largest window."""
    line = np.array([case.topology.host_gbps[host] for host in case.flows.src[:-1]])
    gbps, terms = found["sample_gbps"], case.law.named_terms
    assert ((gbps == 0) | ((gbps >= line / 1024) & (gbps <= line))).all()
    bdp = line * found["base_rtt_ns"] / 8
    size = np.clip(np.log2(case.flows.size_bytes[:-1] / bdp), -4, 9) / 4
    first = np.clip(terms["first"] + terms["first_size"] * size, -10, 4)
    most = np.maximum(first, np.clip(terms["largest"], -4, 4)) + np.clip(terms["ahead"], -4, 4)
    assert (found["sample_under_way_bytes"] <= np.maximum(2**most * bdp * (1 + 1e-6), 1) + PAYLOAD).all()


def equal(first: FabricRecord, second: FabricRecord) -> None:
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name], err_msg=name)


def check(case: Case) -> None:
    found = case.run()
    check_packets(case, found)
    if case.engine.settings.lossless:
        check_pfc(case, found)
    check_bounds(case, case.run(end_ns=2e5, watch=Watch(997, range(len(case.flows) - 1))))
    equal(found, case.run())


@given(cases())
@FEW
def test_packets_windows_and_rates(case: Case) -> None:
    check(case)


@pytest.mark.full
@given(cases())
@MANY
def test_packets_windows_and_rates_of_many(case: Case) -> None:
    check(case)


@given(cases())
@settings(FEW, max_examples=8)
def test_bits_are_the_same_in_threads_and_in_copies_for_other_processes(case: Case) -> None:
    alone = [case.run(seed) for seed in (1, 2, 3)]
    with ThreadPoolExecutor(3) as threads:
        together = list(threads.map(case.run, (1, 2, 3)))
    form = compiled(case.engine.transport, case.engine.settings)  # type: ignore[arg-type]
    copy = replace(
        case, engine=replace(case.engine, transport=replace(form, policy=pickle.loads(pickle.dumps(form.policy))))
    )
    for first, second in zip([*alone, alone[0]], [*together, copy.run(1)], strict=True):
        equal(first, second)
