"""`lcca estimate`: one metric of one policy to a set accuracy, or several from the same trials."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcca.cli.options.campaign import add_campaign, run_each
from lcca.cli.options.common import print_visible
from lcca.inputs.errors import require
from lcca.inputs.numbers import real

if TYPE_CHECKING:
    from lcca.studies.cceval.config import EstimationConfig

EXAMPLES = """\
  lcca estimate studies/cceval/configs/websearch-p99.yaml
  lcca estimate studies/cceval/configs/websearch-p99.yaml --set estimate.accuracy_percent=2 --json
  lcca estimate studies/cceval/configs/websearch-p99-model-based.yaml
  lcca estimate studies/cceval/configs/dumbbell.yaml --set 'grid.policy=[dctcp,hpcc]'
  lcca estimate studies/cceval/configs/websearch-p99.yaml --durations 20000,50000,100000,200000"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_campaign(parser)
    parser.add_argument(
        "--durations",
        metavar="LIST",
        help="in place of the estimate: the quantile at these durations of a trial (µs), to choose one by",
    )
    parser.add_argument(
        "--simulated-time",
        type=real,
        metavar="US",
        help="µs in total per duration (default: 50 trials of the longest)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from lcca.experiments.runs.grid import read_grid
    from lcca.studies.cceval.config import EstimationConfig
    from lcca.studies.cceval.recipe import costs

    durations = options.durations is not None
    require(not (options.plan and durations), "--plan: is for the estimate, not for --durations")
    grid = read_grid(options.config, EstimationConfig, options.overrides)
    return run_each(options, grid, costs, _durations if durations else _estimate)


def _estimate(options: argparse.Namespace, config: EstimationConfig, folder: Path) -> dict[str, Any]:
    from lcca.studies.cceval.printing import print_estimate
    from lcca.studies.cceval.recipe import estimate

    how = {"jobs": options.jobs, "executor": options.executor}
    content = estimate(config, out=folder, resume=True, quiet=False, **how).content
    if not options.json:
        print_estimate(config, content)
        print_visible(f"everything is in {folder}")
    return content


def _durations(options: argparse.Namespace, config: EstimationConfig, folder: Path) -> dict[str, Any]:
    from lcca.studies.cceval.durations import parse_durations, try_durations
    from lcca.studies.cceval.printing import print_durations

    durations, time = parse_durations(options.durations), options.simulated_time
    content = try_durations(config, folder, durations, time, jobs=options.jobs, executor=options.executor, resume=True)
    if not options.json:
        print_durations(content)
        print_visible(f"everything is in {folder}")
    return content
