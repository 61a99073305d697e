"""`lcca acc`: learn how switches should mark, and hold that against static marking."""

from __future__ import annotations

import argparse
from typing import Any

from rich.markup import escape
from rich.table import Table

from lcca.cli.options.campaign import add_campaign, config_and_folder
from lcca.cli.options.common import print_json
from lcca.cli.printing.console import wide_console
from lcca.evaluation.report.words.statements import interval
from lcca.evaluation.trials.layout import MODEL, SUMMARY
from lcca.experiments.campaign.config import read_with_files
from lcca.experiments.ecn.fabric_config import FabricAcc
from lcca.experiments.ecn.fabric_run import run_fabric_acc
from lcca.experiments.ecn.run import ACC, AccCampaign, run_acc

EXAMPLES = """\
  lcca acc configs/acc/acc.yaml
  lcca acc configs/acc/smoke.yaml --json
  lcca acc configs/acc/fabric.yaml
  lcca acc configs/acc/acc.yaml --set trainer.dqn.steps=50000 --resume"""

COLUMNS = {
    "utility": "{:.4f}",
    "small_fct_p50_us": "{:.0f}",
    "small_fct_p99_us": "{:.0f}",
    "small_slowdown_p99": "{:.1f}",
    "queue_p95": "{:.0f}",
    "queue_p99": "{:.0f}",
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_campaign(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command: in ns-3, or on a fabric where the configuration names one."""
    if "fabric" in read_with_files(options.config, FabricAcc, options.overrides, options.seed).data:
        return _on_fabric(options)
    config, folder = config_and_folder(options, AccCampaign)
    summary = run_acc(config, folder, jobs=options.jobs, resume=options.resume)
    if options.json:
        print_json(summary)
        return 0
    for name, test in summary["tests"].items():
        _print(name, test)
    print(f"\nsummary: {folder / SUMMARY}")
    return 0


def _on_fabric(options: argparse.Namespace) -> int:
    config, folder = config_and_folder(options, FabricAcc)
    summary = run_fabric_acc(config, folder, jobs=options.jobs, resume=options.resume)
    if options.json:
        print_json(summary)
        return 0
    for name, test in summary["tests"].items():
        _print_scenario(name, test, name in {each.name for each in config.held_out})
    print(f"\nmodel: {folder / MODEL}\nsummary: {folder / SUMMARY}")
    return 0


def _print_scenario(name: str, test: dict[str, Any], held_out: bool) -> None:
    table = Table(title=f"fresh flows of {escape(name)}{', held out' if held_out else ''}")
    table.add_column("")
    for column in ("mean score (bits)", "slowdown", "slowdown p99", "mean queue, kB"):
        table.add_column(column, justify="right")
    table.add_column("acc − this one (bits)", justify="right")
    table.add_column("acc is")
    for each, row in test["controllers"].items():
        queue = row["queue_mean_bytes"] / 1000
        figures = [f"{row[key]:.3f}" for key in ("score_bits", "slowdown_mean", "slowdown_p99")]
        table.add_row(escape(each), *figures, f"{queue:.1f}", *(("", "") if each == ACC else _verdict(test, each)))
    wide_console().print(table)


def _verdict(test: dict[str, Any], name: str) -> tuple[str, str]:
    found = test["acc_minus"][name]
    words = interval(found["difference"], found["low"], found["high"], "{:+.4f}")
    return words, f"{found['verdict']} ({found['n']} pairs)"


def _print(name: str, test: dict[str, Any]) -> None:
    table = Table(title=f"on the {name}: small flows' completion times (µs), queue (packets)")
    table.add_column("")
    for column in COLUMNS:
        table.add_column(column.replace("small_", "").replace("_us", "").replace("_", " "), justify="right")
    table.add_column("acc − this one, utility", justify="right")
    table.add_column("acc is")
    for each, row in test["controllers"].items():
        figures = ["–" if row[c] is None else form.format(row[c]) for c, form in COLUMNS.items()]
        table.add_row(each, *figures, *(("", "") if each == ACC else _standing(test["acc_minus"][each])))
    wide_console().print(table)


def _standing(against: dict[str, Any]) -> tuple[str, str]:
    words = interval(against["mean"], against["low"], against["high"], "{:+.4f}")
    return words, f"{against['acc_is']} ({against['pairs']} pairs)"
