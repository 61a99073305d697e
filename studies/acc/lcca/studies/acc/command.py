"""`lcca acc`: learn how switches should mark, and hold that against static marking."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcca.cli.options.campaign import add_campaign, run_each
from lcca.cli.options.common import print_visible
from lcca.evaluation.trials.layout import MODEL, SUMMARY

if TYPE_CHECKING:
    from lcca.studies.acc.config import FabricAcc

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
    from lcca.experiments.runs.grid import read_grid
    from lcca.studies.acc.config import FabricAcc
    from lcca.studies.acc.recipe import costs

    return run_each(options, read_grid(options.config, FabricAcc, options.overrides), costs, _run)


def _run(options: argparse.Namespace, config: FabricAcc, folder: Path) -> dict[str, Any]:
    from lcca.studies.acc.printing import print_acc
    from lcca.studies.acc.recipe import acc

    summary = acc(config, out=folder, resume=True, quiet=False, jobs=options.jobs, executor=options.executor).content
    if options.json:
        return summary
    for name in dict.fromkeys(each["condition"] for each in summary["policies"]):
        print_acc(summary, name)
    model = f"model: {folder / MODEL}\n" if (folder / MODEL).exists() else ""
    print_visible(f"\n{model}summary: {folder / SUMMARY}")
    return summary
