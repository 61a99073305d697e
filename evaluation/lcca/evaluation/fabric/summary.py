"""What trials on a fabric say of each transport: means and quantiles with intervals over trials."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from lcca.evaluation.fabric.merit import merits, unfinished_percent
from lcca.evaluation.fabric.trials import FabricTrial
from lcca.evaluation.settling.base import UNFINISHED_PERCENT
from lcca.evaluation.settling.intervals import ONE_SAMPLE, t_interval
from lcca.evaluation.settling.quantiles import tail_quantiles
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, OF_JOBS, QUANTILES, SCORE, SLOWDOWN, Metric
from lcca.evaluation.trials.outcome import FlowTimes
from lcca.evaluation.trials.ratio import Ratio, unfinished_of

Value = dict[str, float]
"""A `mean` over trials, or as `value` a quantile of all flows, and its interval from low to high."""

CONFIDENCE = 0.95
SIZE_CLASSES = (10_000, 100_000, 1_000_000, 10_000_000)
"""Bytes at which a new class of sizes begins."""

COUNTED = ("flows", "flows_finished")
"""Of these sums over trials are given."""


def summary(trials: Iterable[FabricTrial], utility: Ratio) -> list[dict[str, Any]]:
    """Return a row per transport: score, metrics and metrics by size, each with an interval over trials.

    Means are over trials, by Student's t, but for scores on the log scale. Quantiles of slowdowns are those of all
    flows of all trials, by Woodruff's interval with trials as clusters (`tail_quantiles`); flows that did not finish
    count with what they take at least, so that numbers are lower bounds where `unfinished` (of what the utility scores)
    or `flows` less `flows_finished` say so, unless some are left out, of which `silent` is the number: they had less
    time than they take alone.
    `difference_bits` is that of scores from the first transport, over the seeds that both have met. `note` says of
    trials that are equal bit for bit that they are one sample. `merit` is that of `merits`. `by_job` has the jobs of
    training, where there are any.
    """
    found: dict[str, list[FabricTrial]] = {}
    for each in trials:
        found.setdefault(each.policy, []).append(each)
    merit = merits(each for group in found.values() for each in group)
    tables = {name: pd.DataFrame([each.row(utility) for each in group]) for name, group in found.items()}
    scores = {name: table["score_bits"].to_numpy() for name, table in tables.items()}
    unfinished = unfinished_of(pd.concat(tables.values()), utility)
    bounds = {name for name, each in unfinished.items() if each.exceeds(UNFINISHED_PERCENT)}
    unknown = {name for name, group in found.items() if unfinished_percent(group) > UNFINISHED_PERCENT}
    for name in tables:
        if name in bounds or next(iter(tables)) in bounds:  # differences of bounds say nothing
            scores[name] = np.full(len(scores[name]), np.nan)
        if unknown & {name, merit[name]["against"]}:
            merit[name]["difference_bits"] = dict.fromkeys(("value", "low", "high"), math.nan)
    return [
        {"id": name, "trials": len(table)}
        | {counted: int(table[counted].sum()) for counted in COUNTED}
        | {"silent": _silent([each.times for each in found[name]])}
        | {each.name: _mean(each, table[each.name]) for each in _averaged(table)}
        | {"difference_bits": _value(t_interval(scores[name] - next(iter(scores.values())), 1 - CONFIDENCE))}
        | _slowdowns([each.times.telling for each in found[name]])
        | {"by_size": _by_size([each.times for each in found[name]]), "merit": merit[name], "note": _note(found[name])}
        | {"unfinished": unfinished[name].to_json() if name in unfinished else None}
        | ({"by_job": jobs} if (jobs := by_job(pd.concat([each.job_times for each in found[name]]))) else {})
        for name, table in tables.items()
    ]


def _averaged(table: pd.DataFrame) -> list[Metric]:
    """Return the metrics that have a mean over trials here."""
    measured = [each for each in (SCORE, *FABRIC_TRIALS.values()) if each.name in table and each.name not in COUNTED]
    return [each for each in measured if each.pool != "flows"]


def _mean(metric: Metric, values: ArrayLike) -> Value:
    return _value(metric.mean_interval(values, 1 - CONFIDENCE))


def _slowdowns(times: Sequence[FlowTimes]) -> dict[str, Value]:
    slowdowns = [each.slowdown for each in times]
    if not sum(map(len, slowdowns)):
        return {f"slowdown_{name}": dict.fromkeys(("value", "low", "high"), math.nan) for name in QUANTILES}
    found = tail_quantiles(slowdowns, QUANTILES.values(), confidence=CONFIDENCE)
    each = ({"value": one.value, "low": one.low, "high": one.high} for one in found)
    return dict(zip(map("slowdown_{}".format, QUANTILES), each, strict=True))


def _silent(times: Sequence[FlowTimes]) -> int:
    return sum(len(each.size_bytes) - len(each.telling.size_bytes) for each in times)


def _by_size(times: Sequence[FlowTimes]) -> list[dict[str, Any]]:
    """Return a row per class of sizes that any flow has."""
    rows = []
    for low, high in pairwise((0.0, *SIZE_CLASSES, math.inf)):
        sized = [each.of_sizes(low, high) for each in times]
        flows, parts = sum(len(each.size_bytes) for each in sized), [each.telling for each in sized]
        unfinished = sum(int((~each.finished).sum()) for each in sized)
        means = [float(each.slowdown.mean()) for each in parts if len(each.size_bytes)]
        if flows:
            mean = _mean(SLOWDOWN, means)
            row = {"size_from": low, "size_to": high, "flows": flows, "unfinished": unfinished, "slowdown_mean": mean}
            rows.append(row | {"silent": _silent(sized)} | _slowdowns(parts))
    return rows


def by_job(found: pd.DataFrame, unit: str = "") -> list[dict[str, Any]]:
    """Return a row per job of training; of one that did not end in a trial the time of that trial counts.

    Args:
        found: a row per trial and job, as `FabricTrial.job_times`.
        unit: column of what trials have in common whose means are averaged; the trials themselves if left out.
    """
    rows = []
    for job, own in found.groupby("job"):
        values = own.groupby(unit)[[*OF_JOBS]].mean() if unit else own
        row = {name: _mean(each, values[name].to_numpy(dtype=np.float64)) for name, each in OF_JOBS.items()}
        unfinished = len(own) - int(own["finished"].sum())
        rows.append({"job": job, "trials": len(own), "unfinished": unfinished} | row)
    return rows


def _value(found: tuple[float, float, float]) -> Value:
    return dict(zip(("mean", "low", "high"), found, strict=True))


def _note(trials: Sequence[FabricTrial]) -> str:
    first, *others = (each.times.telling.slowdown for each in trials)
    return ONE_SAMPLE if others and len(first) and all(np.array_equal(first, each) for each in others) else ""
