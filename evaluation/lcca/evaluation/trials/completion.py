"""The utility of flows by their completion time itself, as papers report it: −log2 of its mean or of a quantile.

Unlike the mean of −log2 of slowdowns, in which every flow counts by its own ratio, the mean of completion times is that
of the largest: of few long flows and of tails. Flows that did not finish count as those of a slowdown do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lcca.evaluation.trials.outcome import FlowTimes, Outcome, flow_times
from lcca.evaluation.trials.ratio import WORST_BITS, Ratio
from lcca.evaluation.trials.utility import Floats, TrialScores
from lcca.remy_plus.record import Record


@dataclass(frozen=True)
class CompletionTime(Ratio):
    """What flows want: to end soon. A score of 0 is 1 ms.

    Attributes:
        name: how reports call it.
        quantile: of a trial's completion times; their mean if left out.
        from_bytes: smallest size of the flows that count.
        below_bytes: the flows that count are smaller.
    """

    name: str
    quantile: float | None = None
    from_bytes: float = 0.0
    below_bytes: float = math.inf

    keeps: ClassVar[frozenset[str]] = frozenset({"flows"})
    measure: ClassVar[str] = "completion time"
    measured_in: ClassVar[str] = "ms"

    def score(self, record: Record) -> TrialScores:
        """Score every trial of a record; its flows stand for senders, and those without end are starved.

        Raises:
            InputError: flows that have no size.
        """
        return self._score(flow_times(record), record.trials, per_ms=1e3)

    def score_fabric(self, found: Outcome) -> float:
        """Score a trial on a fabric."""
        return float(self._score(found.times, 1, per_ms=1e6).score_bits[0])

    def content(self) -> dict[str, Any]:
        """Return the quantile and the sizes that count."""
        below = self.below_bytes if math.isfinite(self.below_bytes) else None
        return {"completion_time": self.quantile, "from_bytes": self.from_bytes, "below_bytes": below}

    def _score(self, flows: FlowTimes, trials: int, per_ms: float) -> TrialScores:
        flows = flows.of_sizes(self.from_bytes, self.below_bytes)
        bits = np.array([self._bits(taken) for taken in flows.by_trial(flows.at_least / per_ms, trials)])
        starved = np.bincount(flows.trial[~flows.finished], minlength=trials)
        return TrialScores(bits, starved, np.bincount(flows.trial, minlength=trials))

    def _bits(self, taken: Floats) -> float:
        """Return the score of completion times in ms; NaN without any."""
        if not len(taken):
            return math.nan
        found = float(taken.mean() if self.quantile is None else np.quantile(taken, self.quantile))
        return max(-math.log2(found), WORST_BITS)
