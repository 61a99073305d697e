"""`lcca sweep`: a whole campaign."""

from __future__ import annotations

import argparse
from typing import Any

from lcca.campaigns.commands.campaign import add_campaign, campaign_of
from lcca.campaigns.commands.options import command, print_json
from lcca.campaigns.commands.policies import add_topology
from lcca.campaigns.sweep import sweep
from lcca.campaigns.tables import print_policies, print_verdicts
from lcca.evaluation.executors import EXECUTORS

EXAMPLES = """\
  lcca sweep configs/quickstart.yaml
  lcca sweep configs/quickstart.yaml --resume
  lcca sweep configs/paper/signals-default.yaml --set training_seeds=[1,2] --jobs 2
  lcca sweep configs/smoke.yaml --out /tmp/smoke --json"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = command(commands, "sweep", "Train, pick, test and report a whole campaign.", EXAMPLES)
    add_campaign(parser)
    parser.add_argument(
        "--executor",
        choices=EXECUTORS,
        default="local",
        help="where trials run: threads here, worker processes, or a Ray cluster; never changes a result",
    )
    add_topology(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.topology:
        options.overrides = [*options.overrides, f"networks.topology={options.topology}"]
    config, folder = campaign_of(options)
    result = sweep(config, folder, jobs=options.jobs, resume=options.resume, place=options.executor)
    if options.json:
        print_json(result.summary)
        return 0
    print_policies(result.summary)
    print_verdicts(result.summary)
    print(f"\nreport: {result.folder / 'report.html'}")
    return 0
