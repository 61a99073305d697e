"""What trials on a fabric say of each transport: means and quantiles with intervals over trials."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from lcca.evaluation.estimation.tails import tail_quantile
from lcca.evaluation.fabric.metrics import QUANTILES, SIZE_CLASSES
from lcca.evaluation.fabric.trials import FabricTrial
from lcca.evaluation.settling.intervals import ONE_SAMPLE, positive_interval, t_interval
from lcca.evaluation.trials.outcome import FlowTimes
from lcca.evaluation.trials.ratio import Ratio

Value = dict[str, float]
"""A mean, or a quantile of all flows, and its interval from low to high."""

CONFIDENCE = 0.95
POOLED = {f"{what}_{name}{unit}" for what, unit in (("slowdown", ""), ("fct", "_us")) for name in QUANTILES}
"""Columns of a trial whose quantiles are not a mean over trials here, but those of all flows."""


def summary(trials: Iterable[FabricTrial], utility: Ratio) -> list[dict[str, Any]]:
    """Return a row per transport: score, metrics and metrics by size, each with an interval over trials.

    Means are over trials, by Student's t, but for scores on the log scale. Quantiles of slowdowns are those of all
    flows of all trials, by Woodruff's interval with trials as clusters (`tail_quantile`); flows that did not finish
    count with what they take at least.
    `difference_bits` is that of scores from the first transport, over the seeds that both have met. `note` says of
    trials that are equal bit for bit that they are one sample.
    """
    found: dict[str, list[FabricTrial]] = {}
    for each in trials:
        found.setdefault(each.policy, []).append(each)
    tables = {name: pd.DataFrame([each.row(utility) for each in group]) for name, group in found.items()}
    first = next(iter(tables.values()))["score_bits"].to_numpy() if tables else np.array([])
    return [
        {"id": name}
        | _means(table)
        | {"difference_bits": _value(t_interval(table["score_bits"].to_numpy() - first, 1 - CONFIDENCE))}
        | _slowdowns([each.times for each in found[name]])
        | {"by_size": _by_size([each.times for each in found[name]]), "note": _note(found[name])}
        for name, table in tables.items()
    ]


def _means(table: pd.DataFrame) -> dict[str, Any]:
    counted = {name: int(table[name].sum()) for name in ("flows", "flows_finished")}
    rest = table.drop(columns=["policy", "seed", *counted, *POOLED])
    return {"trials": len(table), **counted} | {str(name): _mean(str(name), rest[name]) for name in rest}


def _mean(name: str, values: ArrayLike) -> Value:
    if name == "score_bits":
        return _value(t_interval(values, 1 - CONFIDENCE))
    return _value(positive_interval(values, 1 - CONFIDENCE, least=1.0 if name.startswith("slowdown") else 0.0))


def _note(trials: Sequence[FabricTrial]) -> str:
    first, *others = (each.times.slowdown for each in trials)
    return ONE_SAMPLE if others and len(first) and all(np.array_equal(first, each) for each in others) else ""


def _slowdowns(times: Sequence[FlowTimes]) -> dict[str, Value]:
    slowdowns = [each.slowdown for each in times]
    return {f"slowdown_{name}": _quantile(slowdowns, p) for name, p in QUANTILES.items()}


def _by_size(times: Sequence[FlowTimes]) -> list[dict[str, Any]]:
    """Return a row per class of sizes that any flow has."""
    edges = (0.0, *SIZE_CLASSES, math.inf)
    rows = []
    for low, high in pairwise(edges):
        parts = [each.of_sizes(low, high) for each in times]
        flows = sum(len(each.size_bytes) for each in parts)
        means = [float(each.slowdown.mean()) for each in parts if len(each.size_bytes)]
        if flows:
            mean = _mean("slowdown", means)
            rows.append({"size_from": low, "size_to": high, "flows": flows, "slowdown_mean": mean} | _slowdowns(parts))
    return rows


def _quantile(slowdowns: Sequence[Any], p: float) -> Value:
    if not sum(len(each) for each in slowdowns):
        return _value((math.nan, math.nan, math.nan))
    found = tail_quantile(slowdowns, p, confidence=CONFIDENCE)
    return _value((found.value, found.low, found.high))


def _value(found: tuple[float, float, float]) -> Value:
    return dict(zip(("mean", "low", "high"), found, strict=True))
