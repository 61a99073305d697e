"""Every metric: what trials, flows and ports are measured by, how each is computed, and how tables and figures show it.

A new metric is a row of one of the tables below: all that runs, summarises, shows, estimates or exports trials goes by
them. Utilities are views of them (`lcca.evaluation.trials.ratio`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lcca.evaluation.settling.intervals import positive_interval, t_interval
from lcca.evaluation.settling.quantiles import quantile
from lcca.evaluation.trials.outcome import (
    FlowTimes,
    Outcome,
    Scored,
    mean_round_us,
    over_bound,
    sizes_accuracy,
)
from lcca.evaluation.trials.utility import Floats
from lcca.remy_plus.record import RTTS

View = Literal["evaluate", "compare", "campaign", "report", "study"]
"""Where metrics are shown: by `lcca evaluate` (on networks in its JSON too); where two policies or simulators are
compared on every network; in a table of many policies, as of a campaign or of ACC's tests; in a campaign's report; and
in a study's answers."""

Needs = Literal["flows", "rounds", "jobs", "ports", "events", "sizes"]
"""What a trial on a fabric must tell; `sizes` are those of flows as a tuner's monitor sees them."""


@dataclass(frozen=True)
class Metric:
    """One quantity that is measured.

    Attributes:
        name: its column, which ends with the unit there.
        label: how people call it.
        compute: returns it, of what its table is about.
        better: which direction is better; nothing where neither is.
        shown: views, with blanks between them.
        unit: in which people are told of it; nothing for a ratio or a count.
        scale: one of that unit in the unit of the column.
        digits: after the point, in tables where all rows have as many.
        needs: what a trial on a fabric must tell.
        together: what several trials have together; nothing where that has no meaning.
        in_summary: whether a campaign's summary has its mean.
        least: no value can be less.
        pool: of a quantile, what it is of: of the `flows` of all trials together, or of each of the `trials`, of whose
            quantiles it is the mean; nothing of what is none.
    """

    name: str
    label: str
    compute: Callable[[Any], Any]
    better: Literal["more", "less", ""] = ""
    shown: str = ""
    unit: str = ""
    scale: float = 1.0
    digits: int = 3
    needs: Needs = "flows"
    together: Literal["mean", "sum", ""] = "mean"
    in_summary: bool = True
    least: float = 0.0
    pool: Literal["flows", "trials", ""] = ""

    @property
    def head(self) -> str:
        """The label with the unit, as above a column."""
        return f"{self.label}, {self.unit}" if self.unit else self.label

    @property
    def over_trials(self) -> Metric:
        """Its mean over trials, which of trials' own quantiles is not the quantile of all their flows."""
        if self.pool != "flows":
            return self
        name, label = f"mean_of_trials_{self.name}", f"mean of trials' {self.label}"
        return replace(self, name=name, label=label, pool="trials")

    def in_gbps(self, packet_bytes: int) -> Metric:
        """Return a metric in packets/µs in Gb/s, with packets of a size."""
        return replace(self, unit="Gb/s", scale=1 / (8e-3 * packet_bytes), digits=2)

    def mean_interval(self, values: ArrayLike, alpha: float) -> tuple[float, float, float]:
        """Return a mean with its interval: by Student's t, on the log scale unless values may be negative."""
        return t_interval(values, alpha) if self.least < 0 else positive_interval(values, alpha, self.least)


def shown(table: Mapping[str, Metric], view: View) -> list[Metric]:
    """Return the metrics of a table that a view shows."""
    return [each for each in table.values() if view in each.shown.split()]


def means(trials: pd.DataFrame, metrics: Iterable[Metric]) -> dict[str, float | None]:
    """Return the mean of metrics over trials, and its standard error (`…_se`); None where nothing was measured."""
    found: dict[str, float | None] = {}
    for each in metrics:
        values, name = trials[each.name].dropna(), each.over_trials.name
        found[name] = float(values.mean()) if len(values) else None
        found[f"{name}_se"] = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else None
    return found


@dataclass(frozen=True)
class OverFlows:
    """A number of a trial: the mean of what its flows have, or a quantile."""

    of: Callable[[FlowTimes], Floats]
    quantile: float | None

    def __call__(self, trial: Outcome) -> float:
        """Return it; NaN where no flow says anything."""
        return statistic(self.of(trial.times.telling), self.quantile)


def statistic(values: Floats, p: float | None) -> float:
    """Return the mean of values, or a quantile; NaN without any."""
    if p is not None:
        return quantile(values, p)
    return float(values.mean()) if len(values) else math.nan


def _table(*rows: Metric, **same: Any) -> dict[str, Metric]:
    return {each.name: replace(each, **same) if same else each for each in rows}


def _round_trip(name: str) -> Metric:
    label = f"RTT {name.removeprefix('rtt_').removesuffix('_us').replace('p999', 'p99.9')}"
    usual = name in ("rtt_p50_us", "rtt_p99_us")
    row = Metric(name, label, lambda t: t.percentile(name), "less", unit="µs", digits=1, in_summary=usual)
    return replace(row, pool="trials")


SCORE: Metric = Metric(
    "score_bits", "score", lambda t: t.scores.score_bits, "more", "evaluate compare", unit="bits", least=-math.inf
)
"""The first column of trials; on a fabric, where it is of one trial, the utility computes it."""


def _gap(name: str, label: str, part: str) -> Metric:
    return Metric(name, label, lambda t: getattr(t.gap, part), "less", unit="bits", least=-math.inf)


BELOW_FAIR: Metric = _gap("below_fair_bits", "below what is possible", "total")
"""The gap of a trial to the fair share."""

GAP_PARTS: tuple[Metric, ...] = (
    _gap("utilisation_gap_bits", "lost to utilisation", "utilisation"),
    _gap("unfairness_gap_bits", "lost to unfairness", "unfairness"),
    _gap("delay_gap_bits", "lost to delay", "delay"),
)
"""Where the bits of that gap go, with the utilities of throughput and delay: they add up to it."""

NETWORK_TRIALS: dict[str, Metric] = _table(
    SCORE,
    Metric("throughput_share", "throughput share", lambda t: t.share, "more", "evaluate compare", "packets/µs"),
    Metric("throughput_over_link", "throughput / link", lambda t: t.over_link, "more", "evaluate campaign report"),
    Metric("delay_us", "mean delay", lambda t: t.means.delay_us, "less", "evaluate compare report", "µs", digits=1),
    Metric("delay_over_rtt", "delay / RTT", lambda t: t.delay_over_rtt, "less", "evaluate campaign report"),
    Metric("fairness", "unfairness", lambda t: t.means.fairness, "less", "report"),
    Metric("starved", "starved", lambda t: t.scores.starved, "less", "campaign report", digits=0, together="sum"),
    Metric("senders_counted", "senders counted", lambda t: t.scores.senders_counted, digits=0, together=""),
    Metric("stalled_flows", "stalled flows", lambda t: t.stalled_flows, "less", digits=0, together="sum"),
    Metric("loss_fraction", "lost packets", lambda t: t.loss_fraction, "less"),
    Metric("utilisation", "utilisation", lambda t: t.record.floats("trial_utilisation"), "more"),
    Metric("queue_mean_packets", "mean queue", lambda t: t.record.floats("trial_queue_mean_packets"), "less"),
    Metric("packets_delivered", "delivered", lambda t: t.record["trial_delivered"], unit="packets", together=""),
    *map(_round_trip, RTTS),
    BELOW_FAIR,
    *GAP_PARTS,
)
"""Columns of trials on networks; each is (trials,) of a batch."""


def of_network_trials(trials: Scored) -> dict[str, NDArray[Any]]:
    """Return all that trials on networks are measured by."""
    return {each.name: each.compute(trials) for each in NETWORK_TRIALS.values()}


COMPLETION: Metric = Metric("fct_us", "completion time", lambda f: f.at_least_us, "less", "", "ms", 1e3)
SLOWDOWN: Metric = Metric("slowdown", "slowdown", lambda f: f.slowdown, "less", least=1.0)

FLOWS: dict[str, Metric] = _table(COMPLETION, SLOWDOWN)
"""Columns of flows; each is (flows,), and of flows that did not finish the least that it can be."""


def of_flows(times: FlowTimes) -> dict[str, Floats]:
    """Return what flows are measured by; NaN where they did not finish."""
    return {each.name: np.where(times.finished, each.compute(times), np.nan) for each in FLOWS.values()}


QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def _over_flows(name: str, of: Metric, views: Mapping[str, str]) -> Iterator[Metric]:
    """Yield the mean over flows, and their quantiles, by a pattern of their names."""
    for word, p in {"mean": None, **QUANTILES}.items():
        label = f"mean {of.label}" if p is None else f"{of.label} p{100 * p:g}"
        row = Metric(name.format(word), label, OverFlows(of.compute, p), of.better, views.get(word, views[""]))
        same = replace(row, unit=of.unit, scale=of.scale, least=of.least, digits=2 if (p or 0) > 0.5 else 3)
        yield same if p is None else replace(same, pool="flows")


def _largest(column: str) -> Callable[[Outcome], float]:
    """Return what tells the largest value that a port of a switch has."""
    return lambda trial: float(
        np.max(trial.record[f"port_{column}"], where=trial.record["port_node"] >= trial.hosts, initial=0)
    )


def _total(column: str) -> Callable[[Outcome], int]:
    """Return what tells the sum over all ports or events."""
    return lambda trial: int(trial.record[column].sum())


def _busiest_gbps(trial: Outcome) -> float:
    """Return what the port of a switch that sends most sends, in the mean over the trial."""
    return _per_ns(trial, _largest("data_bytes")(trial) * 8)


def _delivered_gbps(trial: Outcome) -> float:
    return _per_ns(trial, float(trial.record["flow_delivered_bytes"].sum()) * 8)


def _per_ns(trial: Outcome, value: float) -> float:
    """Return a value over the trial's time; NaN of a trial without any, which has no flow."""
    end_ns = float(trial.record["end_ns"])
    return value / end_ns if end_ns else math.nan


def _jain_index(trial: Outcome) -> float:
    """Return (Σx)² / nΣx² of the flows' mean throughputs (Jain, Chiu and Hawe 1984); NaN where nothing arrived."""
    rates = trial.record["flow_delivered_bytes"][trial.started] / np.fmin(trial.times.taken, trial.times.so_far)
    return float(rates.sum() ** 2 / (len(rates) * (rates**2).sum())) if rates.any() else math.nan


def _of_jobs(name: str) -> Callable[[Outcome], float]:
    """Return what tells the mean over jobs of training."""
    return lambda trial: float(trial.job_times[name].to_numpy(dtype=np.float64).mean())


def _paused_us(trial: Outcome) -> float:
    return float(trial.record["port_paused_ns"].sum()) / 1000


def _retransmissions(trial: Outcome) -> int:
    return int(trial.record["retransmitted_packets"])


def _recovery_us(trial: Outcome) -> float:
    """Return the mean over events of the time until delivery is back, at least; NaN where none began."""
    took, so_far = trial.record["event_recovery_ns"], trial.record["end_ns"] - trial.record["event_ns"]
    begun = ~np.isnan(took)
    return float(np.minimum(took, so_far)[begun].mean()) / 1000 if begun.any() else math.nan


def _unfinished_percent(trial: Outcome) -> float:
    finished = trial.times.finished
    return 100 * float((~finished).mean()) if len(finished) else math.nan


ALL = "evaluate campaign report study"

FABRIC_TRIALS: dict[str, Metric] = (
    _table(
        Metric("flows", "flows", lambda t: len(t.times.size_bytes), digits=0),
        Metric("flows_finished", "flows that finished", lambda t: int(t.times.finished.sum()), "more", digits=0),
        Metric(
            "unfinished_percent",
            "unfinished flows",
            _unfinished_percent,
            "less",
            "campaign report study",
            "%",
            digits=2,
        ),
        *_over_flows("slowdown_{}", SLOWDOWN, {"mean": ALL, "p50": "evaluate report", "p99": ALL, "": "evaluate"}),
        *_over_flows("fct_{}_us", COMPLETION, {"mean": "study", "p99": "study", "": ""}),
        Metric("goodput_gbps", "goodput", lambda t: t.times.goodput_gbps, "more", "evaluate study", "Gb/s"),
    )
    | _table(
        Metric("rounds_finished", "rounds that ended", lambda t: int(t.rounds["finished"].sum()), digits=0),
        Metric("round_mean_us", "duration of rounds", mean_round_us, "less", "study", "ms", 1e3),
        Metric("round_max_us", "longest round", lambda t: float(t.rounds["took_us"].max()), "less", "", "ms", 1e3),
        needs="rounds",
        in_summary=False,
    )
    | _table(
        Metric("jobs_finished", "jobs that ended", lambda t: int(t.job_times["finished"].sum()), digits=0),
        Metric("iteration_us", "iteration", _of_jobs("iteration_us"), "less", ALL, "µs", digits=1),
        Metric(
            "exposed_us", "exposed communication", _of_jobs("exposed_us"), "less", ALL, "µs", digits=1, least=-math.inf
        ),
        Metric("job_over_bound", "time over bound", over_bound, "less", ALL),
        Metric("bus_gbps", "busbw", _of_jobs("bus_gbps"), "more", ALL, "Gb/s", digits=1),
        needs="jobs",
        in_summary=False,
    )
    | _table(
        Metric("queue_max_bytes", "largest queue", _largest("most_queued_bytes"), "less", "evaluate", "kB", 1e3, 1),
        Metric("queue_mean_bytes", "mean queue", _largest("mean_queued_bytes"), "less", ALL, "kB", 1e3, 1),
        Metric("queue_p99_bytes", "queue p99", _largest("p99_queued_bytes"), "less", ALL, "kB", 1e3, 1, pool="trials"),
        Metric("ecn_marks", "ECN marks", _total("port_marked_packets"), "less", "evaluate report", digits=0),
        Metric("pfc_pauses", "PFC pauses", _total("port_pauses_sent"), "less", "evaluate", digits=0),
        Metric("paused_us", "paused", _paused_us, "less", "evaluate report study", "µs", digits=1),
        Metric("drops", "drops", _total("port_drops"), "less", "evaluate", digits=0),
        Metric("retransmissions", "retransmissions", _retransmissions, "less", "evaluate", digits=0),
        Metric("packets", "data packets", lambda t: t.packets, "", "evaluate", digits=0),
        Metric("end_us", "end", lambda t: float(t.record["end_ns"]) / 1000, unit="µs", digits=1),
        needs="ports",
    )
    | _table(
        Metric("recovery_us", "recovery", _recovery_us, "less", "evaluate study", "µs", digits=1),
        Metric("lost_packets", "lost to failures", _total("event_lost_packets"), "less", "evaluate", digits=0),
        needs="events",
        in_summary=False,
    )
    | _table(
        Metric("busiest_port_gbps", "busiest port", _busiest_gbps, "more", unit="Gb/s"),
        Metric("delivered_gbps", "delivered", _delivered_gbps, "more", unit="Gb/s"),
        Metric("jain_index", "Jain's index", _jain_index, "more"),
        needs="ports",
        in_summary=False,
    )
    | _table(
        Metric("sizes_accuracy", "accuracy of sizes", sizes_accuracy, "more", needs="sizes", in_summary=False),
    )
)
"""Columns of trials on a fabric; each is a number of one trial.

A quantile of flows is that of the flows of the trial; of several trials it is that of all their flows
(`tail_quantile`), and the mean of trials' own quantiles has another name (`Metric.over_trials`).
Jobs of training: the mean time of an iteration; what of it no computation covers; the time over the least that chains
of messages and cuts of the fabric allow; and nccl-tests' busbw. Queues are those of the fullest port of a switch: the
largest over ports of what waited there at most, of the mean and of the p99 over the time of the trial. Marks, pauses
(frames), the time that ports stood paused, drops and retransmissions (packets) are sums over all ports; data packets
are those that hosts received. The busiest port counts data with headers, and again what is sent again; what is
delivered is payload, once, of unfinished flows too. The recovery is the mean over events, of those without one until
the end of the trial; packets lost to failures are data.
"""


OF_JOBS: dict[str, Metric] = {name: row for name, row in FABRIC_TRIALS.items() if row.needs == "jobs" and row.better}
"""Columns of jobs of training; each is a number of one job in one trial."""


def of_fabric_trial(trial: Outcome) -> dict[str, float | int]:
    """Return all that a trial on a fabric is measured by, but for its score."""
    has = {
        "flows": True,
        "rounds": not trial.rounds.empty,
        "jobs": not trial.job_times.empty,
        "ports": "port_node" in trial.record,
        "events": "event_ns" in trial.record,
        "sizes": "told_elephant_share" in trial.record,
    }
    return {each.name: each.compute(trial) for each in FABRIC_TRIALS.values() if has[each.needs]}


def _of_port(name: str, label: str, unit: str = "", scale: float = 1.0, whole: bool = True) -> Metric:
    kind = np.int64 if whole else np.float64
    return Metric(name, label, lambda t: t.record[f"port_{name}"].astype(kind), unit=unit, scale=scale, needs="ports")


PORTS: dict[str, Metric] = _table(
    _of_port("node", "node"),
    _of_port("peer", "peer"),
    _of_port("data_packets", "data packets"),
    _of_port("data_bytes", "data", "kB", 1e3),
    _of_port("ack_packets", "ACKs"),
    _of_port("marked_packets", "ECN marks"),
    _of_port("drops", "drops"),
    _of_port("most_queued_bytes", "largest queue", "kB", 1e3),
    _of_port("pauses_sent", "PFC pauses"),
    _of_port("pauses_received", "PFC pauses received"),
    _of_port("paused_ns", "paused", "µs", 1e3, whole=False),
    _of_port("mean_queued_bytes", "mean queue", "kB", 1e3, whole=False),
    _of_port("p99_queued_bytes", "queue p99", "kB", 1e3),
)
"""Columns of the directed ports of a trial on a fabric, of hosts too; each is (ports,)."""
