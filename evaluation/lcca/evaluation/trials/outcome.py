"""What metrics and utilities go by: trials on networks with their scores, flows' times, and trials on a fabric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.trials.throughput_delay import (
    FairShareGap,
    SenderTotals,
    ThroughputDelay,
    TrialMeans,
    gap_to_fair_share,
    mean_trials,
    sender_totals,
)
from lcca.evaluation.trials.utility import Floats, TrialScores, Utility
from lcca.inputs.errors import InputError
from lcca.remy_plus.core.elementary import log2
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.record import Record


@dataclass(frozen=True, eq=False)
class Scored:
    """Trials on networks, and the utility that scores them; all that it returns is (trials,)."""

    record: Record
    utility: Utility

    @cached_property
    def scores(self) -> TrialScores:
        """By the utility."""
        return self.utility.score(self.record)

    @cached_property
    def means(self) -> TrialMeans:
        """Over senders."""
        return mean_trials(self._senders, self.link_rate)

    @cached_property
    def gap(self) -> FairShareGap:
        """To the fair share; NaN with other utilities than throughput and delay."""
        if not isinstance(self.utility, ThroughputDelay):
            return FairShareGap(*np.full((3, self.record.trials), np.nan))
        return gap_to_fair_share(self.utility, self._senders, self.record)

    @cached_property
    def _senders(self) -> SenderTotals:
        return sender_totals(self.record)

    @property
    def link_rate(self) -> Floats:
        """Packets/µs."""
        return self.record.networks.link_rate[self.record.network_index]

    @property
    def over_link(self) -> Floats:
        """Throughput share over the link rate."""
        return np.asarray(self.share / self.link_rate)

    @property
    def share(self) -> Floats:
        """Packets/µs of fair share, mean over senders."""
        return self.means.throughput_share

    @property
    def delay_over_rtt(self) -> Floats:
        """Mean delay over the network's RTT; NaN where it has none."""
        rtt = self.record.networks.rtt[self.record.network_index]
        found: Floats = np.divide(self.means.delay_us, rtt, out=np.full(len(rtt), np.nan), where=rtt > 0)
        return found

    @property
    def loss_fraction(self) -> Floats:
        """Of the packets that were sent."""
        lost = self._total("lost") + self._total("dropped")
        return np.asarray(lost / np.maximum(self.record.floats("trial_sent"), 1), dtype=np.float64)

    @property
    def stalled_flows(self) -> NDArray[np.int64]:
        """Flows that ended with a closed window and no packets in flight."""
        return self._total("stalled").astype(np.int64)

    def percentile(self, name: str) -> Floats:
        """Return a percentile of round trips; NaN where the delays were not kept."""
        found = self.record.columns.get(f"trial_{name}")
        return np.full(self.record.trials, np.nan) if found is None else np.asarray(found)

    def _total(self, column: str) -> Floats:
        weights = self.record.floats(f"sender_{column}")
        return np.bincount(self.record.sender_trial, weights, self.record.trials).astype(np.float64)


@dataclass(frozen=True, eq=False)
class FlowTimes:
    """What became of flows: equally long arrays, an entry per flow, in any one unit of time.

    Attributes:
        size_bytes: payload.
        taken: from start to completion; NaN where it did not finish.
        ideal: what it would have taken alone.
        so_far: from start to the end of the trial.
        trial: index of its trial.
        per_us: how much of the unit of time is one µs.
    """

    size_bytes: Floats
    taken: Floats
    ideal: Floats
    so_far: Floats
    trial: NDArray[np.int64]
    per_us: float = 1.0

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Which flows finished."""
        return ~np.isnan(self.taken)

    @property
    def at_least(self) -> Floats:
        """The completion times; of flows that did not finish what they take at least, the time so far.

        NaN of those whose time so far is below the ideal: they say nothing, whatever becomes of them.
        """
        return np.where(self.finished, self.taken, np.where(self.so_far >= self.ideal, self.so_far, np.nan))

    @property
    def telling(self) -> FlowTimes:
        """Those that say something of their slowdown: all but those that had less time than they take alone."""
        some = self.finished | (self.so_far >= self.ideal)
        return self if some.all() else self.where(some)

    @property
    def at_least_us(self) -> Floats:
        """The same in µs."""
        return self.at_least / self.per_us

    @property
    def slowdown(self) -> Floats:
        """The slowdowns; of flows that did not finish a lower bound, NaN where they say nothing (`at_least`)."""
        found: Floats = self.at_least / self.ideal
        return found

    @property
    def goodput_gbps(self) -> float:
        """Payload of the finished flows from the first start to the last completion; NaN without flows.

        With flows that did not finish it is until the end of the trial.
        """
        if not len(self.size_bytes):
            return np.nan
        until_end = self.so_far - np.where(self.finished, self.taken, self.so_far)
        span = self.so_far.max() - until_end.min()
        bits_per_ns = self.size_bytes[self.finished].sum() * 8 / (span / (self.per_us / 1000)) if span > 0 else np.nan
        return float(bits_per_ns)

    def where(self, wanted: NDArray[np.bool_]) -> FlowTimes:
        """Return some of the flows."""
        arrays = {each.name: getattr(self, each.name)[wanted] for each in fields(self) if each.name != "per_us"}
        return FlowTimes(**arrays, per_us=self.per_us)

    def of_sizes(self, from_bytes: float, below_bytes: float) -> FlowTimes:
        """Return those of sizes from one to below another."""
        return self.where(self.counts(from_bytes, below_bytes))

    def counts(self, from_bytes: float, below_bytes: float) -> NDArray[np.bool_]:
        """Return which flows have sizes from one to below another."""
        found: NDArray[np.bool_] = (self.size_bytes >= from_bytes) & (self.size_bytes < below_bytes)
        return found

    def by_trial(self, values: Floats, trials: int) -> list[Floats]:
        """Return values of the flows, (flows,), trial by trial."""
        order = np.argsort(self.trial, kind="stable")
        return np.split(values[order], np.cumsum(np.bincount(self.trial, minlength=trials))[:-1])


def flow_times(record: Record) -> FlowTimes:
    """Return what became of every flow of a record, in µs.

    Raises:
        InputError: flows that end by time, which have no size and no ideal time.
    """
    trial = np.repeat(np.arange(record.trials), np.diff(record["flow_begin"]))
    length, network = record.floats("flow_length"), record.network_index[trial]
    if not (length > 0).all():
        raise InputError("slowdown needs flows with sizes: use networks with `switched: bytes`, or a fabric")
    listed, start = record.networks, record.floats("flow_start_us")
    done = np.asarray(record["flow_finished"], dtype=bool) & (record.floats("flow_delivered") >= length)
    taken = np.where(done, record.floats("flow_last_arrival_us") - start, np.nan)
    ideal = listed.rtt[network] + length / listed.link_rate[network] + record.further_service_us[trial]
    return FlowTimes(length * listed.packet_bytes[network], taken, ideal, record.duration - start, trial)


class Outcome(Protocol):
    """A trial on a fabric."""

    @property
    def hosts(self) -> int:
        """Hosts of the fabric; nodes from there on are switches."""

    @property
    def flows(self) -> FabricFlows:
        """All flows."""

    @property
    def started(self) -> NDArray[np.int64]:
        """Positions of the flows that started and count."""

    @property
    def times(self) -> FlowTimes:
        """What became of the flows that started, in ns."""

    @property
    def rounds(self) -> pd.DataFrame:
        """A row per round: took_us, at least if it did not end, and finished."""

    @property
    def job_times(self) -> pd.DataFrame:
        """A row per job of training: took_us, at least if it did not end, finished, and what jobs are measured by."""

    @property
    def packets(self) -> int:
        """Data packets that hosts received."""

    @property
    def record(self) -> Mapping[str, Any]:
        """What the engine found: see `lcca.remy_plus.fabric.engine.FabricEngine.run`."""


def lacking_us(trial: Outcome, unfinished: NDArray[np.bool_]) -> float:
    """Return about how much longer a trial would have to last for some flows to finish; 0 without any.

    Flows into a host share its link. They need what is left over the rate at which the host was served, or they
    themselves, whichever is more, and one after the other at least the rest of their ideal times.

    Args:
        trial: that ended before they did.
        unfinished: which of the flows that started.
    """
    if not unfinished.any():
        return 0.0
    times, at, to = trial.times, trial.started, trial.flows.dst[trial.started]
    delivered = trial.record["flow_delivered_bytes"][at].astype(np.float64)
    left = np.where(unfinished, times.size_bytes - delivered, 0)
    span = np.zeros(trial.hosts)
    np.maximum.at(span, to[unfinished], times.so_far[unfinished])

    def by_host(each: Floats) -> Floats:
        return np.bincount(to, each, trial.hosts).astype(np.float64)

    whole = by_host(delivered) / times.so_far.max()
    own = np.divide(by_host(delivered * unfinished), span, out=np.zeros(trial.hosts), where=span > 0)
    rest, rate = by_host(left), np.maximum(whole, own)
    by_rate = np.divide(rest, rate, out=np.zeros(trial.hosts), where=rate > 0)
    alone = by_host(times.ideal * left / times.size_bytes)
    return float(np.maximum(by_rate, alone).max()) / times.per_us


def mean_round_us(trial: Outcome) -> float:
    """Return the mean time of rounds that say something; NaN without any, as where all begin in the warm-up."""
    took = trial.rounds["took_us"].dropna().to_numpy(dtype=np.float64)
    return float(took.mean()) if len(took) else np.nan


def over_bound(trial: Outcome) -> float:
    """Return the geometric mean over jobs of their time over what it is at the least."""
    return float(2.0 ** log2(trial.job_times["job_over_bound"].to_numpy(dtype=np.float64)).mean())


def sizes_accuracy(trial: Outcome) -> float:
    """Return how right a tuner's monitor is about the sizes of flows; NaN where no flow was under way.

    The accuracy of an interval is 1 less the total variation between the distribution of flows over mice and elephants
    that the monitor knows and that of the flows that were under way in it, by their whole payload: with two classes,
    the difference of the shares. That of a trial is the mean over intervals in which any flow was under way.
    """
    record, size = trial.record, trial.flows.size_bytes
    counts = _under_way(record, np.ones(len(size), dtype=bool))
    shares = _under_way(record, size >= record["told_elephant_bytes"][0]) / np.maximum(counts, 1)
    right = 1 - np.abs(record["told_elephant_share"] - shares)
    return float(right[counts > 0].mean()) if (counts > 0).any() else np.nan


def _under_way(record: Mapping[str, Any], those: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how many of some flows were under way, interval by interval."""
    start, took = record["flow_start_ns"][those], record["flow_fct_ns"][those]
    end = np.where(np.isnan(took), np.inf, start + took)
    until = record["told_ns"]
    begun = np.searchsorted(np.sort(start), until, side="left")  # those that did not start come last
    ended = np.searchsorted(np.sort(end), np.concatenate([[0.0], until[:-1]]), side="right")
    return np.asarray(begun - ended, dtype=np.int64)
