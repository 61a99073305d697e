"""What the rules of a table see: how often each is used, and where its box would be cut along each signal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus import _core
from lcca.remy_plus.engine import Engine, compile_network
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.rules import CUT_STEP, RuleTable

Floats = NDArray[np.float64]

EVERY = 4
"""One look-up in so many is kept: those of a flow follow each other closely."""

FEWEST = 32
"""A rule with fewer look-ups is not cut: its median would say little."""


@dataclass(frozen=True)
class Lookups:
    """Look-ups of some trials, at feedback of the current flow.

    Attributes:
        table: whose rules were looked up.
        rule: (n,) the rule.
        values: (n, k) what it saw, in single precision.
    """

    table: RuleTable
    rule: NDArray[np.int64]
    values: NDArray[np.float32]

    @property
    def use(self) -> Floats:
        """(rules,) share of the look-ups."""
        return np.bincount(self.rule, minlength=len(self.table)) / max(1, len(self.rule))

    def cuts(self) -> Floats:
        """Return (rules, k) values that part each rule's look-ups into halves, as evenly as they can be.

        A cut at c parts values below c from those at c or above: it is the median, or the next larger value where
        that is more even. NaN where all values are the same, where there are too few, or where the box is that thin.
        """
        cuts = np.full(self.table.lower.shape, np.nan)
        for rule in np.flatnonzero(np.bincount(self.rule, minlength=len(self.table)) >= FEWEST):
            cuts[rule] = [even_cut(values) for values in self.values[self.rule == rule].T]
        return np.where((self.table.lower < cuts) & (cuts < self.table.upper), cuts, np.nan)


def even_cut(values: NDArray[np.float32]) -> float:
    """Return the multiple of `CUT_STEP` that parts the values most evenly; NaN if none does.

    Values are rounded down to such multiples first, as `Engine.cuts` does. A signal that fades after an event, such as
    `loss`, soon has values below the smallest one; they count as 0.
    """
    ordered = np.sort(np.floor(values.astype(np.float64) / CUT_STEP) * CUT_STEP)
    count, median = len(ordered), ordered[(len(ordered) - 1) // 2]
    below, at_most = (int(np.searchsorted(ordered, median, side)) for side in ("left", "right"))
    if at_most < count and abs(2 * at_most - count) < abs(2 * below - count):
        median = ordered[at_most]
    elif not below:
        return float("nan")
    return float(median)


def look_up(engine: Engine, policy: _core.Policy, table: RuleTable, networks: Sequence[Network], seed: int) -> Lookups:
    """Run one trial per network, and keep what the rules see."""
    rules, values = [], []
    for network in networks:
        rows = _core.trace(
            policy,
            compile_network(network),
            seed,
            duration=engine.duration,
            model=engine.model.parts(),
            script=[],
        )
        kept = np.flatnonzero(rows["current"])[::EVERY]
        rules.append(rows["rule"][kept])
        values.append(np.stack([rows[name][kept] for name in table.signals], axis=1).astype(np.float32))
    return Lookups(table, np.concatenate(rules), np.concatenate(values))
