"""`lcca study`: questions about congestion controls, markers and tuners on scenarios, each with its verdict."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from lcca.cli.options.common import print_json, print_visible
from lcca.evaluation.trials.layout import ANSWERS
from lcca.experiments.verbs.options import File, Written, WrittenAlone
from lcca.inputs.errors import require
from lcca.inputs.options import argument, frozen

EXAMPLES = """\
  lcca study configs/fabric/study.yaml
  lcca study configs/fabric/study.yaml --plan
  lcca study configs/fabric/study.yaml --set pairs=512 --jobs 4 --json"""


@frozen
class Studies(Written):
    config: Sequence[File] = argument("YAML files; each has a run of its own")


def run(verb: Studies, options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever is settled."""
    from lcca.cli.printing.campaigns import print_study, print_study_plan
    from lcca.experiments.recipes.study import studying
    from lcca.experiments.runs.grid import read_grid
    from lcca.experiments.studies.config import StudyConfig

    require(len(verb.config) == 1 or not verb.out, "--out: is for one study; several have folders by their names")
    grids = [read_grid(path, StudyConfig, verb.overrides) for path in verb.config]
    found = []
    for config, folder in (each for grid in grids for each in grid.runs(verb.out)):
        prepared = studying(WrittenAlone(config, jobs=verb.jobs, executor=verb.executor, quiet=False))
        if options.plan:
            scenarios, made = prepared.costs(verb.jobs)
            contenders = {name: each.to_json() for name, each in made.items()}
            found.append({"study": config.name, "scenarios": scenarios, "contenders": contenders})
        else:
            found.append(prepared.run(folder, resume=True, quiet=False).content)
        if options.json:
            continue
        if options.plan:
            print_study_plan(config.name, scenarios, made)
        else:
            print_study(found[-1])
            print_visible(f"\nanswers: {folder / ANSWERS}")
    if options.json:
        print_json(found[0] if len(found) == 1 else {"studies": found})
    return 0
