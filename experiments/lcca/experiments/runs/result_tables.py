"""Tables of what a run has found: policies, verdicts, looks and learning curves, of every kind of run alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.stored import read_json, read_table
from lcca.evaluation.trials.tables import ADVICE
from lcca.experiments.runs.policy_names import words_of

Json = dict[str, Any]


def result_of(folder: Path) -> Json:
    """Return what a run has found: its summary, its estimate, or its estimates by duration; empty if there is none."""
    files = (folder / name for name in (layout.SUMMARY, layout.ESTIMATE, layout.DURATIONS))
    return next((found for file in files if (found := _json(file))), {})


def policies(result: Json, learnt: pd.DataFrame) -> pd.DataFrame:
    """Return a row per policy, or per policy and condition or metric where it was measured under several."""
    found = _table([_flat(row) for row in _policies(result)])
    if "policy_base" not in learnt or found.empty:
        return found
    spent = learnt.groupby("policy_base")[["trials", "packets"]].max().add_prefix("training_")
    return found.join(spent, on="id")


def verdicts(folder: Path, result: Json) -> pd.DataFrame:
    """Return a row per comparison, with the candidates of A and B as `baseline` and `candidate`."""
    return _table([_verdict(row) for row in comparisons_of(folder, result)])


def looks(folder: Path, result: Json) -> pd.DataFrame:
    """Return a row per look at a comparison, or at an estimate."""
    told = ("phase", "condition", "level", "A", "B", "utility")
    compared = comparisons_of(folder, result)
    rows = [{key: row[key] for key in told if key in row} | look for row in compared for look in row.get("history", ())]
    asked = ("metric", "quantile")
    for each in estimates_of(result):
        rows += [{key: each[key] for key in asked} | look for look in each.get("looks", ())]
    return _table(rows)


def learning(folder: Path, result: Json) -> pd.DataFrame:
    """Return learning curves: of a campaign's trainings or of ACC; or what a tuning tried."""
    if "curve" in result:
        return pd.DataFrame({"part": range(len(result["curve"])), "utility": result["curve"]})
    file = next((folder / name for name in (layout.LEARNING, layout.CANDIDATES) if (folder / name).exists()), None)
    return pd.DataFrame() if file is None else read_table(file, ADVICE)


def _table(rows: list[Json]) -> pd.DataFrame:
    """Return JSON records as a table: numbers are numbers where some are unknown, too."""
    table = pd.DataFrame(rows)
    filled = table.fillna(float("nan")).infer_objects()
    return table.assign(**{str(name): filled[name] for name in filled.select_dtypes("number")})


def _json(file: Path) -> Json:
    return read_json(file, ADVICE) if file.exists() else {}


def _policies(result: Json) -> Iterable[Json]:
    if "policies" in result:
        return [_trained(row) for row in result["policies"]]
    if "standings" in result:
        return [{"id": row["policy"], "utility": result["utility"], **row} for row in result["standings"]]
    if result.get("kind") == "tune":
        return [{"id": name, **result[name]} for name in ("default", "tuned")]
    if result.get("kind") == layout.STUDY:
        met = ((one["name"], row) for one in result["scenarios"] for row in one["measured"])
        return [{"id": row["contender"], "condition": name, **_measures(row["measures"])} for name, row in met]
    if found := estimates_of(result):
        return [{"id": result["policy"], **{k: v for k, v in row.items() if not isinstance(v, list)}} for row in found]
    tests = result.get("tests", {})
    return [
        {"id": name, "condition": test, **row}
        for test, found in tests.items()
        for name, row in found["controllers"].items()
    ]


def estimates_of(result: Json) -> list[Json]:
    """Return a record per metric of an estimation; none of another run."""
    if "metrics" in result:
        return list(result["metrics"])
    kept = ("metric", "quantile", "estimate", "low", "high", "confidence", "trials", "accurate", "looks")
    return [{key: result.get(key) for key in kept}] if "estimate" in result else []


def _measures(measures: Json) -> Json:
    """Return the means of measures, and the ends of their intervals as `<measure>_low` and `<measure>_high`."""
    means = {name: found["mean"] for name, found in measures.items()}
    return means | {f"{name}_{end}": found[end] for name, found in measures.items() for end in ("low", "high")}


def _trained(row: Json) -> Json:
    """Return a policy of a sweep's summary in this package's words, with its means over its training's networks."""
    kept = {key: value for key, value in row.items() if key not in ("signal_set", "test", "trained")}
    return {"id": kept.pop("id"), "candidate": row["signal_set"], **kept, **row["trained"]}


def _flat(row: Mapping[str, Any]) -> Json:
    """Return a record without records in it: `parameters: {alpha: 2}` becomes `parameters_alpha: 2`."""
    found: Json = {}
    for key, value in row.items():
        found |= {f"{key}_{k}": v for k, v in value.items()} if isinstance(value, Mapping) else {key: value}
    return found


def _verdict(row: Json) -> Json:
    """Return a comparison without lists and records in it."""
    told = {key: value for key, value in row.items() if key not in ("history", "likely_n")}
    told |= dict(zip(("likely_n_low", "likely_n_high"), row.get("likely_n") or (None, None), strict=True))
    if isinstance(percent := told.pop("throughput_equivalent_percent", None), Mapping):
        ends = {f"throughput_equivalent_percent_{end}": percent[end] for end in ("low", "high")}
        told |= {"throughput_equivalent_percent": percent["difference"], **ends}
    names = {"baseline": row["A"], "candidate": row["B"]}
    found = {side: words_of(name, row.get("utility", "")) for side, name in names.items()}
    return told | {side: words[0] if (words := found[side]) else name for side, name in names.items()}


def comparisons_of(folder: Path, result: Json) -> list[Json]:
    """Return the comparisons of a run with `phase` and `condition`, and their looks where these are kept."""
    if result.get("kind") == "acc":
        return [
            {"phase": layout.TEST, "condition": test, "A": name, "B": "acc", **row}
            for test, found in result["tests"].items()
            for name, row in found["acc_minus"].items()
        ]
    if result.get("kind") == layout.STUDY:
        return [{"phase": layout.SCENARIO, "condition": each["scenario"], **each} for each in result["comparisons"]]
    phase = layout.RANK if "standings" in result else layout.TEST
    tested = (
        _json(folder / layout.VERDICTS).get("comparisons") or result.get("comparisons") or [result.get("comparison")]
    )
    return [{"phase": phase, "condition": "", **each} for each in tested if each] + _elsewhere(result)


def _elsewhere(result: Json) -> list[Json]:
    """Return a campaign's comparisons under other conditions, and in ns-3."""
    return [
        {"phase": phase, "condition": record[condition], **each}
        for phase, key, condition in (
            (layout.GENERALISATION, "generalisation", "condition"),
            (layout.NS3_VALIDATION, "ns3", "topology"),
        )
        for record in result.get(key, ())
        for each in record["comparisons"]
    ]
