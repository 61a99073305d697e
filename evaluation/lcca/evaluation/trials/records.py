"""The records of a result, of any kind of run, as tables."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import chain
from typing import Any

import pandas as pd

from lcca.evaluation.trials.policy_names import words_of

Json = dict[str, Any]

NET = {"mean": "", "low": "_low", "high": "_high"}
"""Keys of a net share, and what its columns' names end in."""


FORMER_QUANTILES = re.compile(r"(slowdown|fct)_p\d+(_us)?(_se)?")
"""Keys in format 2 of means of trials' own quantiles, but in evaluations of quantiles of all trials' flows."""


def renamed(result: Json) -> Json:
    """Return a result with the keys of today: in format 2 others stood for quantiles and their means over trials."""
    pooled = result.get("kind") == "evaluate"

    def part(value: Any, means: bool = True) -> Any:
        if isinstance(value, list):
            return [part(each, means) for each in value]
        if not isinstance(value, Mapping):
            return value
        found: Json = {}
        for key, each in value.items():
            quantile = FORMER_QUANTILES.fullmatch(key)
            name = "value" if key == "mean" and not means else key
            name = f"mean_of_trials_{key}" if quantile and not pooled else name
            found[name] = part(each, means and key != "merit" and not (quantile and pooled))
        return found

    return part(result) if result.get("format") == 2 else result


def policies(result: Json) -> pd.DataFrame:
    """Return a row per record of `policies`; of a training with its means over the networks of its training seed."""
    rows = []
    for record in result.get("policies", ()):
        row = {key: value for key, value in record.items() if key not in ("id", "signal_set", "test", "trained")}
        candidate = {"candidate": record["signal_set"]} if "signal_set" in record else {}
        rows.append(_flat({"id": record["id"]} | candidate | row | record.get("trained", {})))
    return _table(rows)


def estimates(result: Json) -> pd.DataFrame:
    """Return a row per record of `estimates`."""
    return _table([_flat(row) for row in result.get("estimates", ())])


def agreement(result: Json) -> pd.DataFrame:
    """Return a row per record of `agreement`, of `lcca agree` or of the validation in ns-3."""
    both = chain(result.get("agreement", ()), *(each["agreement"] for each in result.get("ns3", ())))
    return _table([_flat(row) for row in both])


def verdicts(comparisons: list[Json]) -> pd.DataFrame:
    """Return a row per comparison, with the candidates of A and B as `baseline` and `candidate`."""
    return _table([_verdict(row) for row in comparisons])


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


def looks(comparisons: list[Json], result: Json) -> pd.DataFrame:
    """Return a row per look at a comparison, or at an estimate."""
    told = ("phase", "condition", "level", "A", "B", "utility", "metric", "quantile")
    both = [(row, row.get("history", ())) for row in comparisons]
    both += [(row, row.get("looks", ())) for row in result.get("estimates", ())]
    return _table([{key: row[key] for key in told if key in row} | look for row, looks in both for look in looks])


def shares(result: Json) -> pd.DataFrame:
    """Return a row per pair of candidates, metric and utility: on what share of networks they differ."""
    rows = []
    for each in result.get("per_network", ()):
        row = {key: each[key] for key in ("utility", "A", "B", "metric", "training_seeds", "alpha")}
        for side in ("better_percent", "worse_percent"):
            row |= {side: each[side]["mean"], f"{side}_sd": each[side]["sd"]}
        net = each.get("net_percent") or {}
        ends = {key: None if end is None else min(max(end, -100.0), 100.0) for key, end in net.items()}
        rows.append(row | {f"net_percent{end}": ends.get(key) for key, end in NET.items()})
    return _table(rows)


def _flat(row: Mapping[str, Any]) -> Json:
    """Return a record without records and lists in it.

    A mean or another value with its interval becomes `<name>`, `<name>_low` and `<name>_high`, and
    `parameters: {alpha: 2}` becomes `parameters_alpha: 2`.
    """
    found: Json = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            found |= {key if name in ("mean", "value") else f"{key}_{name}": each for name, each in value.items()}
        elif not isinstance(value, list):
            found[key] = math.inf if value == "inf" else value
    return found


def _table(rows: list[Json]) -> pd.DataFrame:
    """Return JSON records as a table: numbers are numbers where some are unknown, too."""
    table = pd.DataFrame(rows)
    filled = table.fillna(float("nan")).infer_objects()
    return table.assign(**{str(name): filled[name] for name in filled.select_dtypes("number")})
