"""What each kind of run tells of its policies, as records for one table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from lcca.experiments.runs.kinds import ACC, AGREE, ESTIMATE, EVALUATE, RANK, STUDY, SWEEP, TUNE

Json = dict[str, Any]


def policy_rows(kind: str, result: Json) -> list[Json]:
    """Return a record per policy, or per policy and condition, network or metric if it was measured under several."""
    make = _ROWS.get(kind)
    return [_flat(row) for row in make(result)] if make and result else []


def estimates_of(result: Json) -> list[Json]:
    """Return a record per metric of an estimation; none of another run."""
    if "metrics" in result:
        return list(result["metrics"])
    kept = ("metric", "quantile", "estimate", "low", "high", "confidence", "trials", "accurate", "looks")
    return [{key: result.get(key) for key in kept}] if "estimate" in result else []


def _sweep(result: Json) -> list[Json]:
    """Return the policies in this package's words, with their means over the networks of their trainings."""
    left_out = ("id", "signal_set", "test", "trained")
    return [
        {"id": row["id"], "candidate": row["signal_set"]}
        | {key: value for key, value in row.items() if key not in left_out}
        | row["trained"]
        for row in result["policies"]
    ]


def _rank(result: Json) -> list[Json]:
    return [{"id": row["policy"], "utility": result["utility"], **row} for row in result["standings"]]


def _evaluate(result: Json) -> list[Json]:
    """Return a row per network, or of a fabric one per policy."""
    if "policies" in result:
        return [{"id": row["policy"], **row} for row in result["policies"]]
    rows = ({key: math.inf if value == "inf" else value for key, value in row.items()} for row in result["rows"])
    return [{**row, "id": result["policy"], "network": row["id"]} for row in rows]


def _agree(result: Json) -> list[Json]:
    return [{"id": row["policy"], **row} for row in result["agreement"]]


def _as_written(result: Json) -> list[Json]:
    return list(result["policies"])


def _estimate(result: Json) -> list[Json]:
    """Return a row per metric, or per duration where those were tried alone."""
    found = estimates_of(result) or [{"metric": result["metric"], **row} for row in result.get("rows", ())]
    return [{"id": result.get("policy", ""), **row} for row in found]


_ROWS: dict[str, Callable[[Json], list[Json]]] = {
    SWEEP.name: _sweep,
    RANK.name: _rank,
    EVALUATE.name: _evaluate,
    AGREE.name: _agree,
    TUNE.name: _as_written,
    STUDY.name: _as_written,
    ESTIMATE.name: _estimate,
    ACC.name: _as_written,
}


def _flat(row: Mapping[str, Any]) -> Json:
    """Return a record without records and lists in it.

    A mean with its interval becomes `<name>`, `<name>_low` and `<name>_high`, and `parameters: {alpha: 2}` becomes
    `parameters_alpha: 2`.
    """
    found: Json = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            names = {name: key if name in ("mean", "estimate") else f"{key}_{name}" for name in value}
            found |= {names[name]: each for name, each in value.items()}
        elif not isinstance(value, list):
            found[key] = value
    return found
