"""Multilevel splitting on a fabric against the law of a queue: packets of one size that arrive as a Poisson process."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import poisson

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.remy_plus.fabric.engine import FabricEngine, engine_of
from lcca.signal_sets.load import resolve
from lcca.studies.cceval.splitting import Crossing, continued, split_trial, splitting_problem

FRAME = 1048
LOAD, DURATION_US, PAIRS = 0.7, 500.0, 8
SENDING_US = FRAME * 8 / 1000
"""Of a frame, at the bottleneck's 1 Gb/s."""


def scenario(**changes: Any) -> FabricScenario:
    """Eight hosts whose flows, of one packet each, share a link of 1 Gb/s; their own are a hundred times as fast."""
    poisson = {"kind": "poisson", "sizes": "uniform:999:1000", "load_of": "host-links", "senders": PAIRS}
    content = {
        "name": "single-packets",
        "topology": {"kind": "dumbbell", "pairs": PAIRS, "bottleneck_gbps": 1, "host_gbps": 100},
        "workload": poisson | {"load": LOAD * 1000 / FRAME / 100 / PAIRS},
        "duration_us": DURATION_US,
    }
    return FabricScenario.model_validate(content | changes)


def engine(where: FabricScenario) -> FabricEngine:
    return engine_of(resolve("dctcp", "fabric").policy, where.settings())


def exceeds(packets: int, per_packet: int) -> float:
    """Return the chance that more than so many packets wait at any time, in a queue M/D/1 that begins empty.

    Packets wait beside the one that is sent: more than n wait where the work at an arrival exceeds n + 1 packets. Time
    is cut into slots, `per_packet` of them as long as sending a packet takes; what arrives in one does so at its end.
    """
    top, slots = (packets + 1) * per_packet, round(DURATION_US / SENDING_US * per_packet)
    arrivals = poisson.pmf(np.arange(12), LOAD / per_packet)
    work = np.zeros(top + 1)
    work[0] = 1
    for _ in range(slots):
        sent = np.concatenate([[work[0] + work[1]], work[2:], [0]])
        work = arrivals[0] * sent
        for count in range(1, min(12, top // per_packet + 1)):
            work[count * per_packet :] += arrivals[count] * sent[: top + 1 - count * per_packet]
    return float(1 - work.sum())


def law(packets: int) -> float:
    """Return the same in the limit of short slots, from slots of two lengths."""
    return 2 * exceeds(packets, 20) - exceeds(packets, 10)


def levels(packets: int) -> list[float]:
    """Return levels two packets apart, each between two lengths of the queue."""
    return [(n + 0.5) * FRAME for n in range(2, packets + 1, 2)]


def test_the_law_is_that_of_queues_drawn_without_an_engine() -> None:
    rng, trials = np.random.default_rng(1), 20_000
    gaps = rng.exponential(SENDING_US / LOAD, (trials, 90))
    work, most = np.zeros(trials), np.zeros(trials)
    for gap, time in zip(gaps.T, gaps.cumsum(axis=1).T, strict=True):
        work = np.maximum(work - gap, 0) + SENDING_US
        most = np.where(time < DURATION_US, np.maximum(most, work), most)
    share = (most > 5 * SENDING_US).mean()
    assert share == pytest.approx(law(4), abs=4 * math.sqrt(law(4) / trials))


@pytest.mark.slow
def test_splitting_finds_the_law_s_probability() -> None:
    where, found = scenario(), []
    for seed in range(16):
        split = split_trial(where, engine(where), seed, levels(6), 20)
        assert split.probability == pytest.approx(math.prod(count / 20 for count in split.crossed))
        found.append(split.probability)
    error = np.std(found, ddof=1) / math.sqrt(len(found))
    assert abs(np.mean(found) - law(6)) < 3 * error and error < law(6) / 4


@pytest.mark.full
def test_a_rare_queue_needs_far_fewer_packets_than_plain_trials() -> None:
    where = scenario()
    found = [split_trial(where, engine(where), seed, levels(16), 40) for seed in range(30)]
    shares, truth = np.array([each.probability for each in found]), law(16)
    error = shares.std(ddof=1) / math.sqrt(len(shares))
    assert abs(shares.mean() - truth) < 3 * error and truth < 1e-4
    packets = np.mean([each.packets for each in found])
    plain = truth * (1 - truth) * np.mean([len(where.flows(seed)) for seed in range(30)])
    assert plain > 20 * shares.var(ddof=1) * packets, "variance of a packet's worth"


def test_a_run_that_goes_on_from_another_repeats_it_until_there() -> None:
    where, level = scenario(), 2.5 * FRAME
    for seed in range(4):
        flows = where.flows(seed)
        whole = engine(where).run(where.fabric, flows, seed, level_bytes=level)
        at = whole["port_crossed_ns"].min()
        if at == math.inf:
            continue
        other = continued(where, Crossing(flows, at), seed, 1)
        again = engine(where).run(where.fabric, other, seed, level_bytes=level)
        assert np.array_equal(again["port_crossed_ns"].min(), at)
        same = flows.start_ns <= at
        assert np.array_equal(other.start_ns[: same.sum()], flows.start_ns[same])
        assert not np.isin(other.start_ns[same.sum() :], flows.start_ns).any() and other.start_ns[same.sum()] > at


def test_without_a_level_nothing_is_told_and_with_one_nothing_changes() -> None:
    where = scenario()
    flows = where.flows(1)
    plain, told = (engine(where).run(where.fabric, flows, 1, level_bytes=level) for level in (math.inf, 1.5 * FRAME))
    assert told.keys() - plain.keys() == {"port_crossed_ns"}
    assert all(np.array_equal(plain[name], told[name], equal_nan=True) for name in plain)
    assert ((told["port_crossed_ns"] < math.inf) == (plain["port_most_queued_bytes"] > 1.5 * FRAME)).all()


def test_only_poisson_flows_can_be_split() -> None:
    parts = [scenario().workload.model_dump(), {"kind": "incast", "senders": 3, "bytes": 1000, "period_us": 50}]
    assert splitting_problem(scenario()) == ((), "")
    keys, text = splitting_problem(scenario(workload={"kind": "mix", "parts": parts}))
    assert keys == ("workload", "parts", 1, "kind") and "incast" in text and "model-free" in text
