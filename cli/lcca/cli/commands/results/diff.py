"""`lcca diff`: runs side by side."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from lcca.cli.options.common import print_json
from lcca.inputs.options import argument, frozen

EXAMPLES = """\
  lcca diff results/quickstart/0123456789ab results/quickstart/ba9876543210"""


@frozen
class Diff:
    first: Path = argument("a run's folder", name="RUN1")
    others: Sequence[Path] = argument("another's", name="RUN")


def run(verb: Diff, options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whether they differ or not."""
    from lcca.cli.printing.console import print_table
    from lcca.evaluation.trials.loaded_run import load_run
    from lcca.experiments.reading.difference import difference

    folders = [verb.first, *verb.others]
    found = difference(*map(load_run, folders))
    if options.json:
        names = ("config", "verdicts", "scores", "costs")
        print_json({name: getattr(found, name).to_dict("records") for name in names})
        return 0
    if found.config.empty:
        print("the configurations are the same")
    for table in found.tables([str(folder) for folder in folders]):
        print_table(table)
    return 0
