"""`lcca runs`: the runs below a folder, with what they have found."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from lcca.cli.options.common import print_json, print_visible
from lcca.inputs.options import frozen, option

EXAMPLES = """\
  lcca runs
  lcca runs results/quickstart --json"""


@frozen
class Runs:
    folder: Path = option("(default: results)", Path("results"))


def run(verb: Runs, options: argparse.Namespace) -> int:
    from lcca.cli.printing.console import print_table
    from lcca.evaluation.report.words.table import Table
    from lcca.experiments.reading.listing import HEADS, runs_in

    found = runs_in(verb.folder)
    if options.json:
        print_json({"runs": [asdict(line) | {"folder": str(line.folder)} for line in found]})
    elif found:
        rows = [line.words() for line in found]
        print_table(Table("", HEADS, rows, left=[head for head in HEADS if head not in ("CPU time", "trials")]))
    else:
        print_visible(f"no run in {verb.folder}")
    return 0
