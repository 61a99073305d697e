"""The utility of a flow by its completion time: −log2 of its slowdown, in bits.

The slowdown of a flow is its completion time over the ideal one, which it would have if it were alone. One bit is half
the slowdown. A flow that did not finish within its trial counts with what is known: it takes the time so far at least,
and the ideal time at least, so that its slowdown is a lower bound. No flow is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.scenarios.sizes import PACKET_BYTES
from lcca.evaluation.trials.utility import Floats, TrialScores
from lcca.inputs.errors import InputError
from lcca.remy_plus.record import Record

WORST_BITS = -20.0
"""No flow counts as less, which is a slowdown of a million."""


@dataclass(frozen=True, eq=False)
class FlowTimes:
    """What became of flows: equally long arrays, an entry per flow, in any one unit of time.

    Attributes:
        size_bytes: payload.
        taken: from start to completion; NaN where it did not finish.
        ideal: what it would have taken alone.
        so_far: from start to the end of the trial.
        trial: index of its trial.
    """

    size_bytes: Floats
    taken: Floats
    ideal: Floats
    so_far: Floats
    trial: NDArray[np.int64]

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Tell which flows finished."""
        return ~np.isnan(self.taken)

    @property
    def at_least(self) -> Floats:
        """The completion times; of flows that did not finish what they take at least."""
        return np.where(self.finished, self.taken, np.maximum(self.so_far, self.ideal))

    @property
    def slowdown(self) -> Floats:
        """The slowdowns; of flows that did not finish a lower bound."""
        found: Floats = self.at_least / self.ideal
        return found

    def where(self, wanted: NDArray[np.bool_]) -> FlowTimes:
        """Return some of the flows."""
        return FlowTimes(**{each.name: getattr(self, each.name)[wanted] for each in fields(self)})


def flow_times(record: Record) -> FlowTimes:
    """Return what became of every flow of a record, in µs.

    Raises:
        InputError: flows that end by time, which have no size and no ideal time.
    """
    trial = np.repeat(np.arange(record.trials), np.diff(record["flow_begin"]))
    if "flow_fct_ns" in record.columns:  # of a fabric
        taken, ideal, start = (record.floats(f"flow_{name}_ns") / 1000 for name in ("fct", "ideal", "start"))
        so_far = record.floats("trial_end_ns")[trial] / 1000 - start
        return FlowTimes(record.floats("flow_size_bytes"), taken, ideal, so_far, trial)
    length, network = record.floats("flow_length"), record.network_index[trial]
    if not (length > 0).all():
        raise InputError("slowdown needs flows with sizes: use networks with `switched: bytes`, or a fabric")
    listed, start = record.networks, record.floats("flow_start_us")
    done = np.asarray(record["flow_finished"], dtype=bool) & (record.floats("flow_delivered") >= length)
    taken = np.where(done, record.floats("flow_last_arrival_us") - start, np.nan)
    ideal = listed.rtt[network] + length / listed.link_rate[network] + record.further_service_us[trial]
    return FlowTimes(length * PACKET_BYTES, taken, ideal, record.duration - start, trial)


@dataclass(frozen=True)
class Slowdown:
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

    unit: ClassVar[str] = "bits"
    keeps: ClassVar[frozenset[str]] = frozenset({"flows"})
    worst: ClassVar[float] = WORST_BITS
    emphasis: ClassVar[str] = ""

    def score(self, record: Record) -> TrialScores:
        """Score every trial of a record; its flows stand for senders, and those without end are starved.

        Raises:
            InputError: flows that have no size.
        """
        return self.score_flows(flow_times(record), record.trials)

    def score_flows(self, flows: FlowTimes, trials: int) -> TrialScores:
        """Score every trial of some flows."""
        flows = flows.where((flows.size_bytes >= self.from_bytes) & (flows.size_bytes < self.below_bytes))
        counted = np.bincount(flows.trial, minlength=trials)
        bits = np.maximum(-np.log2(flows.slowdown), WORST_BITS)
        if self.quantile is None:
            sums = np.bincount(flows.trial, weights=bits, minlength=trials)
            score = np.divide(sums, counted, out=np.full(trials, np.nan), where=counted > 0)
        else:
            score = np.maximum(-np.log2(self._quantiles(flows, counted)), WORST_BITS)
        starved = np.bincount(flows.trial[~flows.finished], minlength=trials)
        return TrialScores(score, starved, counted)

    def percent(self, difference: float) -> float:
        """Return by how many per cent slower flows would be without a difference in bits."""
        return 100 * math.expm1(math.log(2) * difference)

    def difference(self, percent: float) -> float:
        """Return the difference in bits that a change of the slowdown by some per cent is worth."""
        return math.log2(1 + percent / 100)

    def margin(self, percent: float) -> float:
        """Return the same: nothing but the slowdown is scored."""
        return self.difference(percent)

    def content(self) -> dict[str, Any]:
        """Return the quantile and the sizes that count."""
        below = self.below_bytes if math.isfinite(self.below_bytes) else None
        return {"slowdown": self.quantile, "from_bytes": self.from_bytes, "below_bytes": below}

    def _quantiles(self, flows: FlowTimes, counted: NDArray[np.int64]) -> Floats:
        """Return the quantile of each trial's slowdowns, NaN where it has no flow."""
        assert self.quantile is not None
        order = np.argsort(flows.trial, kind="stable")
        parts = np.split(flows.slowdown[order], np.cumsum(counted)[:-1])
        return np.array([np.quantile(part, self.quantile) if len(part) else np.nan for part in parts])
