"""`lcca study`: questions about congestion controls, markers and tuners on scenarios, each with its verdict."""

from __future__ import annotations

import argparse
from typing import Any

from rich.markup import escape
from rich.table import Table

from lcca.cli.options.campaign import add_campaign, config_and_folder
from lcca.cli.options.common import print_json
from lcca.cli.tables import wide_console
from lcca.evaluation.trials.layout import ANSWERS
from lcca.experiments.study.config import StudyConfig
from lcca.experiments.study.plan import costs
from lcca.experiments.study.run import study
from lcca.experiments.study.words import comparison_cells

EXAMPLES = """\
  lcca study configs/fabric/study.yaml
  lcca study configs/fabric/study.yaml --plan
  lcca study configs/fabric/study.yaml --set pairs=512 --resume --jobs 4 --json"""


HEADS = ("scenario", "B", "against A", "by", "difference (bits)", "A slower by", "pairs", "verdict", "theirs")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_campaign(parser)
    parser.add_argument(
        "--plan", action="store_true", help="say what it costs, from one trial of each contender; keep nothing"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever is settled."""
    config, folder = config_and_folder(options, StudyConfig)
    if options.plan:
        return _plan(options, config)
    summary = study(config, folder, jobs=options.jobs, resume=options.resume)
    if options.json:
        print_json(summary)
    else:
        _print(summary)
        print(f"\nanswers: {folder / ANSWERS}")
    return 0


def _plan(options: argparse.Namespace, config: StudyConfig) -> int:
    found = [each.to_json() for each in costs(config)]
    if options.json:
        print_json({"study": config.name, "scenarios": found})
        return 0
    table = Table(title=f"{config.name}: CPU seconds by scenario, without tunings")
    for name in ("scenario", "contenders", "comparisons", "a trial of all", "first look", "at most"):
        table.add_column(name, justify="left" if name == "scenario" else "right")
    for each in found:
        numbers = [f"{each[key]:.3g}" for key in ("trial_cpu_s", "cpu_s_least", "cpu_s_most")]
        table.add_row(escape(each["scenario"]), str(each["contenders"]), str(each["comparisons"]), *numbers)
    wide_console().print(table)
    return 0


def _print(summary: dict[str, Any]) -> None:
    console = wide_console()
    for question in summary["questions"]:
        table = Table(title=escape(" ".join(filter(None, (question["name"], question["asks"])))))
        for name in (
            "scenario",
            "B",
            "against A",
            "by",
            "difference (bits)",
            "A slower by",
            "pairs",
            "verdict",
            "theirs",
        ):
            table.add_column(name, justify="right" if name in ("difference (bits)", "A slower by", "pairs") else "left")
        for each in (row for row in summary["comparisons"] if row["question"] == question["name"]):
            table.add_row(*map(escape, comparison_cells(each)), each["agreement"] or "")
        console.print(table)
    sure = f"all {len(summary['comparisons'])} intervals hold together at {1 - summary['alpha']:.0%}"
    console.print(sure, style="dim", markup=False)
