"""Rule tables to test with."""

from collections.abc import Callable

import numpy as np
import pytest

from lcca.remy_plus.rules import RuleTable, bisect, one_rule

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
