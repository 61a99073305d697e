"""`lcca stress`: networks where a policy loses most against others, confirmed on fresh trials."""

from __future__ import annotations

import argparse

from lcca.cli.options.common import print_json, print_visible
from lcca.cli.options.running import report_failures, run_or_plan
from lcca.studies.stress.verb import Stress

EXAMPLES = """\
  lcca stress configs/policies/e2e.json --against configs/policies/law-e2e.json --on configs/networks/default.yaml
  lcca stress aimd --against fixed-window:12 fixed-window:24 --on configs/networks/default.yaml --candidates 200
  lcca stress law.json --against ideal-fair --on space.yaml --set 'rtt={min: 10, max: 200, step: 10}'
  lcca stress law.json --against aimd --on configs/networks/default.yaml --metric delay_us --json"""


def run(verb: Stress, options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever is confirmed."""
    from lcca.cli.printing.console import print_table
    from lcca.evaluation.report.words.statements import capital
    from lcca.studies.stress.recipe import HARD_NETWORKS, stressing
    from lcca.studies.stress.report.words import hard_table, hard_words

    if (result := run_or_plan(stressing(verb), verb, options)) is None:
        return 0
    if options.json:
        print_json(result.content)
    else:
        print_table(hard_table(result.content), f"{capital(hard_words(result.content))}.")
        if result.folder is not None and (file := result.folder / HARD_NETWORKS).exists():
            print_visible(f"those networks: {file}")
    return report_failures(list(result.rows["error"]))
