"""Utilities that score a trial by −log2 of a metric that is better small, or log2 of one that is better large.

One bit is a factor of two. A flow that did not finish within its trial counts with what is known: it takes the time so
far at least, so that its slowdown is a lower bound. One that had less time than it takes alone says nothing and is left
out. How many did not finish is kept beside each score: where they are many, there is no verdict
(`lcca.evaluation.settling.unfinished`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from lcca.evaluation.settling.unfinished import Unfinished
from lcca.evaluation.trials.metrics import COMPLETION, FABRIC_TRIALS, SLOWDOWN, Metric, statistic
from lcca.evaluation.trials.outcome import FlowTimes, Outcome, flow_times, lacking_us
from lcca.evaluation.trials.utility import Floats, TrialScores, Utility, unfinished_columns
from lcca.inputs.errors import InputError
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus.core.elementary import log2
from lcca.remy_plus.record import Record

WORST_BITS = -20.0
"""No flow or trial counts as less: a slowdown of a million, a time of 1,000 s, a queue of 1.6 GB."""


RECOVERY_LOOKS_US = 10.0
"""Between two looks at what is delivered after an event (`remy-plus/include/remy_plus/fabric/events/recovery.hpp`)."""


@dataclass(frozen=True)
class Ratio(ABC):
    """A utility that scores trials on a fabric, some of them those on networks too.

    Attributes:
        name: how configurations and reports call it.
        quantile: of what is scored; its mean if left out.
        from_bytes: smallest size of the flows that count.
        below_bytes: the flows that count are smaller.
        of: the metric that is scored.
        keeps: what a simulator must keep for it.
    """

    name: str
    quantile: float | None = None
    from_bytes: float = 0.0
    below_bytes: float = math.inf

    of: ClassVar[Metric]
    keeps: ClassVar[frozenset[str]] = frozenset()
    unit: ClassVar[str] = "bits"
    worst: ClassVar[float] = WORST_BITS

    @property
    def large(self) -> bool:
        """Whether much of the metric is better."""
        return self.of.better == "more"

    def percent(self, difference: float) -> float:
        """Return by how many per cent the metric is larger on the worse side of a difference (if large the better)."""
        return 100 * math.expm1(math.log(2) * difference)

    def difference(self, percent: float) -> float:
        """Return the difference in bits that a change of the metric by some per cent is worth."""
        return math.log2(1 + percent / 100)

    def margin(self, percent: float) -> float:
        """Return the same: nothing but the metric is scored."""
        return self.difference(percent)

    def measured(self, bits: float) -> float:
        """Return what has a score, in the metric's unit: of a mean of scores the geometric mean."""
        return float(2.0 ** (bits if self.large else -bits))

    @property
    def typical(self) -> Metric:
        """What a mean of scores tells in the metric's unit: geometric, where means of the metric are arithmetic."""
        return replace(self.of, label=f"typical (geometric mean) {self.name}")

    def typical_interval(self, bits: Sequence[float | None]) -> tuple[float | None, float | None, float | None]:
        """Return a mean of scores and the ends of its interval in the metric's unit; None for what is unknown."""
        value, low, high = (None if each is None else self.measured(each) for each in bits)
        return (value, low, high) if self.large else (value, high, low)

    def bits(self, value: float) -> float:
        """Return the score of a value in the metric's unit; NaN of NaN."""
        if value <= 0:
            return WORST_BITS
        return max(math.log2(value) if self.large else -math.log2(value), WORST_BITS)

    @abstractmethod
    def score_fabric(self, found: Outcome) -> float:
        """Return the score of a trial on a fabric, in bits; NaN where nothing counts."""

    def unfinished(self, found: Outcome) -> tuple[int, int, float]:
        """Return of a trial on a fabric how much is scored, how much of it did not finish, and the time it lacked, µs.

        That is about how much longer the trial would have to last (`lacking_us`); NaN where nothing tells. A utility of
        ports scores nothing that could be unfinished.
        """
        return 0, 0, 0.0

    def score(self, record: Record) -> TrialScores:
        """Score every trial of a record of networks.

        Raises:
            InputError: it does not tell what is scored.
        """
        raise InputError(f"{self.name}: scores trials on a fabric; use --on with a scenario")

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Return everything but the name that decides scores, as JSON values."""


class OfFlows(Ratio):
    """What flows want; flows stand for senders, and those without end are starved."""

    keeps: ClassVar[frozenset[str]] = frozenset({"flows"})
    word: ClassVar[str]

    def score(self, record: Record) -> TrialScores:
        """Score every trial of a record.

        Raises:
            InputError: flows that have no size.
        """
        return self.score_flows(flow_times(record), record.trials)

    def score_fabric(self, found: Outcome) -> float:
        """Score a trial on a fabric."""
        return float(self.score_flows(found.times, 1).score_bits[0])

    def unfinished(self, found: Outcome) -> tuple[int, int, float]:
        """Return how many flows of the sizes that count did not finish; see `Ratio.unfinished`."""
        counted = found.times.counts(self.from_bytes, self.below_bytes)
        open_ = counted & ~found.times.finished
        return int(counted.sum()), int(open_.sum()), lacking_us(found, open_)

    def score_flows(self, flows: FlowTimes, trials: int) -> TrialScores:
        """Score every trial of some flows."""
        flows = flows.of_sizes(self.from_bytes, self.below_bytes)
        starved = np.bincount(flows.trial[~flows.finished], minlength=trials)
        counted = np.bincount(flows.trial, minlength=trials)
        return TrialScores(self.trial_bits(flows.telling, trials), starved, counted)

    @abstractmethod
    def trial_bits(self, flows: FlowTimes, trials: int) -> Floats:
        """Return (trials,) scores of the flows that count; NaN where there are none."""

    def statistics(self, values: Floats, flows: FlowTimes, trials: int) -> Floats:
        """Return (trials,) the mean of values of flows, or the quantile."""
        return np.array([statistic(each, self.quantile) for each in flows.by_trial(values, trials)])

    def content(self) -> dict[str, Any]:
        """Return the quantile and the sizes that count."""
        below = self.below_bytes if math.isfinite(self.below_bytes) else None
        return {self.word: self.quantile, "from_bytes": self.from_bytes, "below_bytes": below}


class Slowdown(OfFlows):
    """A small slowdown: the mean over flows of −log2 of theirs, or −log2 of a quantile."""

    of: ClassVar[Metric] = SLOWDOWN
    word: ClassVar[str] = "slowdown"

    def trial_bits(self, flows: FlowTimes, trials: int) -> Floats:
        """Return (trials,) scores."""
        if self.quantile is not None:
            return np.maximum(-log2(self.statistics(flows.slowdown, flows, trials)), WORST_BITS)
        counted = np.bincount(flows.trial, minlength=trials)
        sums = np.bincount(flows.trial, weights=np.maximum(-log2(flows.slowdown), WORST_BITS), minlength=trials)
        found: Floats = np.divide(sums, counted, out=np.full(trials, np.nan), where=counted > 0)
        return found


class CompletionTime(OfFlows):
    """An end soon, as papers report it: −log2 of the mean or of a quantile of completion times. A score of 0 is 1 ms.

    Unlike the mean of −log2 of slowdowns, in which every flow counts by its own ratio, the mean of completion times is
    that of the largest: of few long flows and of tails.
    """

    of: ClassVar[Metric] = COMPLETION
    word: ClassVar[str] = "completion_time"

    def trial_bits(self, flows: FlowTimes, trials: int) -> Floats:
        """Return (trials,) scores."""
        in_ms = flows.at_least / (1000 * flows.per_us)
        return np.array([self.bits(each) for each in self.statistics(in_ms, flows, trials)])


class Queue(Ratio):
    """A short queue at the port of a switch that has the longest in the mean, over the whole time of a trial.

    The score is −log2 of 1 + queue / 1500 bytes: 0 bits for none at all.
    """

    of: ClassVar[Metric] = Metric(
        "queue_bytes", "queue", lambda t: queue_bytes(t.record, None), "less", "", "kB", 1e3, needs="ports"
    )

    def score_fabric(self, found: Outcome) -> float:
        """Return the score of a trial on a fabric, in bits."""
        return self.bits(1 + queue_bytes(found.record, self.quantile) / PACKET_BYTES)

    def measured(self, bits: float) -> float:
        """Return the queue that has a score."""
        return (super().measured(bits) - 1) * PACKET_BYTES / 1000

    def content(self) -> dict[str, Any]:
        """Return the quantile."""
        return {"queue": self.quantile}


def queue_bytes(record: Mapping[str, Any], quantile: float | None) -> float:
    """Return a quantile over time of the fullest port's queue, or its mean; at most 1/32 too long."""
    lengths, times, end_ns = (record[name] for name in ("fullest_queued_bytes", "fullest_queued_ns", "end_ns"))
    if quantile is None:
        return float((lengths * times).sum() / end_ns) if end_ns > 0 else 0.0
    order = np.argsort(lengths, kind="stable")
    longer = np.cumsum(times[order][::-1])[::-1]  # how long the queue was at least so long
    too_long = longer > (1 - quantile) * end_ns
    return float(lengths[order][too_long].max(initial=0.0))


class OfTrial(Ratio):
    """A metric of a trial as it is."""

    said: ClassVar[dict[str, str]]

    def score_fabric(self, found: Outcome) -> float:
        """Return the score of a trial on a fabric, in bits; NaN where nothing counts."""
        return self.bits(self.of.compute(found) / self.of.scale)

    def content(self) -> dict[str, Any]:
        """Return what it is."""
        return dict(self.said)


class RoundTime(OfTrial):
    """What training jobs want: rounds that end soon. The score is −log2 of a trial's mean in ms."""

    of: ClassVar[Metric] = FABRIC_TRIALS["round_mean_us"]
    said: ClassVar[dict[str, str]] = {"rounds": "mean"}

    def unfinished(self, found: Outcome) -> tuple[int, int, float]:
        """Return how many rounds did not finish; see `Ratio.unfinished`."""
        open_ = int((~found.rounds["finished"]).sum())
        return len(found.rounds), open_, lacking_us(found, ~found.times.finished) if open_ else 0.0


class Completion(OfTrial):
    """Jobs of training that end soon: −log2 of their time over the least that it can be, in the mean over jobs.

    The least is that of the longest chains of messages and of the fullest cuts of the fabric (`JobLook`): 0 bits is as
    soon as can be.
    """

    of: ClassVar[Metric] = FABRIC_TRIALS["job_over_bound"]
    said: ClassVar[dict[str, str]] = {"completion": "over bound"}

    def unfinished(self, found: Outcome) -> tuple[int, int, float]:
        """Return how many jobs did not end; see `Ratio.unfinished`."""
        open_ = int((~found.job_times["finished"]).sum())
        return len(found.job_times), open_, lacking_us(found, ~found.times.finished) if open_ else 0.0


def shared_over_bound(trial: Outcome) -> float:
    """Return the geometric mean of jobs' time over bound and of the slowdown of flows of no job, if there are any."""
    bound = float(FABRIC_TRIALS["job_over_bound"].compute(trial))
    others = of_no_job(trial).telling
    if not len(others.size_bytes):
        return bound
    return float(2.0 ** ((math.log2(bound) + np.minimum(log2(others.slowdown), -WORST_BITS).mean()) / 2))


def of_no_job(trial: Outcome) -> FlowTimes:
    """Return what became of the flows of none of the jobs that are scored; a trace's jobs are not."""
    job, scored = trial.flows.job, trial.job_times["job"].to_numpy()
    started = trial.started
    return trial.times.where(~np.isin(job[started], scored) if len(job) else np.ones(len(started), dtype=bool))


class CompletionAndSlowdown(OfTrial):
    """Jobs of training that end soon, and not at the cost of others: completion and slowdown of other flows by halves.

    By `Completion` alone a policy gains what it takes from storage beside a job. Without other flows it is the same.
    """

    of: ClassVar[Metric] = Metric(
        "job_and_others", "time over bound with slowdown of others", shared_over_bound, "less", needs="jobs"
    )
    said: ClassVar[dict[str, str]] = {"completion": "over bound, and slowdown of other flows"}

    def unfinished(self, found: Outcome) -> tuple[int, int, float]:
        """Return how many jobs and other flows did not end; see `Ratio.unfinished`."""
        ended = [found.job_times["finished"].to_numpy(dtype=bool), of_no_job(found).finished]
        open_ = sum(int((~each).sum()) for each in ended)
        return sum(map(len, ended)), open_, lacking_us(found, ~found.times.finished) if open_ else 0.0


class Recovery(OfTrial):
    """Delivery that is soon back after an event, in the mean over events.

    The score is −log2 of 1 + recovery / 10 µs, the time between two looks: 0 bits where delivery never fell behind.
    """

    of: ClassVar[Metric] = FABRIC_TRIALS["recovery_us"]
    said: ClassVar[dict[str, str]] = {"recovery": "mean"}

    def unfinished(self, found: Outcome) -> tuple[int, int, float]:
        """Return after how many events delivery was not back; see `Ratio.unfinished`."""
        took, so_far = found.record["event_recovery_ns"], found.record["end_ns"] - found.record["event_ns"]
        begun, open_ = ~np.isnan(took), took > so_far
        return int(begun.sum()), int((begun & open_).sum()), math.nan if (begun & open_).any() else 0.0

    def score_fabric(self, found: Outcome) -> float:
        """Return the score of a trial on a fabric, in bits; NaN where no event began."""
        return self.bits(1 + self.of.compute(found) / RECOVERY_LOOKS_US)

    def measured(self, bits: float) -> float:
        """Return the recovery that has a score."""
        return (super().measured(bits) - 1) * RECOVERY_LOOKS_US


def delivered_gbps(trial: Outcome) -> float:
    """Return the payload that all flows together delivered, Gb/s over the trial."""
    delivered, end_ns = float(trial.record["flow_delivered_bytes"].sum()), trial.record["end_ns"]
    return delivered * 8 / float(end_ns) if delivered else 0.0


class Throughput(OfTrial):
    """What flows without end want: log2 of the payload that all flows together delivered."""

    of: ClassVar[Metric] = Metric("throughput_gbps", "throughput", delivered_gbps, "more", unit="Gb/s")
    said: ClassVar[dict[str, str]] = {"throughput": "delivered"}


def unfinished_of(rows: pd.DataFrame, utility: Utility, column: str = "score_bits") -> dict[str, Unfinished]:
    """Return what is unfinished by contender, from rows of trials; nothing of utilities that score no such things.

    Args:
        rows: of trials, with a column `policy`.
        utility: whose scores they have.
        column: with the scores.
    """
    if not isinstance(utility, Ratio) or utility.of.needs == "ports":
        return {}
    of, unfinished, lacking = unfinished_columns(column)
    if of not in rows:
        return {}
    found = {}
    for policy, own in rows.groupby("policy", sort=False):
        some, open_ = own[own[of] > 0], own[own[unfinished] > 0]
        percent = float((100 * some[unfinished] / some[of]).mean()) if len(some) else 0.0
        counts = int(own[of].sum()), int(own[unfinished].sum())
        lacked = float(open_[lacking].max(skipna=False)) if len(open_) else 0.0
        found[str(policy)] = Unfinished(*counts, lacked, utility.of.needs, percent, utility.quantile)
    return found
