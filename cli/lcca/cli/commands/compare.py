"""`lcca compare`: two policies, paired on fresh networks, until it is settled which is better."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from lcca.cli.options.common import add_jobs, add_json, command, positive, print_json
from lcca.cli.options.policies import (
    POLICY_HELP,
    add_policy_options,
    add_topology,
    add_trial_options,
    check_duration,
    engine_for,
    load_policy,
    policy_to_run,
    utility_of,
)
from lcca.cli.options.simulators import add_simulator_options, report_failures, simulator_for
from lcca.cli.tables import print_comparison
from lcca.evaluation.comparison.compare import Comparison, compare_artifacts
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.settling.verdict import SettlingRule
from lcca.evaluation.trials.running import run_trials
from lcca.experiments.campaign.config import require
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.runs.remaining import more_pairs
from lcca.experiments.runs.seeds import derive
from lcca.inputs.validation import read_config

EXAMPLES = """\
  lcca compare aimd fixed-window:20 --space configs/networks/default.yaml
  lcca compare e2e.json link.json --space configs/networks/default.yaml --margin-percent 1 --json"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = command(commands, "compare", "Compare policy B with policy A on fresh networks, until settled.", EXAMPLES)
    parser.add_argument("a", help=f"the baseline: {POLICY_HELP}")
    parser.add_argument("b", help="the candidate, likewise")
    parser.add_argument("--space", type=Path, required=True, help="YAML file of the network space")
    parser.add_argument("--pairs", type=positive, default=5000, help="most (network, seed) pairs (default: 5000)")
    parser.add_argument("--block", type=positive, default=50, help="pairs run between two looks (default: 50)")
    parser.add_argument(
        "--margin-percent", type=float, default=3.0, help="throughput-equivalent %% that does not matter"
    )
    parser.add_argument("--alpha", type=float, default=0.05, help="error rate over all looks (default: 0.05)")
    parser.add_argument(
        "--private-seeds",
        action="store_true",
        help="let the two meet different traffic on the same networks (an A/A check of the method)",
    )
    add_trial_options(parser, None)
    add_policy_options(parser)
    add_topology(parser)
    add_simulator_options(parser)
    add_jobs(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    files = [load_policy(options, options.a), load_policy(options, options.b)]
    space = read_config(options.space, NetworkSpace)
    if options.topology:
        space = space.model_copy(update={"topology": options.topology})
    require(0 < options.margin_percent < 1000, f"--margin-percent: must be > 0, got {options.margin_percent:g}")
    require(0 < options.alpha < 1, f"--alpha: must be between 0 and 1, got {options.alpha:g}")
    require(options.pairs >= 20, f"--pairs: at least 20 are needed for a first look, got {options.pairs}")
    rule = SettlingRule(margin_percent=options.margin_percent, alpha=options.alpha, ceiling=options.pairs)
    duration = space.duration if options.duration is None else options.duration
    simulator = simulator_for(options, engine_for(options, files, duration))
    hops = space.topology.hops(int(space.senders.max))
    check_duration(duration, space.rtt.max, space.link_rate.min, hops)
    utility, reporter = utility_of(options), Reporter()
    first = derive(options.seed, "compare")
    seeds = (first, derive(options.seed, "compare", "private") if options.private_seeds else first)
    scores: list[list[float]] = [[], []]
    errors: list[str] = []
    found: Comparison | None = None
    with reporter.task(f"comparing {options.b} with {options.a}", total=options.pairs) as task:
        for begin in range(0, options.pairs, options.block):
            networks = space.draw(first, min(options.block, options.pairs - begin), first_id=begin)
            for own, file, seed in zip(scores, files, seeds, strict=True):
                rows = run_trials(
                    simulator, {"policy": policy_to_run(options, file)}, networks, [seed], utility, keep_delays=False
                )
                own += rows["score_bits"].tolist()
                errors += rows.loc[rows["status"] != "ok", "error"].tolist()
            found = compare_artifacts(
                options.a,
                options.b,
                np.array(scores[0]),
                np.array(scores[1]),
                utility=utility,
                rule=rule,
            )
            done = len(scores[0])
            task.update(done, f"{done} pairs: {found.verdict.name}", more_pairs([found], done, 0, options.pairs))
            if found.verdict.settled:
                break
    assert found is not None
    if options.json:
        print_json(found.to_json())
    else:
        print_comparison(found.to_json())
    return report_failures(errors)
