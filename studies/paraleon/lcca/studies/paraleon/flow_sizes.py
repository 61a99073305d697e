"""Which share of flows are elephants, interval by interval (PARALEON, ICNP 2025, section III-B)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from lcca.remy_plus.core.elementary import log

if TYPE_CHECKING:
    from lcca.remy_plus.switches.control import Sketches

FLOOR = 1e-6
"""Least share in a divergence: an empty class would make it infinite."""


@dataclass(frozen=True)
class FlowSizes:
    """Flows of an interval.

    Attributes:
        elephants: how many, those that may become one counted by how likely that is.
        flows: how many there are in all.
    """

    elephants: float
    flows: float

    @property
    def share(self) -> float:
        """Share of elephants among flows; a half where there are none."""
        return self.elephants / self.flows if self.flows > 0 else 0.5

    def divergence(self, before: FlowSizes) -> float:
        """Return the Kullback-Leibler divergence from an earlier distribution, in nats."""
        now, then = (np.clip([each.share, 1 - each.share], FLOOR, 1) for each in (self, before))
        return float(np.sum(now * log(now / then)))


@dataclass
class FlowStates:
    """Ternary states of flows by a sliding window.

    A flow is a connection (a queue pair): what it sent before a silence still counts. Sums run over more than the
    window in Figure 4 too.

    Attributes:
        elephant_bytes: that a flow sent in all; from here on it is an elephant.
        window: intervals in a row after which a smaller one counts as its share of these bytes; before, it is a mouse.
        ternary: False lets every interval count by itself: what a sketch alone tells.
    """

    elephant_bytes: float
    window: int
    ternary: bool = True
    _sent: dict[int, float] = field(default_factory=dict)
    _intervals: dict[int, int] = field(default_factory=dict)

    def update(self, *sketches: Sketches) -> FlowSizes:
        """Take what was counted in an interval, or in parts of it; flows in counters, which have no names, are mice."""
        if not self.ternary:
            self._sent = {}
        sent = set[int]()
        for each in sketches:
            for flow, size in zip(each.flow.astype(int).tolist(), each.bytes.tolist(), strict=True):
                self._sent[flow] = self._sent.get(flow, 0.0) + size
                sent.add(flow)
        self._intervals = {flow: self._intervals.get(flow, 0) + 1 for flow in sent}
        elephants = math.fsum(self._weight(flow) for flow in sorted(sent))
        return FlowSizes(elephants, len(sent) + sum(float(each.small_flows.sum()) for each in sketches))

    def _weight(self, flow: int) -> float:
        share = self._sent[flow] / self.elephant_bytes
        if share >= 1:
            return 1.0
        return share if self.ternary and self._intervals[flow] >= self.window else 0.0
