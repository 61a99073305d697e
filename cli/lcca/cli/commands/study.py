"""`lcca study`: questions about congestion controls, markers and tuners on scenarios, each with its verdict."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lcca.cli.options.campaign import add_campaign, config_and_folder
from lcca.cli.options.common import print_json, print_visible
from lcca.cli.printing.console import print_table
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.layout import ANSWERS
from lcca.experiments.experiment import Costs
from lcca.experiments.recipes.study import costs, study
from lcca.experiments.studies.config import StudyConfig
from lcca.experiments.studies.words import comparison_cells, together
from lcca.inputs.errors import require

EXAMPLES = """\
  lcca study configs/fabric/study.yaml
  lcca study configs/fabric/study.yaml --plan
  lcca study configs/fabric/study.yaml --set pairs=512 --jobs 4 --json"""


HEADS = ("scenario", "B", "against A", "by", "difference (bits)", "A worse by", "pairs", "verdict", "theirs")
LEFT = ("scenario", "B", "against A", "by", "verdict", "theirs")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_campaign(parser, several=True)
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
    summary = study(config, out=folder, resume=True, quiet=False, jobs=options.jobs, executor=options.executor).content
    if not options.json:
        _print(summary)
        print_visible(f"\nanswers: {folder / ANSWERS}")
    return summary


def _plan(options: argparse.Namespace, config: StudyConfig) -> dict[str, Any]:
    scenarios, made = costs(config, options.jobs)
    if not options.json:
        _print_plan(config.name, scenarios, made)
    contenders = {name: each.to_json() for name, each in made.items()}
    return {"study": config.name, "scenarios": scenarios, "contenders": contenders}


def _print_plan(name: str, found: list[dict[str, Any]], made: Mapping[str, Costs]) -> None:
    head = ("scenario", "contenders", "comparisons", "a trial of all", "first look", "at most")
    costs = ("trial_cpu_s", "cpu_s_least", "cpu_s_most")
    rows = [
        (each["scenario"], str(each["contenders"]), str(each["comparisons"]), *(f"{each[key]:.3g}" for key in costs))
        for each in found
    ]
    print_table(Table(f"{name}: CPU seconds by scenario, without tunings and trainings", head, rows))
    ends = [(name, words, each) for name, costs in made.items() for words, each in costs.ends.items()]
    if ends:
        rows = [(name, words, f"{each.count:,} {each.unit}", f"{each.cpu_s:.3g}") for name, words, each in ends]
        print_table(Table("tunings and trainings", ("contender", "", "how many", "CPU s"), rows, left=2))


def _print(summary: dict[str, Any]) -> None:
    for question in summary["questions"]:
        found = [each for each in summary["comparisons"] if each["question"] == question["name"]]
        rows = [(*comparison_cells(each), each["agreement"] or "") for each in found]
        title = " ".join(filter(None, (question["name"], question["asks"])))
        notes = [together(summary)] if question is summary["questions"][-1] else []
        print_table(Table(title, HEADS, rows, left=LEFT), *notes)
