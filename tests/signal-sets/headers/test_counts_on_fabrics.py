"""Counts and ranks of flows that a fabric's ports write, against what follows from the packets that left the port."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.core.signals import SIGNAL_CEILING
from lcca.remy_plus.fabric.builders import leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.files.policyfile import load
from lcca.remy_plus.policies.policy import FixedWindow, WithHeader, compile_policy
from lcca.remy_plus.policies.rules import RuleTable
from lcca.signal_sets.headers.header import Header, header
from lcca.signal_sets.headers.simulated import stamping

SENDERS = 40
PAYLOAD, FRAME_NS, LINK_NS = 1000, 1056 * 0.08, 1000.0
INTERVAL_US = 7.3
WATCHER = """
class Watcher:
    signals = {signals}
    flows = []

    def start(self):
        self.flow = len(self.flows)
        self.flows.append(self)
        return {window}, 0

    def on_ack(self, ack):
        with open({log!r}, "a") as log:
            print(self.flow, ack.now, ack.sequence, *(getattr(ack, name) for name in self.signals), file=log)
        return {window}, 0
"""


def measured(name: str, field: str, **keys: object) -> Header:
    """Return a header of the catalogue, one of whose fields is measured in another way."""
    whole = header(name).model_dump(mode="json")
    for each in whole["fields"]:
        if each["name"] == field:
            each["measure"] |= {"window": "aged", "interval_us": INTERVAL_US, "interval_rtts": None, **keys}
    return Header.model_validate(whole)


def watched(tmp_path, used: Header, signals: tuple[str, ...], flows: FabricFlows, fabric) -> np.ndarray:
    """Return what every ACK said, in the order of departures: flow, time (µs), number of the packet, signals."""
    file, log = tmp_path / "watcher.py", tmp_path / "log"
    file.write_text(WATCHER.format(signals=signals, window=20, log=str(log)))
    policy = WithHeader(load(f"{file}:Watcher").policy, stamping(used))
    log.write_text("")  # it was rehearsed
    FabricEngine(policy, settings=FabricSettings(fct_at_ack=True)).run(fabric, flows)
    rows = np.loadtxt(log)
    return rows[np.argsort(rows[:, 1], kind="stable")]


def many_to_one(seed: int) -> FabricFlows:
    """Return flows of whole packets, each of its own sender, to the last host; they start one by one."""
    rng = np.random.default_rng(seed)
    size = PAYLOAD * rng.integers(1, 120, SENDERS)
    start = np.sort(rng.uniform(1, 60e3, SENDERS))
    start[0] = 0
    return FabricFlows(np.arange(SENDERS), np.full(SENDERS, SENDERS), size, start)


def told(rows: np.ndarray) -> np.ndarray:
    """Where signals are known: a flow's first ACK starts its clocks, as its second does if it began at time 0."""
    return rows[:, 2] > 1


def departures(rows: np.ndarray, used: Header) -> tuple[np.ndarray, np.ndarray]:
    """Return flows and times (µs) of the packets as they leave the one port: ACKs come back a fixed time later."""
    first = (FRAME_NS + 0.08 * used.wire_bytes() + LINK_NS) / 1e3
    return rows[:, 0].astype(int), rows[:, 1] - rows[0, 1] + first


def lately(flow: np.ndarray, time: np.ndarray, interval: float):
    """Yield for every packet the latest packets, by flow, of the interval at hand and the one before."""
    latest: dict[int, int] = {}
    turns = np.floor(time / interval)
    for i in range(len(flow)):
        latest[flow[i]] = i
        yield i, [at for at in latest.values() if turns[at] >= turns[i] - 1]


def exact_counts(flow: np.ndarray, time: np.ndarray, interval: float = INTERVAL_US) -> np.ndarray:
    return np.array([len(seen) for _, seen in lately(flow, time, interval)])


def exact_ranks(flow: np.ndarray, time: np.ndarray, left: np.ndarray, interval: float = INTERVAL_US) -> np.ndarray:
    return np.array([sum(0 < left[at] < left[i] for at in seen) for i, seen in lately(flow, time, interval)])


def said_left(flows: FabricFlows, flow: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return what packets say is left: the next kB of 0, 1, 1.06, 1.06², …"""
    grid = np.concatenate([[0.0], 1.06 ** np.arange(255)])
    return grid[np.searchsorted(grid, (flows.size_bytes[flow] - PAYLOAD * (number + 1)) / 1e3)]


@pytest.mark.parametrize("seed", [1, 2])
def test_exact_counts_are_of_flows_with_packets_in_two_intervals(tmp_path, seed: int) -> None:
    used = measured("fair-share", "flows", memory_bits=0)
    rows = watched(tmp_path, used, ("flows", "capacity"), many_to_one(seed), star(SENDERS + 1))
    exact = exact_counts(*departures(rows, used))
    assert exact.max() > 12
    np.testing.assert_array_equal(rows[told(rows), 3], exact[told(rows)])
    np.testing.assert_allclose(rows[told(rows), 4], 100e3 / 8 / 1056, rtol=1e-3)  # packets/µs


@pytest.mark.parametrize("seed", [1, 2])
def test_exact_ranks_are_of_flows_with_fewer_bytes_left(tmp_path, seed: int) -> None:
    used, flows = measured("rank", "rank", memory_bits=0), many_to_one(seed)
    rows = watched(tmp_path, used, ("rank",), flows, star(SENDERS + 1))
    flow, time = departures(rows, used)
    exact = exact_ranks(flow, time, said_left(flows, flow, rows[:, 2]))
    assert exact.max() > 8
    np.testing.assert_array_equal(rows[told(rows), 3], exact[told(rows)])


def test_a_map_of_bits_counts_within_the_error_of_linear_counting(tmp_path) -> None:
    """Standard error √(m (eᵗ − t − 1)) of n = t m flows (Whang et al. 1990, equation 10)."""
    for bits in (64, 1024):
        used = measured("fair-share", "flows", memory_bits=bits)
        rows = watched(tmp_path, used, ("flows",), many_to_one(3), star(SENDERS + 1))
        exact = exact_counts(*departures(rows, used))
        t = exact / bits
        error = (rows[:, 3] - exact)[told(rows)] / np.sqrt(bits * (np.exp(t) - t - 1))[told(rows)]
        print(bits, np.sqrt(np.mean(error**2)), np.mean(error), exact.mean(), exact.max(), np.abs(rows[:, 3] - exact)[told(rows)].max())


def test_buckets_rank_as_exact_counts_do(tmp_path) -> None:
    """Buckets are powers of two, and a flow that ends counts in some: ranks differ by a part of the flows there."""
    flows, ranks = many_to_one(4), {}
    for bits in (0, 1024):
        used = measured("rank", "rank", memory_bits=bits)
        ranks[bits] = watched(tmp_path, used, ("rank",), flows, star(SENDERS + 1))[:, 3]
    assert np.corrcoef(ranks[0], ranks[1024])[0, 1] > 0.8
    print(np.abs(ranks[0] - ranks[1024]).mean(), ranks[0].mean(), ranks[1024].mean())
