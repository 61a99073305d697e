"""`lcca sweep`: a whole campaign, or a grid of them."""

from __future__ import annotations

import argparse
from pathlib import Path

from lcca.cli.options.campaign import add_campaign
from lcca.cli.options.common import positive, print_json, print_visible
from lcca.evaluation.trials.layout import REPORT
from lcca.experiments.defaults import TRAINING_CACHE

EXAMPLES = """\
  lcca sweep configs/quickstart.yaml
  lcca sweep configs/headers/quickstart.yaml --plan
  lcca sweep configs/paper/signals-default.yaml --set training_seeds=[1,2] --jobs 2
  lcca sweep configs/signals.yaml --plan --executor ray --jobs 70 --trainings 70
  lcca sweep configs/smoke.yaml --until trained
  lcca sweep configs/smoke.yaml --out /tmp/smoke --json"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_campaign(parser)
    parser.add_argument(
        "--training-cache",
        type=Path,
        metavar="FOLDER",
        help=f"finished trainings, used and added to (default: {TRAINING_CACHE}; none with --out)",
    )
    parser.add_argument(
        "--trainings",
        type=positive,
        default=1,
        metavar="N",
        help="trainings in parallel, each in a process on one thread, with --executor ray on the cluster "
        "(default 1: each in turn, on all threads); never changes a result",
    )
    parser.add_argument(
        "--until",
        choices=("trained",),
        help="end after the trainings of the first training seeds; the same command without it goes on",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from lcca.cli.printing.forecasts import print_forecasts
    from lcca.cli.printing.tables import print_points, print_result
    from lcca.experiments.recipes.sweep import forecasts, sweep

    names = ("out", "jobs", "executor", "trainings", "training_cache", "overrides")
    wanted = {name: getattr(options, name) for name in names}
    if options.plan:
        name, remaining = forecasts(options.config, **wanted)
        if options.json:
            print_json({"points": [{"name": point, **each.to_json()} for point, each in remaining.items()]})
        else:
            print_forecasts(name, remaining)
        return 0
    result = sweep(options.config, resume=True, quiet=False, until=options.until, **wanted)
    if options.json:
        print_json(result.content)
    elif "rows" in result.content:
        for row in result.content["rows"]:
            rules = f"{row['rules']} rules" if row["rules"] else "trained"
            print_visible(f"{row['id']}: {rules} after {row['trials']:,} trials: {row['policies'][-1]}")
    else:
        if "points" in result.content:
            print_points(result.content)
        else:
            print_result(result.content, options.tables)
        print_visible(f"\nreport: {result.folder}/{REPORT}")
    return 0
