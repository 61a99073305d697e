"""`lcca estimate`: one metric of one policy to a set accuracy."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from lcca.campaigns.commands.campaign import add_campaign
from lcca.campaigns.commands.options import command, print_json
from lcca.campaigns.config import read_with_files
from lcca.campaigns.estimation import EstimationConfig, estimate_policy, write_result
from lcca.campaigns.progress import Reporter
from lcca.campaigns.validation import validate
from lcca.evaluation.figures.convergence import draw_convergence
from lcca.evaluation.figures.style import save
from lcca.remy_plus.engine import Engine

EXAMPLES = """\
  lcca estimate configs/cceval/websearch-p99.yaml
  lcca estimate configs/cceval/websearch-p99.yaml --set estimate.accuracy_percent=2 --json"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = command(commands, "estimate", "Estimate a metric of one policy until it is accurate enough.", EXAMPLES)
    add_campaign(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    config = validate(read_with_files(options.config, options.overrides, options.seed), EstimationConfig)
    folder: Path = options.out or Path("results") / config.name / config.hash
    reporter = Reporter()
    duration = config.duration if config.networks is None else config.networks.duration
    found, going = estimate_policy(config, folder, Engine(duration, jobs=options.jobs), reporter)
    content = write_result(folder, config, found, going)
    (folder / "figures").mkdir(exist_ok=True)
    save(draw_convergence(going.looks, config.estimate.metric), folder / "figures", "convergence")
    if options.json:
        print_json({key: content[key] for key in found.to_json()})
        return 0
    name = config.estimate.metric + (f" p{100 * config.estimate.quantile:g}" if config.estimate.quantile else " mean")
    print(f"{name}: {found.estimate:.5g} [{found.low:.5g}, {found.high:.5g}] at {found.confidence:.0%}")
    print(f"{found.trials} trials; {found.forecast_low}–{found.forecast_high} were forecast after the first look")
    print(f"method: {found.method}")
    if content["warning"]:
        print(f"warning: {content['warning']}")
    if not going.accurate:
        print("stopped at the ceiling before the accuracy was reached; raise estimate.ceiling")
    print(f"everything is in {folder}")
    return 0
