"""`lcca study`: questions about congestion controls, markers and tuners on scenarios, each with its verdict."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from lcca.cli.options.campaign import add_campaign, config_and_folder
from lcca.cli.options.common import print_json
from lcca.cli.printing.console import wide_console
from lcca.evaluation.trials.layout import ANSWERS
from lcca.experiments.recipes.study import costs, study
from lcca.experiments.studies.config import StudyConfig
from lcca.experiments.studies.words import comparison_cells, together
from lcca.inputs.errors import require

EXAMPLES = """\
  lcca study configs/fabric/study.yaml
  lcca study configs/fabric/study.yaml --plan
  lcca study configs/fabric/study.yaml --set pairs=512 --jobs 4 --json"""


HEADS = ("scenario", "B", "against A", "by", "difference (bits)", "A worse by", "pairs", "verdict", "theirs")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_campaign(parser, several=True)
    parser.add_argument(
        "--plan", action="store_true", help="say what it costs, from one trial of each contender; keep nothing"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever is settled."""
    require(len(options.config) == 1 or not options.out, "--out: is for one study; several have folders by their names")
    studies = [config_and_folder(options, StudyConfig, path) for path in options.config]
    found = [_plan(options, config) if options.plan else _run(options, config, folder) for config, folder in studies]
    if options.json:
        print_json(found[0] if len(found) == 1 else {"studies": found})
    return 0


def _run(options: argparse.Namespace, config: StudyConfig, folder: Path) -> dict[str, Any]:
    summary = study(config, out=folder, resume=True, quiet=False, jobs=options.jobs).content
    if not options.json:
        _print(summary)
        print(f"\nanswers: {folder / ANSWERS}")
    return summary


def _plan(options: argparse.Namespace, config: StudyConfig) -> dict[str, Any]:
    found = costs(config)
    if not options.json:
        _print_plan(config.name, found)
    return {"study": config.name, "scenarios": found}


def _print_plan(name: str, found: list[dict[str, Any]]) -> None:
    table = Table(title=f"{name}: CPU seconds by scenario, without tunings and trainings")
    for head in ("scenario", "contenders", "comparisons", "a trial of all", "first look", "at most"):
        table.add_column(head, justify="left" if head == "scenario" else "right")
    for each in found:
        numbers = [f"{each[key]:.3g}" for key in ("trial_cpu_s", "cpu_s_least", "cpu_s_most")]
        table.add_row(escape(each["scenario"]), str(each["contenders"]), str(each["comparisons"]), *numbers)
    wide_console().print(table)


def _print(summary: dict[str, Any]) -> None:
    console = wide_console()
    for question in summary["questions"]:
        table = Table(title=escape(" ".join(filter(None, (question["name"], question["asks"])))))
        for name in HEADS:
            table.add_column(name, justify="right" if name in ("difference (bits)", "A worse by", "pairs") else "left")
        for each in (row for row in summary["comparisons"] if row["question"] == question["name"]):
            table.add_row(*map(escape, comparison_cells(each)), each["agreement"] or "")
        console.print(table)
    console.print(together(summary), style="dim", markup=False)
