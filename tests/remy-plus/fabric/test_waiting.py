"""Flows that wait for sets of others: starts against when these are over, on random fabrics with all kinds of hosts."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import fat_tree, leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord
from lcca.remy_plus.fabric.flows import FabricFlows, FlowSet, Moment, in_order
from lcca.remy_plus.fabric.settings import settings

DELAY_NS = 1000.0
FABRICS = (star(5, delay_ns=DELAY_NS), leaf_spine(2, 2, 3), fat_tree(4))
HOSTS: dict[str, dict[str, Any]] = {
    "window": {},
    "dcqcn": {},
    "hpcc": {"spraying": "oblivious", "selective": True},
    "nscc": {"spraying": "mixed"},
    "homa": {"lossless": False},
}
"""Transports on hosts of each kind, and the settings that these need."""


def graph(random: np.random.Generator, hosts: int, count: int, over: Moment = "ended") -> FabricFlows:
    """Return flows of which two in three wait for up to four of those before them.

    Of a quarter they wait that these begin. A third of the sets is at the host of the flow that waits.
    """
    src, dst = random.integers(0, hosts, count), random.integers(1, hosts, count)
    dst = (src + dst) % hosts
    after, sets = np.full(count, -1), list[FlowSet]()
    for row in range(1, count):
        if random.random() < 1 / 3:
            continue
        members = random.choice(row, min(row, int(random.integers(1, 5))), replace=False)
        moments: list[Moment] = ["begun" if random.random() < 1 / 4 else over for _ in members]
        if random.random() < 1 / 3:
            at = dst if over == "received" else src
            here = np.flatnonzero(at[:row] == src[row])[:4]
            members, moments = (here, [over] * len(here)) if len(here) else (members, moments)
        after[row] = len(sets)
        sets.append(FlowSet(members, over if "begun" not in moments else moments))
    start, off = np.sort(random.uniform(0, 2e4, count)), random.choice([0.0, 300.0, 4_000.5], count)
    sizes = random.integers(1, 60_000, count)
    return FabricFlows(src, dst, sizes, start, after=after, off_ns=off, sets=sets)


def earliest(flows: FabricFlows, found: FabricRecord, at: np.ndarray) -> np.ndarray:
    """Return when each flow has to start, by when those that it waits for begin, or are over, at hosts `at`."""
    begin = found["flow_start_ns"]
    end, starts = begin + found["flow_fct_ns"], flows.start_ns.copy()
    for row in np.flatnonzero(flows.after >= 0).tolist():
        awaited = flows.sets[flows.after[row]]
        begun = np.array([moment == "begun" for moment in awaited.moments()])
        hosts = np.where(begun, flows.src[awaited.flows], at[awaited.flows])
        reached = np.where(begun, begin[awaited.flows], end[awaited.flows]).max()
        notice = 0 if (hosts == flows.src[row]).all() else DELAY_NS
        starts[row] = max(starts[row], reached + max(flows.off_ns[row], notice))
    return starts


@pytest.mark.parametrize("fct_at_ack", [False, True])
@pytest.mark.parametrize("transport", HOSTS)
@pytest.mark.parametrize("seed", range(4))
def test_a_flow_starts_when_all_that_it_waits_for_are_over(seed: int, transport: str, fct_at_ack: bool) -> None:
    """At its own host at once, else a link's delay later; of each flow, whatever else waits."""
    random = np.random.default_rng(seed)
    topology = FABRICS[seed % len(FABRICS)]
    over: Moment = "acknowledged" if fct_at_ack else "received"
    flows = graph(random, topology.hosts, 60, random.choice(["ended", over]))
    engine = FabricEngine(transport, settings=settings(fct_at_ack=fct_at_ack, **HOSTS[transport]))
    found = engine.run(topology, flows, seed=seed)
    assert not np.isnan(found["flow_fct_ns"]).any()
    wanted = earliest(flows, found, flows.src if fct_at_ack else flows.dst)
    np.testing.assert_allclose(found["flow_start_ns"], wanted, rtol=0, atol=1e-3)


@pytest.mark.parametrize("transport", HOSTS)
def test_threads_change_nothing(transport: str) -> None:
    random = np.random.default_rng(9)
    flows = graph(random, FABRICS[2].hosts, 200, "received")
    engine = FabricEngine(transport, settings=settings(**HOSTS[transport]))
    one, *others = (engine.run(FABRICS[2], flows, seed=3, threads=threads) for threads in (1, 2, 3))
    for other in others:
        for name, values in one.items():
            np.testing.assert_array_equal(values, other[name], err_msg=name)


def test_what_is_over_at_the_sender_is_over_later() -> None:
    """By what the ACK of the last byte takes: the flow that waits is at the sender of the first, or at its receiver."""
    both = []
    for over, src in (("received", 1), ("acknowledged", 0)):
        waits: Any = {"after": np.array([-1, 0]), "sets": [FlowSet(np.array([0]), over)]}
        flows = FabricFlows(np.array([0, src]), np.array([1, 2]), np.full(2, 5000), np.zeros(2), **waits)
        both.append(FabricEngine("window").run(FABRICS[0], flows)["flow_start_ns"][1])
    ack_ns = both[1] - both[0]
    assert 2 * DELAY_NS < ack_ns < 2 * DELAY_NS + 100


@pytest.mark.parametrize("transport", ["window", "nscc"])
def test_a_ring_takes_a_chain_of_its_steps(transport: str) -> None:
    """On a star no two flows share a link, and what comes in starts what goes out: steps take the time of one alone."""
    hosts, steps, size = 5, 8, 40_000
    settled = settings(**HOSTS[transport], ack_bytes=1)
    alone = FabricFlows(np.array([0]), np.array([1]), np.array([size]), np.zeros(1))
    one_ns = FabricEngine(transport, settings=settled).run(FABRICS[0], alone)["flow_fct_ns"][0]
    rows = np.arange(hosts * steps)
    before = (rows // hosts - 1) * hosts + (rows - 1) % hosts
    waits: Any = {
        "after": np.where(rows < hosts, -1, rows - hosts),
        "sets": [FlowSet(np.array([row]), "received") for row in before[hosts:]],
    }
    ring = FabricFlows(rows % hosts, (rows + 1) % hosts, np.full(len(rows), size), np.zeros(len(rows)), **waits)
    found = FabricEngine(transport, settings=settled).run(FABRICS[0], ring)
    end_ns = (found["flow_start_ns"] + found["flow_fct_ns"]).max()
    acks_ns = steps * 40 * 8 / 100  # of one byte each, behind which a packet may wait
    assert steps * one_ns <= end_ns <= steps * one_ns + acks_ns


def test_workloads_side_by_side_wait_for_their_own() -> None:
    random = np.random.default_rng(5)
    parts = [graph(random, 6, 30), graph(random, 6, 20, "received")]
    both = in_order([replace(parts[0], job=np.zeros(30)), replace(parts[1], job=np.zeros(20))])
    assert set(both.job.tolist()) == {0, 1}
    for job, part in enumerate(parts):
        rows = np.flatnonzero(both.job == job)
        for row, own in zip(rows.tolist(), range(len(part)), strict=True):
            assert both.size_bytes[row] == part.size_bytes[own] and (both.after[row] < 0) == (part.after[own] < 0)
            if part.after[own] >= 0:
                theirs, before = both.sets[both.after[row]], part.sets[part.after[own]]
                assert theirs.over == before.over
                np.testing.assert_array_equal(theirs.flows, rows[before.flows])


@pytest.mark.parametrize(
    ("after", "sets", "message"),
    [
        ([-1, 0, 1], [[0], [1]], None),
        ([-1, 1, 0], [[0], [2]], None),
        ([-1, 0, -1], [[1]], "flow 1: after: waits for itself"),
        ([-1, 0, 1], [[2], [1]], "flow 1: after: waits for itself, perhaps by way of others"),
        ([-1, 0, -1], [[]], "flow 1: after: waits for flows that there are not"),
        ([-1, 0, -1], [[7]], "flow 1: after: waits for flows that there are not"),
        ([-1, 3, -1], [[0]], "flow 1: after: must be"),
    ],
)
def test_waiting_that_cannot_be(after: list[int], sets: list[list[int]], message: str | None) -> None:
    waits: Any = {"after": np.array(after), "sets": [FlowSet(np.array(each, dtype=np.int64)) for each in sets]}
    ends = (np.arange(3), np.arange(1, 4), np.ones(3), np.zeros(3))
    if message is None:
        found = FabricEngine("window").run(FABRICS[0], FabricFlows(*ends, **waits))
        assert not np.isnan(found["flow_fct_ns"]).any()
        return
    with pytest.raises(InputError, match=message):
        FabricFlows(*ends, **waits)
