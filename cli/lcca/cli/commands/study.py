"""`lcca study`: questions about congestion controls, markers and tuners on scenarios, each with its verdict."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcca.cli.options.campaign import add_campaign
from lcca.cli.options.common import print_json, print_visible
from lcca.evaluation.trials.layout import ANSWERS
from lcca.inputs.errors import require

if TYPE_CHECKING:
    from lcca.experiments.studies.config import StudyConfig

EXAMPLES = """\
  lcca study configs/fabric/study.yaml
  lcca study configs/fabric/study.yaml --plan
  lcca study configs/fabric/study.yaml --set pairs=512 --jobs 4 --json"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_campaign(parser, several=True)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever is settled."""
    from lcca.experiments.runs.grid import read_grid
    from lcca.experiments.studies.config import StudyConfig

    require(len(options.config) == 1 or not options.out, "--out: is for one study; several have folders by their names")
    grids = [read_grid(path, StudyConfig, options.overrides) for path in options.config]
    studies = [each for grid in grids for each in grid.runs(options.out)]
    found = [_plan(options, config) if options.plan else _run(options, config, folder) for config, folder in studies]
    if options.json:
        print_json(found[0] if len(found) == 1 else {"studies": found})
    return 0


def _run(options: argparse.Namespace, config: StudyConfig, folder: Path) -> dict[str, Any]:
    from lcca.cli.printing.campaigns import print_study
    from lcca.experiments.recipes.study import study

    summary = study(config, out=folder, resume=True, quiet=False, jobs=options.jobs, executor=options.executor).content
    if not options.json:
        print_study(summary)
        print_visible(f"\nanswers: {folder / ANSWERS}")
    return summary


def _plan(options: argparse.Namespace, config: StudyConfig) -> dict[str, Any]:
    from lcca.cli.printing.campaigns import print_study_plan
    from lcca.experiments.recipes.study import costs

    scenarios, made = costs(config, options.jobs)
    if not options.json:
        print_study_plan(config.name, scenarios, made)
    contenders = {name: each.to_json() for name, each in made.items()}
    return {"study": config.name, "scenarios": scenarios, "contenders": contenders}
