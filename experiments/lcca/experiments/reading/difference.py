"""Runs side by side: where their configurations, verdicts, scores and costs differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pandas as pd

from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.loaded_run import LoadedRun
from lcca.experiments.runs.manifest import leaves

PLACE = ["phase", "condition", "level", "utility", "candidate", "baseline"]
"""What makes two comparisons the same question; selected policies may come from other training seeds."""

POLICY = ["id", "condition", "utility"]
"""What makes two rows of policies the same one."""

MADE = ("kind", "version", "commit", "state")
"""Of the manifest, beside the keys of the configuration."""


@dataclass(frozen=True, eq=False)
class RunDifference:
    """What differs between runs.

    Attributes:
        runs: how many.
        config: a row per key (dotted) with another value: `key`, `value_1`, `value_2` … (None where a run has no such
            key); what the manifests say of version, commit and seed is among them.
        verdicts: a row per comparison of any: `PLACE`, then `difference`, `low`, `high`, `verdict` and `n`, each of
            all runs.
        scores: a row per policy of any: `POLICY`, then `score_bits`, `score_bits_low` and `score_bits_high` of all.
        costs: a row per phase of any: `name`, then `cpu_s`, `wall_s` and `trials`, each of all.
    """

    runs: int
    config: pd.DataFrame
    verdicts: pd.DataFrame
    scores: pd.DataFrame
    costs: pd.DataFrame

    def tables(self, names: Sequence[str]) -> list[Table]:
        """Return those that are not empty as text, a column for each run, headed by its name."""
        keys = [(row[0], *("–" if value is None else str(value) for value in row[1:])) for row in self.config.values]
        found = [
            Table("configuration, where it differs", ("key", *names), keys),
            Table(
                "comparisons, difference in bits", ("comparison", *names), self._cells(self.verdicts, _pair, _verdict)
            ),
            Table("score in bits", ("policy", *names), self._cells(self.scores, _policy, _score)),
            Table("costs", ("phase", *names), self._cells(self.costs, lambda row: str(row["name"]), _cost)),
        ]
        return [table for table in found if table.rows]

    def _cells(self, table: pd.DataFrame, name: Callable[[Any], str], cell: Callable[[Any, str], str]) -> Any:
        sides = [f"_{side}" for side in range(1, self.runs + 1)]
        return [(name(row), *(cell(row, side) for side in sides)) for row in table.to_dict("records")]


def difference(*runs: LoadedRun) -> RunDifference:
    """Return what differs between runs, of any kinds; of one, what it found and cost."""
    ends = ["score_bits", "score_bits_low", "score_bits_high"]
    return RunDifference(
        runs=len(runs),
        config=_configs(
            [{f"manifest.{k}": run.manifest.get(k) for k in MADE} | dict(leaves(run.config, "")) for run in runs]
        ),
        verdicts=_beside([run.verdicts for run in runs], PLACE, ["difference", "low", "high", "verdict", "n"]),
        scores=_beside([run.policies for run in runs], POLICY, ends).dropna(
            how="all", subset=_columns(ends, len(runs))
        ),
        costs=_beside([run.costs for run in runs], ["name"], ["cpu_s", "wall_s", "trials"]),
    )


def _configs(runs: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    values = {key: [run.get(key) for run in runs] for key in dict.fromkeys(key for run in runs for key in run)}
    rows = [(key, *each) for key, each in values.items() if any(value != each[0] for value in each)]
    return pd.DataFrame(rows, columns=["key", *_columns(["value"], len(runs))], dtype=object)


def _columns(names: Sequence[str], runs: int) -> list[str]:
    return [f"{name}_{side}" for name in names for side in range(1, runs + 1)]


def _beside(tables: Sequence[pd.DataFrame], key: Sequence[str], shown: Sequence[str]) -> pd.DataFrame:
    """Return tables side by side, rows with the same key in one, in the first's order."""
    keyed = [table.reindex(columns=[*key, *shown]).astype(dict.fromkeys(key, object)) for table in tables]
    named = [table.rename(columns={name: f"{name}_{i}" for name in shown}) for i, table in enumerate(keyed, 1)]
    again = [table.assign(again=table.groupby(list(key), dropna=False).cumcount()) for table in named]
    both = reduce(lambda one, two: one.merge(two, how="outer", on=[*key, "again"], sort=False), again)
    return both[[*key, *_columns(shown, len(tables))]]


def _pair(row: Mapping[str, Any]) -> str:
    where = {key: str(row[key]) for key in PLACE if not pd.isna(row[key]) and row[key] != ""}
    names = f"{where.pop('candidate')} against {where.pop('baseline')}"
    return f"{names} ({', '.join(where.values())})"


def _verdict(row: Mapping[str, Any], side: str) -> str:
    count = "" if pd.isna(row[f"n{side}"]) else f", n = {row[f'n{side}']:,.0f}"
    verdict = "" if pd.isna(row[f"verdict{side}"]) else f" {row[f'verdict{side}']}"
    return "–" if pd.isna(row[f"difference{side}"]) else f"{_ends(row, 'difference', side)}{verdict}{count}"


def _policy(row: Mapping[str, Any]) -> str:
    return ", ".join(str(row[key]) for key in POLICY if not pd.isna(row[key]) and row[key] != "")


def _score(row: Mapping[str, Any], side: str) -> str:
    return "–" if pd.isna(row[f"score_bits{side}"]) else _ends(row, "score_bits", side, "score_bits_")


def _ends(row: Mapping[str, Any], name: str, side: str, prefix: str = "") -> str:
    low, high = row[f"{prefix}low{side}"], row[f"{prefix}high{side}"]
    ends = "" if pd.isna(low) or pd.isna(high) else f" [{low:+.3f}, {high:+.3f}]"
    return f"{row[f'{name}{side}']:+.3f}{ends}"


def _cost(row: Mapping[str, Any], side: str) -> str:
    cpu, wall, trials = (row[f"{name}{side}"] for name in ("cpu_s", "wall_s", "trials"))
    return "–" if pd.isna(cpu) else f"{cpu:,.1f} s CPU, {wall:,.1f} s, {trials:,.0f} trials"
