"""What every workload keeps: its flows depend on seed and network alone, follow each other, and have their lengths."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from lcca.remy_plus import _core
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import Aimd, FixedRate, FixedWindow, Policy, compile_policy
from lcca.remy_plus.record import Record

PACKETS, CUMULATIVE = [1.0, 10.0, 100.0], [0.0, 0.8, 1.0]
WORKLOADS: dict[str, tuple[Any, ...]] = {
    "time-switched": ("time-switched", 150.0, 60.0),
    "byte-switched": ("byte-switched", 30.0, 60.0),
    "poisson-flows": ("poisson-flows", 0.05, PACKETS, CUMULATIVE),
    "flow-trace": ("flow-trace", np.arange(0, 3000, 8.5).tolist(), (np.arange(353) % 40 + 1).tolist()),
    "script": ("script", [np.arange(s + 1, 3000, 30.0 * s + 35).tolist() for s in range(4)]),
}
OPEN = ("poisson-flows", "flow-trace")
RANDOM = ("time-switched", "byte-switched", "poisson-flows")
POLICIES: tuple[Policy, ...] = (FixedWindow(4), FixedWindow(50), FixedRate(0.4), Aimd())

every = pytest.mark.parametrize("kind", WORKLOADS)


def run(kind: str, policy: Policy = POLICIES[0], seeds: tuple[int, ...] = (5,), id: int = 3, jobs: int = 1) -> Record:
    senders = 1 if kind in OPEN else 4
    listed = NetworkList([Network(id, 2.5, 24.0, senders, math.inf, 1.0, 1.0, 0.0)])
    compiled = [_core.Network(id, 2.5, 24.0, senders, math.inf, 0.0, WORKLOADS[kind])]
    listed.compiled = lambda _: compiled  # type: ignore
    zeros = [0] * len(seeds)
    return Engine(3000.0, jobs=jobs).run([compile_policy(policy)], listed, zeros, zeros, seeds, keep_flows=True)


def by_source(kind: str, record: Record, *columns: str) -> list[list[tuple[float, ...]]]:
    """Rows of the columns in order of time: per sender, or all together where each flow is a sender of its own."""
    rows = list(zip(*(record.floats(f"flow_{name}") for name in ("start_us", *columns)), strict=True))
    sender = record.floats("flow_sender")
    return [rows] if kind in OPEN else [[r for r, s in zip(rows, sender, strict=True) if s == i] for i in range(4)]


@every
def test_policies_meet_the_same_flows(kind: str) -> None:
    """Byte-switched ones begin after the one before has arrived, so lengths are compared; the others begin alike."""
    found = [by_source(kind, run(kind, policy), "length") for policy in POLICIES]
    assert sum(map(len, found[0])) > 30
    first = 1 if kind == "byte-switched" else 0
    for one, other in itertools.pairwise(found):
        for mine, theirs in zip(one, other, strict=True):
            assert first == 1 or len(mine) == len(theirs)
            assert all(a[first:] == b[first:] for a, b in zip(mine, theirs, strict=False))
    assert len({run(kind, policy)["trial_sent"][0] for policy in POLICIES}) > 1 or kind in OPEN


@pytest.mark.parametrize("times", [[50.0, 70.0, 60.0], [-1.0], [math.nan, 1.0], [1.0, math.nan]])
def test_a_script_does_not_go_back(times: list[float]) -> None:
    _core.Network(3, 2.5, 24.0, 2, math.inf, 0.0, ("script", [[1.0, 1.0, math.inf], [0.0, 2.0]]))
    with pytest.raises(ValueError, match=r"^script: sender 1 switches at \S+ µs, which must not be before \d"):
        _core.Network(3, 2.5, 24.0, 2, math.inf, 0.0, ("script", [[1.0], times]))


@every
def test_threads_change_nothing(kind: str) -> None:
    one, two = (run(kind, Aimd(), (1, 2, 3, 4), jobs=jobs) for jobs in (1, 2))
    for name in one.columns.keys() - {"rule_hits"}:
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)


@every
def test_times_never_fall(kind: str) -> None:
    for rows in by_source(kind, run(kind, Aimd()), "end_us"):
        start, end = np.array(rows).T
        assert (np.diff(start) > 0).all() and (end >= start).all() and start[0] >= 0
        assert end[-1] <= 3000 or kind in OPEN
        assert kind in OPEN or (start[1:] >= end[:-1]).all()


@pytest.mark.parametrize("kind", RANDOM)
def test_seeds_and_networks_meet_other_flows(kind: str) -> None:
    variants = [run(kind, seeds=(seed,)) for seed in (0, 1, 2, 2**32, 2**64 - 1)]
    variants += [run(kind, id=id) for id in (0, 1, 2, 2**40)]
    starts = [tuple(record.floats("flow_start_us")[:8]) for record in variants]
    assert len(set(itertools.chain(*starts))) == 8 * len(variants)


def draws(component: int, count: int, sender: int = 0) -> np.ndarray:
    return np.array(_core.uniforms(5, 3, component, sender, 0, count))


def test_lengths_are_those_asked_for() -> None:
    """Each from its own draw: quantiles of the table, or exponentials, rounded up; those of a trace; or none."""
    table = run("poisson-flows").floats("flow_length")
    quantiles = [_core.uniforms(5, 3, 4, 0, flow, 1)[0] for flow in range(len(table))]
    np.testing.assert_array_equal(table, np.ceil(np.interp(quantiles, CUMULATIVE, PACKETS)))
    for sender, rows in enumerate(by_source("byte-switched", run("byte-switched"), "length")):
        np.testing.assert_array_equal([r[1] for r in rows], np.ceil(-30 * np.log(draws(4, len(rows), sender))))
    np.testing.assert_array_equal(run("flow-trace").floats("flow_length"), WORKLOADS["flow-trace"][2])
    assert not run("time-switched").floats("flow_length").any()


def test_flows_of_a_length_send_as_much() -> None:
    for kind in (*OPEN, "byte-switched"):
        record = run(kind)
        done = record["flow_finished"] == 1
        assert done.sum() > 30
        np.testing.assert_array_equal(record["flow_sent"][done], record["flow_length"][done])


@pytest.mark.parametrize(
    ("workload", "message"),
    [
        (("bursts", 1.0), "no workload is called bursts"),
        (("time-switched", 0.0, 1.0), "mean_on must be > 0, got 0"),
        (("byte-switched", 1.0, 0.0), "mean_off must be > 0 when byte-switched"),
        (("poisson-flows", 0.0, PACKETS, CUMULATIVE), "arrival_rate must be > 0"),
        (("flow-trace", [2.0, 1.0], [1, 1]), "arrive in order"),
    ],
)
def test_impossible_workloads_are_refused(workload: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _core.Network(3, 2.5, 24.0, 1, math.inf, 0.0, workload)
