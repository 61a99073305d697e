"""`lcca tune`: the best parameters of a congestion control for a network space."""

from __future__ import annotations

import argparse
from typing import Any

from rich.markup import escape
from rich.table import Table

from lcca.cli.options.campaign import add_campaign, config_and_folder
from lcca.cli.options.common import print_json
from lcca.cli.printing.console import wide_console
from lcca.cli.printing.tables import print_comparison
from lcca.evaluation.report.words.statements import interval
from lcca.evaluation.trials.layout import POLICY
from lcca.experiments.tuning.config import TuningConfig
from lcca.experiments.tuning.run import DEFAULT, TUNED, join, tune
from lcca.inputs.errors import require

EXAMPLES = """\
  lcca tune configs/tuning/vegas.yaml
  lcca tune configs/tuning/bbr.yaml --set tuner.trials=40 --jobs 8
  lcca tune configs/tuning/cubic.yaml --set 'tuner.sampler={kind: tpe}' --resume --json
  lcca tune configs/tuning/dcqcn.yaml
  lcca tune configs/tuning/bbr.yaml --join"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_campaign(parser)
    parser.add_argument(
        "--join", action="store_true", help="help the run that another process leads; this never changes its result"
    )
    parser.add_argument(
        "--storage", metavar="URL", help="Optuna's database, for processes that share no disk (default: SQLite)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    config, folder = config_and_folder(options, TuningConfig)
    if options.join:
        require(not options.json, "--json: the process that leads has the result")
        join(config, folder, jobs=options.jobs, storage=options.storage)
        return 0
    summary = tune(config, folder, jobs=options.jobs, resume=options.resume, storage=options.storage)
    if options.json:
        print_json(summary)
        return 0
    _print(summary)
    print(f"\npolicy: {folder / POLICY}")
    return 0


def _print(summary: dict[str, Any]) -> None:
    table = Table(title=f"{escape(summary['policy'])} in {summary['simulator']}, utility {summary['utility']}")
    unit = summary["unit"]
    for name in ("", "parameters", f"score on the search's {unit}", f"on fresh {unit} (bits)", unit):
        table.add_column(name, justify="left" if name in ("", "parameters") else "right", overflow="fold")
    for name in (DEFAULT, TUNED):
        one = summary[name]
        table.add_row(
            name,
            escape(
                ", ".join(
                    f"{key}={value:.6g}" if isinstance(value, float) else f"{key}={value}"
                    for key, value in one["parameters"].items()
                )
            ),
            f"{one['search_score_bits']:.3f}",
            interval(one["score_bits"], one["low"], one["high"], "{:.3f}"),
            str(one["networks"]),
        )
    console = wide_console()
    console.print(table)
    tried = ", ".join(f"{count} {state}" for state, count in summary["candidates"].items())
    console.print(f"candidates: {tried}; {summary['network_trials']} trials", style="dim", markup=False)
    if summary["comparison"] is None:
        console.print("no candidate was better than the policy's own parameters", markup=False)
    else:
        print_comparison(summary["comparison"])
