"""Two runs side by side: where their configurations, verdicts and costs differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from lcca.evaluation.trials.loaded_run import LoadedRun
from lcca.experiments.runs.manifest import leaves

PLACE = ["phase", "condition", "level", "utility", "candidate", "baseline"]
"""What makes two comparisons the same question; selected policies may come from other training seeds."""

SIDES = ("_1", "_2")


@dataclass(frozen=True, eq=False)
class RunDifference:
    """What differs between two runs.

    Attributes:
        config: a row per key (dotted) with another value: `key`, `value_1`, `value_2` (None where a run has no such
            key); what the manifests say of version, commit and seed is among them.
        verdicts: a row per comparison of either: `PLACE`, then `difference`, `low`, `high`, `verdict` and `n`, each of
            both runs.
        costs: a row per phase of either: `name`, then `cpu_s`, `wall_s` and `trials`, each of both.
    """

    config: pd.DataFrame
    verdicts: pd.DataFrame
    costs: pd.DataFrame


def difference(first: LoadedRun, second: LoadedRun) -> RunDifference:
    """Return what differs between two runs, of any kinds."""
    return RunDifference(
        config=_configs(_told(first), _told(second)),
        verdicts=_beside(first.verdicts, second.verdicts, PLACE, ["difference", "low", "high", "verdict", "n"]),
        costs=_beside(first.costs, second.costs, ["name"], ["cpu_s", "wall_s", "trials"]),
    )


def _told(run: LoadedRun) -> dict[str, Any]:
    made = {f"manifest.{key}": run.manifest.get(key) for key in ("kind", "version", "commit", "state")}
    return made | dict(leaves(run.config, ""))


def _configs(first: Mapping[str, Any], second: Mapping[str, Any]) -> pd.DataFrame:
    keys = dict.fromkeys((*first, *second))
    rows = [(key, first.get(key), second.get(key)) for key in keys if first.get(key) != second.get(key)]
    return pd.DataFrame(rows, columns=["key", "value_1", "value_2"], dtype=object)


def _beside(first: pd.DataFrame, second: pd.DataFrame, key: Sequence[str], shown: Sequence[str]) -> pd.DataFrame:
    """Return two tables side by side, rows with the same key in one, in the first's order."""
    tables = [table.reindex(columns=[*key, *shown]) for table in (first, second)]
    keyed = [table.assign(again=table.groupby(list(key), dropna=False).cumcount()) for table in tables]
    both = keyed[0].merge(keyed[1], how="outer", on=[*key, "again"], suffixes=SIDES, sort=False)
    return both.drop(columns="again")[[*key, *(f"{name}{side}" for name in shown for side in SIDES)]]
