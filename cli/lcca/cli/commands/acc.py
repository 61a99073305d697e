"""`lcca acc`: learn how switches should mark, and hold that against static marking."""

from __future__ import annotations

import argparse
from typing import Any

from lcca.cli.options.campaign import add_campaign, config_and_folder
from lcca.cli.options.common import print_json, print_visible
from lcca.cli.options.trials import print_costs
from lcca.cli.printing.console import print_table
from lcca.evaluation.report.words.statements import interval
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.layout import MODEL, SUMMARY
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, SCORE, Metric, shown
from lcca.experiments.ecn.config import ACC, FabricAcc
from lcca.experiments.recipes.acc import acc, costs

EXAMPLES = """\
  lcca acc configs/acc/fabric.yaml
  lcca acc configs/acc/fabric-smoke.yaml --json
  lcca acc configs/acc/fabric.yaml --set trainer.dqn.steps=50000"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_campaign(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    config, folder = config_and_folder(options, FabricAcc)
    if options.plan:
        print_costs(options, costs(config, options.jobs))
        return 0
    summary = acc(config, out=folder, resume=True, quiet=False, jobs=options.jobs, executor=options.executor).content
    if options.json:
        print_json(summary)
        return 0
    for name in dict.fromkeys(each["condition"] for each in summary["policies"]):
        _print(summary, name)
    model = f"model: {folder / MODEL}\n" if (folder / MODEL).exists() else ""
    print_visible(f"\n{model}summary: {folder / SUMMARY}")
    return 0


def _print(summary: dict[str, Any], condition: str) -> None:
    rows, found = (
        [each for each in summary[key] if each["condition"] == condition] for key in ("policies", "comparisons")
    )
    held_out = ", held out" if condition in summary.get("held_out", ()) else ""
    metrics = [each for each in (SCORE, *shown(FABRIC_TRIALS, "campaign")) if each.name in rows[0]]
    head = ("", *(each.head for each in metrics), f"acc − this one ({found[0]['unit']})", "acc is")
    verdicts = {each["A"]: _verdict(each) for each in found} | {ACC: ("", "")}
    cells = [(row["id"], *(_cell(row[each.name], each) for each in metrics), *verdicts[row["id"]]) for row in rows]
    print_table(Table(f"tested on {condition}{held_out}", head, cells))


def _cell(value: Any, metric: Metric) -> str:
    mean = value["mean"] if isinstance(value, dict) else value
    return "–" if mean is None else f"{mean / metric.scale:.{metric.digits}f}"


def _verdict(found: dict[str, Any]) -> tuple[str, str]:
    words = interval(found["difference"], found["low"], found["high"], "{:+.4f}")
    return words, f"{found['verdict']} ({found['n']} pairs)"
