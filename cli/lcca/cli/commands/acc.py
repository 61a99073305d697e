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
from lcca.experiments.ecn.config import ACC
from lcca.experiments.recipes.acc import acc, form_of

EXAMPLES = """\
  lcca acc configs/acc/acc.yaml
  lcca acc configs/acc/smoke.yaml --json
  lcca acc configs/acc/fabric.yaml
  lcca acc configs/acc/acc.yaml --set trainer.dqn.steps=50000 --resume"""

COLUMNS = {
    "score": ("utility", "{:.4f}", 1),
    "small_fct_p50_us": ("small flows' FCT p50, µs", "{:.0f}", 1),
    "small_fct_p99_us": ("p99, µs", "{:.0f}", 1),
    "small_slowdown_p99": ("slowdown p99", "{:.1f}", 1),
    "queue_p95": ("queue p95, packets", "{:.0f}", 1),
    "queue_p99": ("queue p99, packets", "{:.0f}", 1),
    "score_bits": ("mean score (bits)", "{:.3f}", 1),
    "slowdown_mean": ("slowdown", "{:.3f}", 1),
    "slowdown_p99": ("slowdown p99", "{:.3f}", 1),
    "queue_mean_bytes": ("mean queue, kB", "{:.1f}", 1000),
}
"""What is shown of what was measured: head, format and unit; what a place does not measure is left out."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_campaign(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command: in ns-3, or on a fabric where the configuration names one."""
    config, folder = config_and_folder(options, form_of(options.config, options.overrides))
    summary = acc(config, out=folder, resume=options.resume, quiet=False, jobs=options.jobs).content
    if options.json:
        print_json(summary)
        return 0
    for name in dict.fromkeys(each["condition"] for each in summary["policies"]):
        _print(summary, name)
    model = f"model: {folder / MODEL}\n" if (folder / MODEL).exists() else ""
    print(f"\n{model}summary: {folder / SUMMARY}")
    return 0


def _print(summary: dict[str, Any], condition: str) -> None:
    rows, found = (
        [each for each in summary[key] if each["condition"] == condition] for key in ("policies", "comparisons")
    )
    held_out = ", held out" if condition in summary.get("held_out", ()) else ""
    table = Table(title=f"tested on {escape(condition)}{held_out}")
    shown = {key: how for key, how in COLUMNS.items() if key in rows[0]}
    table.add_column("")
    for head, _, _ in shown.values():
        table.add_column(head, justify="right")
    table.add_column(f"acc − this one ({found[0]['unit']})", justify="right")
    table.add_column("acc is")
    verdicts = {each["A"]: _verdict(each) for each in found} | {ACC: ("", "")}
    for row in rows:
        cells = [_cell(row[key], form, unit) for key, (_, form, unit) in shown.items()]
        table.add_row(escape(row["id"]), *cells, *verdicts[row["id"]])
    wide_console().print(table)


def _cell(value: Any, form: str, unit: float) -> str:
    mean = value["mean"] if isinstance(value, dict) else value
    return "–" if mean is None else form.format(mean / unit)


def _verdict(found: dict[str, Any]) -> tuple[str, str]:
    words = interval(found["difference"], found["low"], found["high"], "{:+.4f}")
    return words, f"{found['verdict']} ({found['n']} pairs)"
