"""The utility of a flow by its completion time: −log2 of its slowdown, in bits.

The slowdown of a flow is its completion time over the ideal one, which it would have if it were alone. One bit is half
the slowdown. A flow that did not finish within its trial counts with what is known: it takes the time so far at least,
and the ideal time at least, so that its slowdown is a lower bound. No flow is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lcca.evaluation.trials.outcome import FlowTimes, Outcome, flow_times
from lcca.evaluation.trials.ratio import WORST_BITS, Ratio
from lcca.evaluation.trials.utility import Floats, TrialScores
from lcca.remy_plus.core.elementary import log2
from lcca.remy_plus.record import Record


@dataclass(frozen=True)
class Slowdown(Ratio):
    """What flows want: a small slowdown.

    Attributes:
        name: how reports call it.
        quantile: a trial's score is −log2 of this quantile of its flows' slowdowns; the mean over its flows of −log2 of
            their slowdowns if left out.
        from_bytes: smallest size of the flows that count.
        below_bytes: the flows that count are smaller.
    """

    name: str
    quantile: float | None = None
    from_bytes: float = 0.0
    below_bytes: float = math.inf

    keeps: ClassVar[frozenset[str]] = frozenset({"flows"})
    measure: ClassVar[str] = "slowdown"

    def score(self, record: Record) -> TrialScores:
        """Score every trial of a record; its flows stand for senders, and those without end are starved.

        Raises:
            InputError: flows that have no size.
        """
        return self.score_flows(flow_times(record), record.trials)

    def score_fabric(self, found: Outcome) -> float:
        """Score a trial on a fabric."""
        return float(self.score_flows(found.times, 1).score_bits[0])

    def score_flows(self, flows: FlowTimes, trials: int) -> TrialScores:
        """Score every trial of some flows."""
        flows = flows.of_sizes(self.from_bytes, self.below_bytes)
        counted = np.bincount(flows.trial, minlength=trials)
        bits = np.maximum(-log2(flows.slowdown), WORST_BITS)
        if self.quantile is None:
            sums = np.bincount(flows.trial, weights=bits, minlength=trials)
            score = np.divide(sums, counted, out=np.full(trials, np.nan), where=counted > 0)
        else:
            score = np.maximum(-log2(self._quantiles(flows, trials)), WORST_BITS)
        starved = np.bincount(flows.trial[~flows.finished], minlength=trials)
        return TrialScores(score, starved, counted)

    def content(self) -> dict[str, Any]:
        """Return the quantile and the sizes that count."""
        below = self.below_bytes if math.isfinite(self.below_bytes) else None
        return {"slowdown": self.quantile, "from_bytes": self.from_bytes, "below_bytes": below}

    def _quantiles(self, flows: FlowTimes, trials: int) -> Floats:
        """Return the quantile of each trial's slowdowns, NaN where it has no flow."""
        assert self.quantile is not None
        parts = flows.by_trial(flows.slowdown, trials)
        return np.array([np.quantile(part, self.quantile) if len(part) else np.nan for part in parts])
