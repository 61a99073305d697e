"""The engine of many links on plain dumbbells: bit for bit what the engine of one port says."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lcca.remy_plus import _core
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.network import Network, NetworkList, compile_network
from lcca.remy_plus.policies.policy import Aimd, FixedRate, FixedWindow, Policy, compile_policy
from lcca.remy_plus.policies.rules import RuleTable
from lcca.remy_plus.record import Columns

pytestmark = pytest.mark.slow

Compile = Callable[[Network], _core.Network]
Grow = Callable[..., RuleTable]

BUFFERS = (math.inf, 0.0, 3.0, 50.0)
LOSSES = (0.0, 0.01, 0.1)
AXES = ("send_ewma", "rtt_ratio", "queue", "link", "available_capacity", "loss")
ABSOLUTE = ("receive_ewma", "rtt_difference", "link_ewma", "available_capacity_ewma")

OTHER = {
    "trial_hops",
    "link_begin",
    "link_utilisation",
    "link_queue_mean_packets",
    "link_accepted",
    "link_dropped",
    "rule_hits",
}
"""Columns that tell of links, of which there is one more."""


def draw(seed: int) -> Network:
    rng = np.random.default_rng(seed)
    switched = ("time", "bytes")[seed % 2]
    return Network(
        seed,
        rng.uniform(0.5, 5),
        rng.uniform(0, 60) if seed % 5 else 0.0,
        int(rng.integers(1, 20)),
        BUFFERS[seed % 4],
        60.0 if switched == "bytes" else 400.0,
        100.0,
        LOSSES[seed % 3],
        switched,
    )


def policy(seed: int, grow: Grow) -> Policy:
    kinds: tuple[Policy, ...] = (
        Aimd(),
        FixedWindow(20),
        FixedRate(0.7),
        grow(seed, 3, AXES),
        grow(seed, 3, ABSOLUTE, "absolute"),
    )
    return kinds[seed % 5]


def batch(compiled: _core.Network, network: Network, wanted: Policy, model: Model) -> Columns:
    listed = NetworkList([network])
    listed.compiled = lambda _: [compiled]  # type: ignore
    options = {"keep_delays": True, "keep_flows": True}
    return Engine(1200.0, model, 1).run([compile_policy(wanted)], listed, [0], [0], [network.id], **options).columns


def trace(compiled: _core.Network, network: Network, wanted: Policy, model: Model) -> dict[str, Any]:
    return _core.trace(
        compile_policy(wanted),
        compiled,
        network.id,
        duration=600.0,
        model=model.parts(),
        script=[],
    )


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_same_bits(first: int, grow: Grow, by_links: Compile) -> None:
    for seed in range(first, first + 20):
        network, wanted = draw(seed), policy(seed, grow)
        model = Model((10.0, 7.0)[seed % 2], rplus_link_window=seed % 7 == 0, ack_size=0.0)
        one, many = (batch(make(network), network, wanted, model) for make in (compile_network, by_links))
        assert one.keys() == many.keys()
        for name in one.keys() - OTHER:
            np.testing.assert_array_equal(many[name], one[name], err_msg=f"{seed}: {name}")
        np.testing.assert_array_equal(many["rule_hits"][0], one["rule_hits"][0])
        rows, links = (trace(make(network), network, wanted, model) for make in (compile_network, by_links))
        for name in rows.keys() - {"one_way_ratio"}:  # here all propagation is on the way there
            np.testing.assert_array_equal(links[name], rows[name], err_msg=f"{seed}: {name}")


def test_census_too(grow: Grow, by_links: Compile) -> None:
    network, table = draw(3), compile_policy(grow(3, 3, AXES))
    found = []
    for make in (compile_network, by_links):
        listed = NetworkList([network])
        compiled = [make(network)]
        listed.compiled = lambda _, own=compiled: own  # type: ignore
        engine = Engine(1200.0, Model(ack_size=0.0), 1)
        found.append(engine.cuts(table, listed, [0], [5], 0, AXES))
    np.testing.assert_array_equal(found[0], found[1])
