"""`lcca tune`: the best parameters of a congestion control for a network space."""

from __future__ import annotations

import argparse
from typing import Any

from lcca.cli.options.campaign import add_campaign, config_and_folder
from lcca.cli.options.common import print_json, print_visible
from lcca.cli.options.trials import print_costs
from lcca.cli.printing.console import print_table
from lcca.cli.printing.tables import print_comparison
from lcca.evaluation.report.words.statements import interval
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.layout import OPTUNA, POLICY
from lcca.experiments.recipes.tune import costs, tune
from lcca.experiments.tuning.config import TuningConfig
from lcca.experiments.tuning.search import join
from lcca.inputs.errors import require
from lcca.remy_plus.switches.markers import MARKERS
from lcca.remy_plus.switches.transports import Transport
from lcca.signal_sets.load import resolve

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
        "--join", action="store_true", help="help the run that another process leads; this never changes its result"
    )
    parser.add_argument(
        "--storage", metavar="URL", help="Optuna's database, for processes that share no disk (default: SQLite)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    config, folder = config_and_folder(options, TuningConfig)
    if options.plan:
        print_costs(options, costs(config, options.jobs))
        return 0
    if options.join:
        require(not options.json, "--json: the process that leads has the result")
        join(config, folder, jobs=options.jobs, executor=options.executor, storage=options.storage)
        return 0
    how = {"resume": True, "jobs": options.jobs, "executor": options.executor, "storage": options.storage}
    summary = tune(config, out=folder, quiet=False, **how).content
    if options.json:
        print_json(summary)
        return 0
    _print(summary)
    print_visible(f"\npolicy: {folder / POLICY}")
    url = options.storage or f"sqlite:///{folder / OPTUNA}"
    print_visible(f"candidates one by one: optuna-dashboard {url}")
    return 0


def _print(summary: dict[str, Any]) -> None:
    unit = summary["unit"]
    head = ("", "parameters", f"score on the search's {unit}", f"on fresh {unit} (bits)", unit)
    rows = [
        (
            each["id"],
            ", ".join(map(_named, each["parameters"].items())),
            f"{each['search_score_bits']:.3f}",
            interval(score["mean"], score["low"], score["high"], "{:.3f}"),
            str(each["trials"]),
        )
        for each in summary["policies"]
        for score in [each["score_bits"]]
    ]
    tried = ", ".join(f"{count} {state}" for state, count in summary["candidates"].items())
    notes = [f"candidates: {tried}; {summary['network_trials']} trials"]
    if not summary["comparisons"]:
        notes.append("no candidate was better than the policy's own parameters")
    title = f"{summary['policy']} in {summary['simulator']}, utility {summary['utility']}"
    print_table(Table(title, head, rows, left=2), *notes)
    for each in summary["comparisons"]:
        print_comparison(each)
    print_to_paste(summary)


def print_to_paste(summary: dict[str, Any]) -> None:
    """Print the tuned parameters as settings of hardware have them: three digits, with units, kB in place of bytes."""
    values = summary["policies"][-1]["parameters"]
    policy = resolve(summary["policy"], summary["simulator"]).policy
    units = policy.with_parameters(values).units() if isinstance(policy, Transport) else {}
    rows = [(name, *_rounded(value, units.get(name, ""))) for name, value in values.items()]
    notes = ["thresholds of markers are for ports of 100 Gb/s, and go with the rate"] * any(map(_by_rate, values))
    print_table(Table("tuned, to paste", ("parameter", "value", "unit"), rows, ("parameter", "unit")), *notes)


def _rounded(value: Any, unit: str) -> tuple[str, str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value), unit
    shown, unit = (value / 1000, "kB") if unit == "bytes" else (value, unit)
    return f"{float(f'{shown:.3g}'):.12g}", unit


def _by_rate(name: str) -> bool:
    kind, _, parameter = name.partition(".")
    return kind in MARKERS and parameter in MARKERS[kind].knobs and MARKERS[kind].knobs[parameter].by_rate


def _named(parameter: tuple[str, Any]) -> str:
    key, value = parameter
    return f"{key}={value:.6g}" if isinstance(value, float) else f"{key}={value}"
