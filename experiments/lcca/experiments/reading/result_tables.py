"""Tables of what a run has found: policies, verdicts, looks and learning curves, of every kind of run alike."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.stored import read_json, read_table
from lcca.evaluation.trials.tables import ADVICE, training_costs
from lcca.experiments.reading.policy_rows import estimates_of, policy_rows
from lcca.experiments.runs.kinds import ACC, COMPARE, RANK, STUDY, TUNE
from lcca.experiments.runs.policy_names import words_of

Json = dict[str, Any]

NET = {"mean": "", "low": "_low", "high": "_high"}
"""Keys of a net share, and what its columns' names end in."""


def result_of(folder: Path) -> Json:
    """Return what a run has found: its summary, its estimate, or its estimates by duration; empty if there is none."""
    files = (folder / name for name in (layout.SUMMARY, layout.ESTIMATE, layout.DURATIONS))
    return next((found for file in files if (found := _json(file))), {})


def policies(kind: str, result: Json, learnt: pd.DataFrame) -> pd.DataFrame:
    """Return `policy_rows` as a table, with what the trainings of a sweep took."""
    found, spent = _table(policy_rows(kind, result)), training_costs(learnt)
    return found if found.empty or spent.empty else found.join(spent, on="id")


def verdicts(comparisons: list[Json]) -> pd.DataFrame:
    """Return a row per comparison, with the candidates of A and B as `baseline` and `candidate`."""
    return _table([_verdict(row) for row in comparisons])


def looks(comparisons: list[Json], result: Json) -> pd.DataFrame:
    """Return a row per look at a comparison, or at an estimate."""
    told = ("phase", "condition", "level", "A", "B", "utility")
    rows = [{k: row[k] for k in told if k in row} | look for row in comparisons for look in row.get("history", ())]
    asked = ("metric", "quantile")
    for each in estimates_of(result):
        rows += [{key: each[key] for key in asked} | look for look in each.get("looks", ())]
    return _table(rows)


def shares(result: Json) -> pd.DataFrame:
    """Return a row per pair of candidates, metric and utility: on what share of networks they differ."""
    told = ("utility", "A", "B", "metric", "training_seeds", "alpha")
    rows = []
    for each in result.get("per_network", ()):
        row = {key: each.get(key) for key in told}  # runs of earlier versions have less
        for side in ("better_percent", "worse_percent"):
            row |= {side: each[side]["mean"], f"{side}_sd": each[side]["sd"]}
        net = each.get("net_percent") or {}
        ends = {key: None if end is None else min(max(end, -100.0), 100.0) for key, end in net.items()}
        rows.append(row | {f"net_percent{end}": ends.get(key) for key, end in NET.items()})
    return _table(rows)


def learning(folder: Path, result: Json) -> pd.DataFrame:
    """Return learning curves: of a campaign's trainings or of ACC; or what a tuning tried."""
    if "curve" in result:
        return pd.DataFrame({"part": range(len(result["curve"])), "utility": result["curve"]})
    file = next((folder / name for name in (layout.LEARNING, layout.CANDIDATES) if (folder / name).exists()), None)
    return pd.DataFrame() if file is None else read_table(file, ADVICE)


def comparisons_of(folder: Path, kind: str, result: Json) -> list[Json]:
    """Return the comparisons of a run with `phase` and `condition`, and their looks where these are kept."""
    if kind in (TUNE.name, STUDY.name, ACC.name):
        return list(result.get("comparisons", ()))
    if kind in (COMPARE.name, RANK.name):
        found = [result] if kind == COMPARE.name and result else result.get("comparisons", [])
        return [{"phase": kind, "condition": "", **each} for each in found]
    told = _json(folder / layout.VERDICTS) or result
    found = told.get("comparisons", ())
    return [{"phase": layout.TEST, "condition": "", **each} for each in found if each] + _elsewhere(result)


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


def _verdict(row: Json) -> Json:
    """Return a comparison without lists and records in it."""
    told = {key: value for key, value in row.items() if key not in ("history", "likely_n", "ideal")}
    told |= dict(zip(("likely_n_low", "likely_n_high"), row.get("likely_n") or (None, None), strict=True))
    if isinstance(percent := told.pop("throughput_equivalent_percent", None), Mapping):
        ends = {f"throughput_equivalent_percent_{end}": percent[end] for end in ("low", "high")}
        told |= {"throughput_equivalent_percent": percent["difference"], **ends}
    names = {"baseline": row["A"], "candidate": row["B"]}
    found = {side: words_of(name, row.get("utility", "")) for side, name in names.items()}
    return told | {side: words[0] if (words := found[side]) else name for side, name in names.items()}


def _table(rows: list[Json]) -> pd.DataFrame:
    """Return JSON records as a table: numbers are numbers where some are unknown, too."""
    table = pd.DataFrame(rows)
    filled = table.fillna(float("nan")).infer_objects()
    return table.assign(**{str(name): filled[name] for name in filled.select_dtypes("number")})


def _json(file: Path) -> Json:
    return read_json(file, ADVICE) if file.exists() else {}
