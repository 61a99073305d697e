"""`lcca tune`: the best parameters of a congestion control for a network space."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcca.cli.options.campaign import add_campaign, run_each
from lcca.cli.options.common import print_visible
from lcca.evaluation.trials.layout import OPTUNA, POLICY
from lcca.inputs.errors import require

if TYPE_CHECKING:
    from lcca.experiments.tuning.config import TuningConfig

EXAMPLES = """\
  lcca tune configs/tuning/vegas.yaml
  lcca tune configs/tuning/bbr.yaml --set tuner.trials=40 --jobs 8
  lcca tune configs/tuning/cubic.yaml --set 'tuner.sampler={kind: tpe}' --json
  lcca tune configs/tuning/dcqcn.yaml
  lcca tune configs/tuning/bbr.yaml --join"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_campaign(parser)
    parser.add_argument(
        "--join",
        action="store_true",
        help="join a run of another process as a worker; results stay the same",
    )
    parser.add_argument(
        "--storage", metavar="URL", help="Optuna's database, for processes that share no disk (default: SQLite)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from lcca.experiments.recipes.tune import costs
    from lcca.experiments.runs.grid import read_grid
    from lcca.experiments.tuning.config import TuningConfig

    require(options.plan or not (options.join and options.json), "--json: the process that leads has the result")
    return run_each(options, read_grid(options.config, TuningConfig, options.overrides), costs, _run)


def _run(options: argparse.Namespace, config: TuningConfig, folder: Path) -> dict[str, Any]:
    from lcca.cli.printing.campaigns import print_tuning
    from lcca.experiments.recipes.kept import reported
    from lcca.experiments.recipes.tune import tune
    from lcca.experiments.tuning.search import join

    if options.join:
        join(config, folder, jobs=options.jobs, executor=options.executor, storage=options.storage)
        return {}
    how = {"resume": True, "jobs": options.jobs, "executor": options.executor, "storage": options.storage}
    summary = tune(config, out=folder, quiet=False, **how).content
    if options.json:
        return summary
    report = reported(config, folder)
    print_tuning(summary)
    print_visible(f"\npolicy: {folder / POLICY}\nreport: {report}")
    url = options.storage or f"sqlite:///{folder / OPTUNA}"
    print_visible(f"candidates one by one: optuna-dashboard {url}")
    return summary
