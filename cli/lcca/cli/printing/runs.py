"""The tables of `lcca runs` and `lcca diff`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pandas as pd

from lcca.cli.printing.console import print_table
from lcca.evaluation.report.words.table import Table
from lcca.experiments.reading.difference import PLACE, SIDES, RunDifference
from lcca.experiments.reading.listing import RunLine


def print_runs(found: list[RunLine]) -> None:
    """Print a line per run."""
    head = ("folder", "kind", "name", "state", "changed", "CPU time", "trials", "found")
    rows = [
        (
            *(str(line.folder), line.kind, line.name, line.state),
            datetime.fromtimestamp(line.changed).strftime("%Y-%m-%d %H:%M"),
            *(_cpu_time(line.cpu_s), f"{line.trials:,}", line.headline),
        )
        for line in found
    ]
    print_table(Table("", head, rows, {*head} - {"CPU time", "trials"}))


def _cpu_time(seconds: float) -> str:
    """Return seconds in a unit that suits them."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def print_difference(found: RunDifference, first: str, second: str) -> None:
    """Print in what two runs differ, under their names."""
    for title, column, rows in (
        (
            "configuration, where it differs",
            "key",
            [tuple(map(_text, row)) for row in found.config.itertuples(index=False)],
        ),
        ("comparisons, difference in bits", "comparison", list(map(_verdicts, found.verdicts.to_dict("records")))),
        ("costs", "phase", list(map(_costs, found.costs.to_dict("records")))),
    ):
        if rows:
            print_table(Table(title, (column, first, second), rows, left=3))
        elif column == "key":
            print("the configurations are the same")


def _text(value: Any) -> str:
    return "–" if value is None else str(value)


def _verdicts(row: Mapping[Any, Any]) -> tuple[str, ...]:
    told = {key: str(row[key]) for key in PLACE if not pd.isna(row[key]) and row[key] != ""}
    names = f"{told.pop('candidate')} against {told.pop('baseline')}"
    return (f"{names} ({', '.join(told.values())})", *(_verdict(row, side) for side in SIDES))


def _verdict(row: Mapping[Any, Any], side: str) -> str:
    value, low, high = (row[f"{name}{side}"] for name in ("difference", "low", "high"))
    if pd.isna(value):
        return "–"
    ends = "" if pd.isna(low) or pd.isna(high) else f" [{low:+.3f}, {high:+.3f}]"
    count = "" if pd.isna(row[f"n{side}"]) else f", n = {row[f'n{side}']:,.0f}"
    return f"{value:+.3f}{ends} {'' if pd.isna(row[f'verdict{side}']) else row[f'verdict{side}']}{count}"


def _costs(row: Mapping[Any, Any]) -> tuple[str, ...]:
    return (row["name"], *(_cost(row, side) for side in SIDES))


def _cost(row: Mapping[Any, Any], side: str) -> str:
    cpu, wall, trials = (row[f"{name}{side}"] for name in ("cpu_s", "wall_s", "trials"))
    return "–" if pd.isna(cpu) else f"{cpu:,.1f} s CPU, {wall:,.1f} s, {trials:,.0f} trials"
