"""Traffic depends on seed and network alone, results on the trial alone, random streams on their key alone."""

from __future__ import annotations

import itertools
import math
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from lcca.remy_plus import _core
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.network import Network, NetworkList, compile_network
from lcca.remy_plus.policies.policy import Aimd, FixedRate, FixedWindow, Policy, WithHeader, compile_policy
from lcca.remy_plus.policies.rules import bisect, one_rule
from lcca.remy_plus.record import Record
from lcca.signal_sets.headers.header import Header, header
from lcca.signal_sets.headers.simulated import stamping

LEVEL = 1e-4  # chance of a false alarm of each test of chance, had the seeds not been fixed
COMPONENTS = {"first_on": 1, "on_time": 2, "off_time": 3, "flow_length": 4, "loss": 5, "arrival": 6, "flow_ends": 9}

NETWORK = Network(3, 2.5, 24.0, 4, math.inf, 150.0, 60.0, 0.02)


def unsaid() -> Policy:
    """Return a table that looks at records of which hops leave a word as it was: storage of packets is used again."""
    keys = header("int-md").model_dump(mode="json")
    for field in keys["fields"]:
        field |= {"when": "qlen_pkts > 2"} if field["name"] == "queue" else {}
    rules = one_rule(("receive_ewma", "queue")).with_action(0, 12, 0.6, 0.2)
    table = bisect(rules, 0, np.array([np.nan, 1.0])).with_action(1, 3, 0.7, 0.5)
    return WithHeader(table, stamping(Header.model_validate(keys)))


POLICIES: tuple[Policy, ...] = (
    FixedWindow(4),
    FixedRate(0.7),
    Aimd(),
    bisect(one_rule(("rtt_ratio", "send_ewma")), 0, np.array([1.1, 1.0])),
    unsaid(),
)


def run(network: Network, policy: Policy, seed: int = 5, duration: float = 5000.0) -> Record:
    engine = Engine(duration=duration)
    return engine.run([compile_policy(policy)], NetworkList([network]), [0], [0], [seed], keep_flows=True)


def flows(batch: Record, *names: str) -> list[tuple[float, ...]]:
    """Rows of the named columns, by sender and start."""
    columns = [batch.floats(f"flow_{name}") for name in ("sender", "start_us", *names)]
    return sorted(zip(*columns, strict=True))


# --- traffic


def lost_packets(policy: Policy) -> tuple[dict[tuple[int, int], set[int]], dict[tuple[int, int], int]]:
    """By (sender, number of its flow): which of its packets did not arrive, and how many were seen."""
    rows = _core.trace(
        compile_policy(policy),
        compile_network(NETWORK),
        5,
        duration=5000.0,
        model=Model().parts(),
        script=[],
    )
    counts: dict[int, list[float]] = {s: [] for s in range(NETWORK.senders)}
    for sender, _, sent in flows(run(NETWORK, policy), "sent"):
        counts[int(sender)].append(sent)
    missing, seen = {}, {}
    for sender, sent in counts.items():
        first = np.concatenate([[0], np.cumsum(sent)]).astype(int)  # sequence number of each flow's first packet
        arrived = rows["sequence"][rows["sender"] == sender]
        for number, (low, high) in enumerate(itertools.pairwise(first)):
            inside = arrived[(low <= arrived) & (arrived < high)] - low
            seen[sender, number] = int(inside.max(initial=-1)) + 1
            missing[sender, number] = set(range(seen[sender, number])) - set(inside.tolist())
    return missing, seen


@pytest.mark.parametrize("other", POLICIES[1:], ids=lambda policy: type(policy).__name__)
def test_policies_meet_the_same_losses(other: Policy) -> None:
    """The buffer is unlimited, so what does not arrive was lost at random."""
    (missing, seen), (missing_too, seen_too) = lost_packets(POLICIES[0]), lost_packets(other)
    assert seen != seen_too
    compared = 0
    for flow in seen.keys() & seen_too.keys():
        both = min(seen[flow], seen_too[flow])
        assert {p for p in missing[flow] if p < both} == {p for p in missing_too[flow] if p < both}
        compared += len({p for p in missing[flow] if p < both})
    assert compared > 20


def test_every_flow_meets_losses_of_its_own() -> None:
    missing, _ = lost_packets(FixedRate(0.7))
    for sender in range(NETWORK.senders):
        first = [min(lost) for (of, _), lost in missing.items() if of == sender and lost]
        assert len(set(first)) > 0.7 * len(first) > 3


def test_seed_and_network_are_not_interchangeable() -> None:
    one = run(replace(NETWORK, id=1), POLICIES[0], seed=2)
    other = run(replace(NETWORK, id=2), POLICIES[0], seed=1)
    assert not set(one.floats("flow_start_us")) & set(other.floats("flow_start_us"))


# --- streams


def uniforms(
    count: int, seed: int = 0, network: int = 0, component: int = 1, sender: int = 0, flow: int = 0
) -> np.ndarray:
    return np.array(_core.uniforms(seed, network, component, sender, flow, count))


def test_draws_are_uniform() -> None:
    draws = uniforms(200_000, seed=9)
    assert 0 < draws.min() and draws.max() <= 1
    counts = np.bincount((draws * 256).astype(int).clip(max=255), minlength=256)
    assert stats.chisquare(counts).pvalue > LEVEL
    assert stats.kstest(draws, "uniform").pvalue > LEVEL


@pytest.mark.parametrize("lag", [1, 2, 3, 7])
def test_draws_of_a_stream_are_independent(lag: int) -> None:
    draws = (uniforms(160_000, seed=9) * 16).astype(int).clip(max=15)
    pairs = np.bincount(draws[:-lag] * 16 + draws[lag:], minlength=256)
    assert stats.chisquare(pairs).pvalue > LEVEL


@pytest.mark.parametrize("part", ["seed", "network", "component", "sender", "flow"])
def test_first_draws_of_neighbouring_keys_are_independent(part: str) -> None:
    """Keys that differ in one small number, as trials, senders and flows do; R+'s generator fails here."""
    first = np.array([uniforms(2, **{part: value}) for value in range(20_000)])
    assert stats.kstest(first[:, 0], "uniform").pvalue > LEVEL
    cells = (first * 16).astype(int).clip(max=15)
    for x, y in ((cells[:-1, 0], cells[1:, 0]), (cells[:, 0], cells[:, 1])):
        assert stats.chisquare(np.bincount(x * 16 + y, minlength=256)).pvalue > LEVEL


def test_streams_are_uncorrelated() -> None:
    keys = [{"component": c} for c in COMPONENTS.values()] + [{"seed": 1}, {"network": 1}, {"sender": 1}, {"flow": 1}]
    draws = np.array([uniforms(50_000, **key) for key in keys])
    assert len(np.unique(draws)) == draws.size
    pairs = list(itertools.combinations(range(len(keys)), 2))
    worst = max(abs(np.corrcoef(draws[i], draws[j])[0, 1]) for i, j in pairs)
    assert worst * math.sqrt(50_000) < stats.norm.ppf(1 - LEVEL / 2)


def test_traffic_comes_from_the_streams() -> None:
    """On times, off times and lengths are −mean × log(draw), each from the stream of its component and sender."""
    batch = run(replace(NETWORK, senders=2), FixedWindow(1))
    for sender in range(2):
        rows = np.array([row for row in flows(batch, "end_us") if row[0] == sender])

        def draws(name: str, count: int, mean: float, of: int = sender) -> np.ndarray:
            return -mean * np.log(uniforms(count, 5, 3, COMPONENTS[name], of))

        count = len(rows)
        assert math.isclose(rows[0, 1], draws("first_on", 1, 60.0)[0], rel_tol=1e-12)
        np.testing.assert_allclose((rows[:, 2] - rows[:, 1])[:-1], draws("on_time", count, 150.0)[:-1], rtol=1e-9)
        np.testing.assert_allclose(rows[1:, 1] - rows[:-1, 2], draws("off_time", count, 60.0)[:-1], rtol=1e-9)


def test_portable_logarithm() -> None:
    random = np.random.default_rng(1)
    near_one = 1 - random.random(20_000) * 2.0 ** -random.integers(1, 53, 20_000)
    small = random.random(20_000) * 2.0 ** -random.integers(0, 53, 20_000).astype(float)
    edges = [1.0, 2.0**-53, 1 - 2.0**-53, 0.5, math.sqrt(0.5), np.nextafter(math.sqrt(0.5), 1), 1e-300]
    for x in (*near_one.tolist(), *small.tolist(), *edges):
        assert math.isclose(_core.portable_log(x), math.log(x), rel_tol=1e-15), x
    assert _core.portable_log(1.0) == 0


# --- batches

NETWORKS = [replace(NETWORK, id=i, senders=1 + i, switched=("time", "bytes")[i % 2]) for i in range(5)]


def results(trials: list[tuple[int, int, int]], jobs: int) -> list[dict[str, bytes]]:
    """Every column of each trial, as bytes."""
    policy, network, seed = zip(*trials, strict=True)
    compiled = [compile_policy(p) for p in POLICIES]
    engine = Engine(duration=1500.0, jobs=jobs)
    batch = engine.run(compiled, NetworkList(NETWORKS), policy, network, seed, keep_delays=True, keep_flows=True)
    ranges = {"trial": np.arange(len(trials) + 1), "sender": batch["sender_begin"], "flow": batch["flow_begin"]}

    def of_trial(i: int) -> dict[str, bytes]:
        found = {}
        for name, values in batch.columns.items():
            begin = ranges.get(name.split("_")[0])
            if begin is not None and not name.endswith("_begin"):
                found[name] = np.asarray(values)[begin[i] : begin[i + 1]].tobytes()
        return found

    return [of_trial(i) for i in range(len(trials))]


TRIALS = [(p, n, s) for p in range(len(POLICIES)) for n in range(len(NETWORKS)) for s in (7, 8)]


def test_threads_and_neighbours_change_nothing() -> None:
    alone = [results([trial], jobs=1)[0] for trial in TRIALS]
    assert len(alone[0]) > 25 and len({trial["flow_delay_sum_us"] for trial in alone}) == len(alone)
    assert results(TRIALS, jobs=5) == alone
    some = [*np.random.default_rng(2).permutation(len(TRIALS))[:29], 3, 3]  # one twice
    assert results([TRIALS[i] for i in some], jobs=2) == [alone[i] for i in some]


@pytest.mark.parametrize("jobs", [2, 5])
def test_uses_do_not_depend_on_threads(jobs: int) -> None:
    table = compile_policy(POLICIES[3])
    count = 40
    batches = [
        Engine(duration=1500.0, jobs=j).run([table], NetworkList([NETWORK]), [0] * count, [0] * count, range(count))
        for j in (1, jobs)
    ]
    np.testing.assert_array_equal(batches[0].rule_hits[0], batches[1].rule_hits[0])
    assert (batches[0].rule_hits[0] > 0).sum() >= 2


# --- Ctrl-C

LONG = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in jobs that a shell put into the background
from lcca.remy_plus.engine import Engine, compile_policy
from lcca.remy_plus.network import NetworkList
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.policy import FixedWindow

trials = {trials}
network = NetworkList([Network(0, 3.0, 25.0, 8, 100.0, 5000.0, 500.0, 0.001)])
policy = compile_policy(FixedWindow(20))
print("ready", flush=True)
try:
    Engine(duration={duration}, jobs=2).run([policy], network, [0] * trials, [0] * trials, range(trials))
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
    Engine(duration=100.0, jobs=2).run([policy], network, [0], [0], [0])
    print("goes on", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("trials", "duration"), [(100_000, 1e4), (2, 1e9)], ids=["many trials", "long trials"])
def test_ctrl_c_stops_a_batch_within_a_second(trials: int, duration: float) -> None:
    program = LONG.format(trials=trials, duration=duration)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        watchdog = threading.Timer(30, child.kill)  # reading then ends
        watchdog.start()
        try:
            assert child.stdout.readline() == "ready\n"
            time.sleep(0.5)
            sent = time.time()
            child.send_signal(signal.SIGINT)
            word, at = child.stdout.readline().split()
            assert word == "interrupted"
            assert float(at) - sent < 1
            assert child.stdout.readline() == "goes on\n"
            assert child.wait(timeout=10) == 0
        finally:
            watchdog.cancel()
            child.kill()
