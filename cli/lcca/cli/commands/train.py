"""`lcca train`: only the trainings of a campaign."""

from __future__ import annotations

import argparse
from typing import Any

from lcca.cli.options.campaign import add_campaign
from lcca.cli.options.common import print_json
from lcca.evaluation.trials.layout import checkpoint_files
from lcca.experiments.campaign.config import read_campaign
from lcca.experiments.campaign.plan import learners
from lcca.experiments.runs.context import opened
from lcca.experiments.runs.folder import default_folder
from lcca.experiments.sweep.learning.scalars import look_at
from lcca.experiments.sweep.learning.training import check_libraries, engine_of, train
from lcca.inputs.errors import require

EXAMPLES = """\
  lcca train configs/quickstart.yaml
  lcca train configs/paper/signals-default.yaml --only e2e --set trainer.rounds=2
  lcca train configs/drl/ppo.yaml --only link+queue"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_campaign(parser)
    parser.add_argument("--only", action="append", metavar="SIGNAL_SET", help="train only this signal set; repeatable")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    config = read_campaign(options.config, options.overrides, options.seed)
    path = options.out or default_folder(config)
    plan = learners(config, config.seed_steps[0])
    known = {learner.signals.name for learner in plan}
    for name in options.only or ():
        require(name in known, f"--only {name}: not in this campaign; it has {', '.join(sorted(known))}")
    rows: list[dict[str, Any]] = []
    check_libraries(config, path)
    with opened(config, path, resume=options.resume) as begun:
        run = begun.on(engine_of(config, options.jobs))
        if words := look_at(path, config.trainer):
            run.reporter.say(words)
        for learner in plan:
            if options.only and learner.signals.name not in options.only:
                continue
            for needed in learner.needs(config):
                train(run, needed)
            last = train(run, learner)[-1]
            files = [str(file) for file in checkpoint_files(path, learner.id)]
            rows.append({"id": learner.id, "policies": files, "rules": last.rules, "trials": last.trials})
    if options.json:
        print_json({"rows": rows})
    else:
        for row in rows:
            rules = f"{row['rules']} rules" if row["rules"] else "trained"
            print(f"{row['id']}: {rules} after {row['trials']:,} trials: {row['policies'][-1]}")
    return 0
