"""Options of the commands that run what a file describes, and how they run each point of its grid."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lcca.cli.options.common import print_json, print_visible
from lcca.cli.options.trials import add_execution, add_overrides, add_plan, planned

if TYPE_CHECKING:
    from lcca.experiments.experiment import Costs
    from lcca.experiments.runs.config import RunConfig
    from lcca.experiments.runs.grid import Grid

C = TypeVar("C", bound="RunConfig")


def add_campaign(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """Add what all commands on a campaign take; on several, one after another, `config` is a list."""
    if several:
        parser.add_argument("config", type=Path, nargs="+", help="YAML files; each has a run of its own")
    else:
        parser.add_argument("config", type=Path, help="the campaign's YAML file")
    parser.add_argument(
        "--out",
        type=Path,
        help="the run's folder (default: results/<name>/<config hash>); the same command goes on with what is there",
    )
    add_overrides(parser, "of the configuration, as in seed=2 or trainer.rounds=2")
    add_execution(parser)
    add_plan(parser)
    parser.set_defaults(kept=True)


def run_each(
    options: argparse.Namespace,
    grid: Grid[C],
    costs: Callable[[C, int], Costs],
    run: Callable[[argparse.Namespace, C, Path], dict[str, Any]],
) -> int:
    """Run what a file describes, or each point of its grid, or say what that costs; return exit status 0.

    Args:
        options: of the command.
        grid: the file's.
        costs: returns what a configuration costs, by the number of threads.
        run: runs a configuration in a folder and returns its result, which it prints unless that is done as JSON.
    """
    found = []
    for config, folder in grid.runs(options.out):
        if not grid.single and not options.json:
            print_visible(f"\n{config.name}")
        found.append(planned(options, costs(config, options.jobs)) if options.plan else run(options, config, folder))
    if options.json:
        points = [{"name": name, **each} for name, each in zip(grid.points, found, strict=True)]
        print_json(found[0] if grid.single else {"grid": grid.name, "hash": grid.hash, "points": points})
    return 0
