"""`lcca runs`: the runs below a folder, with what they have found."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from lcca.cli.options.common import add_json, print_json, print_visible
from lcca.cli.printing.console import wide_console
from lcca.experiments.reading.listing import RunLine, runs_in

EXAMPLES = """\
  lcca runs
  lcca runs results/quickstart --json"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("folder", type=Path, nargs="?", default=Path("results"), help="(default: results)")
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    found = runs_in(options.folder)
    if options.json:
        print_json({"runs": [asdict(line) | {"folder": str(line.folder)} for line in found]})
    elif found:
        _print(found)
    else:
        print_visible(f"no run in {options.folder}")
    return 0


def _print(found: list[RunLine]) -> None:
    table = Table()
    for name in ("folder", "kind", "name", "state", "changed", "CPU time", "trials", "found"):
        table.add_column(name, justify="right" if name in ("CPU time", "trials") else "left", overflow="fold")
    for line in found:
        changed = datetime.fromtimestamp(line.changed).strftime("%Y-%m-%d %H:%M")
        words = (line.folder, line.kind, line.name, line.state, changed, cpu_time(line.cpu_s), f"{line.trials:,}")
        table.add_row(*(escape(str(word)) for word in (*words, line.headline)))
    wide_console().print(table)


def cpu_time(seconds: float) -> str:
    """Return seconds in a unit that suits them."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
