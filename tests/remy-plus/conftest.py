"""Rule tables to test with, and networks on both kinds of engine."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from lcca.remy_plus import _core
from lcca.remy_plus.network import Network, compile_workload
from lcca.remy_plus.policies.rules import RuleTable, bisect, one_rule

E2E = ("send_ewma", "receive_ewma", "rtt_ratio", "slow_receive_ewma")

Grow = Callable[..., RuleTable]


def _grow(seed: int, splits: int = 3, signals: tuple[str, ...] = E2E[:3], pacing_kind: str = "relative") -> RuleTable:
    """A table like one of a search: random rules bisected, random actions."""
    random = np.random.default_rng(seed)
    table = one_rule(signals, pacing_kind)
    for _ in range(splits):
        rule = int(random.integers(len(table)))
        low, high = table.lower[rule], np.minimum(table.upper[rule], table.lower[rule] + 4)
        table = bisect(table, rule, random.uniform(low, high))
    for i in range(len(table)):
        action = (
            int(random.integers(-10, 257)),
            round(random.uniform(0, 1), 2),
            round(random.uniform(0.1, 3), 2),
        )
        table = table.with_action(i, *action)
    return table


@pytest.fixture(scope="session")
def grow() -> Grow:
    return _grow


Compile = Callable[[Network], _core.Network]


def _by_links(network: Network) -> _core.Network:
    """A plain dumbbell simulated link by link: all propagation on the way there, none on the way back."""
    layout = _core.Layout(
        link_rate=[network.link_rate] * 2,
        link_delay=[network.rtt, 0.0],
        link_buffer=[network.buffer, math.inf],
        forward=[[0]] * network.senders,
        backward=[[1]] * network.senders,
        measured=network.senders,
    )
    return _core.Network(
        id=network.id,
        link_rate=network.link_rate,
        rtt=network.rtt,
        senders=network.senders,
        buffer=network.buffer,
        loss=network.loss,
        workload=compile_workload(network),
        layout=layout,
    )


@pytest.fixture(scope="session")
def by_links() -> Compile:
    return _by_links
