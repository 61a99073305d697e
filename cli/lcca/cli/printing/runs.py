"""The tables of `lcca runs` and `lcca diff`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import pandas as pd
from rich.markup import escape
from rich.table import Table

from lcca.cli.printing.console import wide_console
from lcca.experiments.reading.difference import PLACE, SIDES, RunDifference
from lcca.experiments.reading.listing import RunLine


def print_runs(found: list[RunLine]) -> None:
    """Print a line per run."""
    table = Table()
    for name in ("folder", "kind", "name", "state", "changed", "CPU time", "trials", "found"):
        table.add_column(name, justify="right" if name in ("CPU time", "trials") else "left", overflow="fold")
    for line in found:
        changed = datetime.fromtimestamp(line.changed).strftime("%Y-%m-%d %H:%M")
        words = (line.folder, line.kind, line.name, line.state, changed, _cpu_time(line.cpu_s), f"{line.trials:,}")
        table.add_row(*(escape(str(word)) for word in (*words, line.headline)))
    wide_console().print(table)


def _cpu_time(seconds: float) -> str:
    """Return seconds in a unit that suits them."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def print_difference(found: RunDifference, first: str, second: str) -> None:
    """Print in what two runs differ, under their names."""
    runs = (first, second)
    if len(found.config):
        _print("configuration, where it differs", ("key", *runs), found.config.itertuples(index=False))
    else:
        print("the configurations are the same")
    if len(found.verdicts):
        _print(
            "comparisons, difference in bits", ("comparison", *runs), map(_verdicts, found.verdicts.to_dict("records"))
        )
    if len(found.costs):
        _print("costs", ("phase", *runs), map(_costs, found.costs.to_dict("records")))


def _print(title: str, heads: Sequence[str], rows: Any) -> None:
    table = Table(title=title)
    for head in heads:
        table.add_column(escape(head), overflow="fold")
    for row in rows:
        table.add_row(*(escape(_text(each)) for each in row))
    wide_console().print(table)


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
