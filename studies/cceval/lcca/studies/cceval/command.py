"""`lcca estimate`: one metric of one policy to a set accuracy, or several from the same trials."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lcca.cli.options.campaign import add_campaign, config_and_folder
from lcca.cli.options.common import print_json, print_visible
from lcca.cli.options.trials import print_costs
from lcca.inputs.errors import require
from lcca.inputs.numbers import real

if TYPE_CHECKING:
    from lcca.studies.cceval.config import EstimationConfig

EXAMPLES = """\
  lcca estimate studies/cceval/configs/websearch-p99.yaml
  lcca estimate studies/cceval/configs/websearch-p99.yaml --set estimate.accuracy_percent=2 --json
  lcca estimate studies/cceval/configs/websearch-p99-model-based.yaml
  lcca estimate studies/cceval/configs/dumbbell-hpcc.yaml
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
    from lcca.studies.cceval.config import EstimationConfig
    from lcca.studies.cceval.printing import print_estimate
    from lcca.studies.cceval.recipe import costs, estimate

    config, folder = config_and_folder(options, EstimationConfig)
    if options.plan:
        require(options.durations is None, "--plan: is for the estimate, not for --durations")
        print_costs(options, costs(config, options.jobs))
        return 0
    if options.durations is not None:
        return _durations(options, config, folder)
    how = {"jobs": options.jobs, "executor": options.executor}
    content = estimate(config, out=folder, resume=True, quiet=False, **how).content
    if options.json:
        print_json(content)
        return 0
    print_estimate(config, content)
    print_visible(f"everything is in {folder}")
    return 0


def _durations(options: argparse.Namespace, config: EstimationConfig, folder: Path) -> int:
    from lcca.studies.cceval.durations import parse_durations, try_durations
    from lcca.studies.cceval.printing import print_durations

    durations, time = parse_durations(options.durations), options.simulated_time
    content = try_durations(config, folder, durations, time, jobs=options.jobs, executor=options.executor, resume=True)
    if options.json:
        print_json(content)
    else:
        print_durations(content)
        print_visible(f"everything is in {folder}")
    return 0
