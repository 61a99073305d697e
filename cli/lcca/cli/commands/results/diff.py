"""`lcca diff`: two runs side by side."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich.markup import escape
from rich.table import Table

from lcca.cli.options.common import add_json, print_json
from lcca.cli.printing.console import wide_console
from lcca.evaluation.trials.loaded_run import load_run
from lcca.experiments.reading.difference import PLACE, SIDES, difference

EXAMPLES = """\
  lcca diff results/quickstart/0123456789ab results/quickstart/ba9876543210"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("first", type=Path, metavar="RUN1", help="a run's folder")
    parser.add_argument("second", type=Path, metavar="RUN2", help="another's")
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whether they differ or not."""
    found = difference(load_run(options.first), load_run(options.second))
    if options.json:
        print_json({name: getattr(found, name).to_dict("records") for name in ("config", "verdicts", "costs")})
        return 0
    runs = (str(options.first), str(options.second))
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
    return 0


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
