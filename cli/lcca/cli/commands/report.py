"""`lcca report`: draw a run's report anew."""

from __future__ import annotations

import argparse
from pathlib import Path

from lcca.cli.options.common import add_json, print_json
from lcca.cli.tables import print_policies, print_verdicts
from lcca.evaluation.report.report import render
from lcca.evaluation.trials import layout
from lcca.experiments.runs.manifest import read_summary

EXAMPLES = """\
  lcca report results/quickstart/*/"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("run_folder", type=Path, help="a run's folder")
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    folder: Path = options.run_folder
    summary = read_summary(folder)
    render(folder)
    if options.json:
        print_json({"report": str(folder / layout.REPORT), "figures": str(folder / layout.FIGURES)})
        return 0
    print_policies(summary)
    print_verdicts(summary)
    print(f"\nreport: {folder / layout.REPORT}")
    return 0
