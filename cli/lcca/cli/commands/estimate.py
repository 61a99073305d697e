"""`lcca estimate`: one metric of one policy to a set accuracy."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from lcca.cli.options.campaign import add_campaign
from lcca.cli.options.common import print_json
from lcca.cli.tables import print_durations
from lcca.evaluation.estimation.estimate import Estimate, Estimating
from lcca.evaluation.report.figures.convergence import draw_convergence
from lcca.evaluation.report.figures.style import save
from lcca.evaluation.report.figures.violins import draw_violins, trial_counts, violin_data
from lcca.experiments.campaign.config import read_with_files
from lcca.experiments.estimation.durations import parse_durations, try_durations, write_durations
from lcca.experiments.estimation.model_based import estimate_by_model
from lcca.experiments.estimation.run import EstimationConfig, estimate_policy, write_result
from lcca.experiments.runs.progress import Reporter
from lcca.inputs.validation import validate
from lcca.remy_plus.engine import Engine

EXAMPLES = """\
  lcca estimate configs/cceval/websearch-p99.yaml
  lcca estimate configs/cceval/websearch-p99.yaml --set estimate.accuracy_percent=2 --json
  lcca estimate configs/cceval/websearch-p99-model-based.yaml
  lcca estimate configs/cceval/websearch-p99.yaml --durations 20000,50000,100000,200000"""


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
        type=float,
        metavar="US",
        help="µs in total per duration (default: 50 trials of the longest)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    config = validate(read_with_files(options.config, options.overrides, options.seed), EstimationConfig)
    folder: Path = options.out or Path("results") / config.name / config.hash
    reporter = Reporter()
    if options.durations is not None:
        return _durations(options, config, folder, reporter)
    duration = config.duration if config.networks is None else config.networks.duration
    engine = Engine(duration, jobs=options.jobs)
    if config.estimate.method == "model-based":
        return _by_model(options, config, folder, engine, reporter)
    found, going = estimate_policy(config, folder, engine, reporter)
    content = write_result(folder, config, found, going)
    (folder / "figures").mkdir(exist_ok=True)
    save(draw_convergence(going.looks, config.estimate.metric), folder / "figures", "convergence")
    save(_violins(config, going), folder / "figures", "violins")
    if options.json:
        print_json({key: content[key] for key in found.to_json()})
        return 0
    _print(config, found, content)
    print(f"everything is in {folder}")
    return 0


def _by_model(
    options: argparse.Namespace, config: EstimationConfig, folder: Path, engine: Engine, reporter: Reporter
) -> int:
    done = estimate_by_model(config, folder, engine, reporter)
    content = write_result(folder, config, done.estimate, done, done.details())
    (folder / "figures").mkdir(exist_ok=True)
    save(draw_convergence(done.looks, config.estimate.metric), folder / "figures", "convergence")
    if done.fallback:
        save(_violins(config, done.fallback), folder / "figures", "violins")
    if options.json:
        print_json({key: content[key] for key in done.estimate.to_json()})
        return 0
    _print(config, done.estimate, content)
    for words in done.refusals:
        print(f"importance sampling refused by {words}")
    for fit in done.fits:
        print(f"size model {fit}")
    print(f"everything is in {folder}")
    return 0


def _print(config: EstimationConfig, found: Estimate, content: dict[str, Any]) -> None:
    name = config.estimate.metric + (f" p{100 * config.estimate.quantile:g}" if config.estimate.quantile else " mean")
    print(f"{name}: {found.estimate:.5g} [{found.low:.5g}, {found.high:.5g}] at {found.confidence:.0%}")
    print(f"{found.trials:,} trials; {found.forecast_low:,}–{found.forecast_high:,} were forecast after the first look")
    print(f"method: {found.method}")
    if content["warning"]:
        print(f"warning: {content['warning']}")
    if not content["accurate"]:
        print("stopped at the ceiling before the accuracy was reached; raise estimate.ceiling")


def _violins(config: EstimationConfig, going: Estimating) -> Figure:
    """Draw the trials' own values, by number of trials, with the estimate across."""
    values, p = going.values, config.estimate.quantile
    metric = config.estimate.metric + (f", p{100 * p:g} of a trial" if p else " of a trial")
    counts = trial_counts(len(values), config.estimate.floor)
    line = ("pooled quantile" if p and config.estimate.target == "pooled" else "estimate", going.state.estimate)
    return draw_violins(violin_data({Path(config.policy).name: values}, counts), metric, line=line)


def _durations(options: argparse.Namespace, config: EstimationConfig, folder: Path, reporter: Reporter) -> int:
    durations = parse_durations(options.durations)
    rows = try_durations(config, folder, durations, options.simulated_time, options.jobs, reporter)
    content = write_durations(folder, config, rows)
    if options.json:
        print_json(content)
    else:
        print_durations(content)
        print(f"everything is in {folder}")
    return 0
