"""`lcca verdict`: every verdict of a run again, from its stored trials alone."""

from __future__ import annotations

import argparse

from lcca.cli.options.common import OfRun, print_json, print_visible
from lcca.evaluation.trials import layout

EXAMPLES = """\
  lcca verdict results/quickstart/*/
  lcca verdict results/quickstart/*/ --json"""


def run(verb: OfRun, options: argparse.Namespace) -> int:
    """Run the command: exit status 1 if the stored verdicts.json says something else."""
    from lcca.cli.printing.tables import print_verdicts
    from lcca.evaluation.trials.stored import read_json
    from lcca.experiments.reading.verdicts import verdicts_of

    content = verdicts_of(verb.run_folder)
    stored = verb.run_folder / layout.VERDICTS
    same = not stored.is_file() or read_json(stored, "delete it and resume") == content
    if options.json:
        print_json(content)
    else:
        print_verdicts(content)
        print_visible(f"as stored in {layout.VERDICTS}" if same else f"{stored} differs: was it or a trial changed?")
    return 0 if same else 1
