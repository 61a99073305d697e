"""`lcca acc`: learn how switches should mark, and hold that against static marking."""

from __future__ import annotations

import argparse

from lcca.cli.options.campaign import add_campaign, config_and_folder
from lcca.cli.options.common import print_json, print_visible
from lcca.cli.options.trials import print_costs
from lcca.evaluation.trials.layout import MODEL, SUMMARY

EXAMPLES = """\
  lcca acc studies/acc/configs/fabric.yaml
  lcca acc studies/acc/configs/fabric-smoke.yaml --json
  lcca acc studies/acc/configs/fabric.yaml --set trainer.dqn.steps=50000"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_campaign(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from lcca.studies.acc.config import FabricAcc
    from lcca.studies.acc.printing import print_acc
    from lcca.studies.acc.recipe import acc, costs

    config, folder = config_and_folder(options, FabricAcc)
    if options.plan:
        print_costs(options, costs(config, options.jobs))
        return 0
    summary = acc(config, out=folder, resume=True, quiet=False, jobs=options.jobs, executor=options.executor).content
    if options.json:
        print_json(summary)
        return 0
    for name in dict.fromkeys(each["condition"] for each in summary["policies"]):
        print_acc(summary, name)
    model = f"model: {folder / MODEL}\n" if (folder / MODEL).exists() else ""
    print_visible(f"\n{model}summary: {folder / SUMMARY}")
    return 0
