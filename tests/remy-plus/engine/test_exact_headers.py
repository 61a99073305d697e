"""Signals that come without a header on one bottleneck: bit for bit what the engine of headers says."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from lcca.remy_plus import _core
from lcca.remy_plus.core.stamping import raw_stamping
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.network import Network, NetworkList, compile_network
from lcca.remy_plus.policies.explicit import FairShare, Rcp, Xcp
from lcca.remy_plus.policies.policy import FixedRate, Policy, WithHeader, compile_policy
from lcca.remy_plus.policies.rules import RuleTable

Grow = Callable[..., RuleTable]

ALL = ("hop_delay", "queue_time", "flows", "mark", "capacity", "fair_rate", "xcp_feedback")
TABLES = (
    ("flows", "rtt_ratio"),
    ("capacity", "flows", "link"),
    ("fair_rate", "receive_ewma"),
    ("mark", "queue_time", "loss"),
    ("hop_delay", "xcp_feedback", "queue_ewma"),
)
POLICIES = len(TABLES) + 4


def draw(seed: int) -> Network:
    rng = np.random.default_rng(seed)
    rate, rtt, senders = rng.uniform(0.5, 5), rng.uniform(0, 60), int(rng.integers(1, 20))
    buffer, loss = rng.choice((math.inf, 0.0, 3.0, 50.0)), rng.choice((0.0, 0.01, 0.1))
    switched, mean = (("time", 400.0), ("bytes", 60.0))[int(rng.integers(2))]
    return Network(seed, rate, rtt, senders, float(buffer), mean, 100.0, float(loss), switched)


def pair(seed: int, grow: Grow) -> tuple[Policy, Policy]:
    """A policy, and the same with its header in the engine's general form: it says how far apart it comes back."""
    explicit = (Rcp(), Xcp(), FairShare(), WithHeader(FixedRate(0.7), raw_stamping(ALL)))
    kind = seed % POLICIES
    policy = explicit[kind] if kind < 4 else grow(seed, 3, TABLES[kind - 4])
    if isinstance(policy, WithHeader):
        return policy, WithHeader(policy.policy, general(ALL))
    return policy, WithHeader(policy, general(policy.seen if isinstance(policy, RuleTable) else policy.signals))


def general(signals: tuple[str, ...]):
    return replace(raw_stamping(signals), every_us=1e-300)


@pytest.mark.parametrize("first", range(0, 72, POLICIES))
def test_same_bits(first: int, grow: Grow) -> None:
    for seed in range(first, first + POLICIES):
        network, index = NetworkList([draw(seed)]), [0]
        one, many = (
            Engine(1200.0, Model(), 1)
            .run([compile_policy(p)], network, index, index, [seed], keep_delays=True, keep_flows=True, keep_links=True)
            .columns
            for p in pair(seed, grow)
        )
        for name in one.keys() - {"rule_hits"}:
            np.testing.assert_array_equal(many[name], one[name], err_msg=f"{seed}: {name}")
        np.testing.assert_array_equal(many["rule_hits"][0], one["rule_hits"][0])


@pytest.mark.parametrize("seed", range(0, 72, 7))
def test_same_signals_at_every_acknowledgement(seed: int, grow: Grow) -> None:
    network, options = compile_network(draw(seed)), {"duration": 600.0, "model": Model().parts(), "script": []}
    rows, same = (_core.trace(compile_policy(p), network, seed, **options) for p in pair(seed, grow))
    assert len(rows["now_us"]) > 0
    for name, values in rows.items():
        np.testing.assert_array_equal(same[name], values, err_msg=f"{seed}: {name}")


def test_same_signals_when_more_packets_are_under_way_than_there_was_room_for() -> None:
    network = compile_network(Network(0, 3.0, 25.0, 8, math.inf, 1e15, 10.0, 0.0))
    options = {"duration": 600.0, "model": Model().parts(), "script": []}
    rows, same = (
        _core.trace(compile_policy(WithHeader(FixedRate(1.0), header)), network, 0, **options)
        for header in (raw_stamping(ALL), general(ALL))
    )
    assert rows["queue"].max() > 1024
    for name, values in rows.items():
        np.testing.assert_array_equal(same[name], values, err_msg=name)
