"""`lcca report`: write the page of a run of any kind, or say what an unfinished campaign has found so far."""

from __future__ import annotations

import argparse

from lcca.cli.options.common import OfRun, print_json, print_visible
from lcca.evaluation.trials import layout

EXAMPLES = """\
  lcca report results/quickstart/*/
  lcca report results/rank-space/0123456789ab"""


def run(verb: OfRun, options: argparse.Namespace) -> int:
    from lcca.cli.printing.tables import print_result
    from lcca.evaluation.report.report import render
    from lcca.experiments.runs.manifest import read_so_far, read_summary

    folder = verb.run_folder
    if (found := read_so_far(folder)) is not None:
        if options.json:
            print_json(found)
            return 0
        print_result(found)
        print("\nnot finished: these are the training seeds so far; lcca sweep CONFIG goes on, and writes the report")
        return 0
    summary = read_summary(folder)
    render(folder)
    if options.json:
        print_json({"report": str(folder / layout.REPORT), "figures": str(folder / layout.FIGURES)})
        return 0
    print_result(summary)
    print_visible(f"\nreport: {folder / layout.REPORT}")
    return 0
