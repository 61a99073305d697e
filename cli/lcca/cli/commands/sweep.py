"""`lcca sweep`: a whole campaign, or a grid of them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lcca.cli.options.campaign import add_campaign
from lcca.cli.options.common import positive, print_json
from lcca.cli.options.trials import add_topology
from lcca.cli.printing.tables import (
    print_forecasts,
    print_ideals,
    print_net_benefit,
    print_points,
    print_policies,
    print_sets,
    print_verdicts,
)
from lcca.evaluation.trials.executors import EXECUTORS
from lcca.evaluation.trials.layout import REPORT
from lcca.experiments.campaign.grid import Grid, read_grid
from lcca.experiments.runs.folder import default_folder
from lcca.experiments.sweep.forecast import forecast
from lcca.experiments.sweep.grid_run import sweep_grid
from lcca.experiments.sweep.learning.cache import TrainingCache
from lcca.experiments.sweep.run import sweep
from lcca.inputs.errors import require

EXAMPLES = """\
  lcca sweep configs/quickstart.yaml
  lcca sweep configs/quickstart.yaml --resume
  lcca sweep configs/headers/quickstart.yaml --plan
  lcca sweep configs/paper/signals-default.yaml --set training_seeds=[1,2] --jobs 2
  lcca sweep configs/signals.yaml --plan --executor ray --jobs 70 --trainings 70
  lcca sweep configs/smoke.yaml --until trained
  lcca sweep configs/smoke.yaml --out /tmp/smoke --json"""

CACHE = Path("results") / "training-cache"


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_campaign(parser)
    parser.add_argument(
        "--executor",
        choices=EXECUTORS,
        default="local",
        help="where trials run: threads here, worker processes, or a Ray cluster; never changes a result",
    )
    parser.add_argument("--plan", action="store_true", help="say what would be trained and what it costs; run nothing")
    parser.add_argument(
        "--training-cache",
        type=Path,
        metavar="FOLDER",
        help=f"finished trainings, used and added to (default: {CACHE}; none with --out)",
    )
    parser.add_argument(
        "--trainings",
        type=positive,
        default=1,
        metavar="N",
        help="policies that learn at once, each in a process on one thread, with --executor ray on the cluster "
        "(default 1: each in turn, on all threads); never changes a result",
    )
    parser.add_argument(
        "--until", choices=("trained",), help="end after the trainings of the first training seeds; --resume goes on"
    )
    add_topology(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.topology:
        options.overrides = [*options.overrides, f"networks.topology={options.topology}"]
    grid = read_grid(options.config, options.overrides, options.seed)
    cache = options.training_cache or (None if options.out else CACHE)
    if options.plan:
        return _plan(options, grid, TrainingCache(cache))
    if grid.single:
        return _single(options, grid, cache)
    require(options.until is None, "--until: not for a grid; give the campaign of one point")
    return _grid(options, grid, cache)


def _plan(options: argparse.Namespace, grid: Grid, cache: TrainingCache) -> int:
    away = options.executor == "ray"
    found = {point.name: forecast(point.config, cache, options.jobs, options.trainings, away) for point in grid.points}
    if options.json:
        print_json({"points": [{"name": name, **each.to_json()} for name, each in found.items()]})
    else:
        print_forecasts(grid.name, found)
    return 0


def _single(options: argparse.Namespace, grid: Grid, cache: Path | None) -> int:
    config = grid.points[0].config
    folder = options.out or default_folder(config)
    summary = sweep(
        config,
        folder,
        jobs=options.jobs,
        resume=options.resume,
        place=options.executor,
        cache=cache,
        trainings=options.trainings,
        until=options.until,
    )
    if options.json:
        print_json(summary)
        return 0
    for row in summary.get("rows", ()):
        rules = f"{row['rules']} rules" if row["rules"] else "trained"
        print(f"{row['id']}: {rules} after {row['trials']:,} trials: {row['policies'][-1]}")
    if "rows" in summary:
        return 0
    print_sets(summary)
    print_policies(summary)
    for each in summary.get("ideal", []):
        print_ideals(each, f"{summary['campaign']}: what is possible on the test networks, utility {each['utility']}")
    print_verdicts(summary)
    print_net_benefit(summary)
    print(f"\nreport: {folder / REPORT}")
    return 0


def _grid(options: argparse.Namespace, grid: Grid, cache: Path | None) -> int:
    folder = options.out or grid.folder
    summary = sweep_grid(
        grid,
        folder,
        jobs=options.jobs,
        resume=options.resume,
        place=options.executor,
        cache=cache,
        trainings=options.trainings,
        say=lambda text: print(text, file=sys.stderr, flush=True),
    )
    if options.json:
        print_json(summary)
        return 0
    print_points(summary)
    print(f"\nreport: {folder / REPORT}")
    return 0
