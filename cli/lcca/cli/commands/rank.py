"""`lcca rank`: any number of policies in one league, on the same fresh networks."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.markup import escape
from rich.table import Table

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
from lcca.cli.options.simulators import add_simulator_options, simulator_for
from lcca.cli.tables import interval, wide_console
from lcca.evaluation.comparison.ranking import League, league
from lcca.evaluation.report.figures.ranking import draw_league, rank_words
from lcca.evaluation.report.figures.style import save_png
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.group_sequential import GroupSequentialRule
from lcca.evaluation.settling.verdict import SettlingRule
from lcca.evaluation.trials.running import run_trials
from lcca.experiments.campaign.config import require
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.runs.remaining import more_pairs
from lcca.experiments.runs.seeds import derive
from lcca.inputs.validation import read_config

EXAMPLES = """\
  lcca rank e2e.json link.json aimd fixed-window:12 --space configs/networks/default.yaml --networks 500
  lcca rank vegas cubic bbr tuned/policy.json --space configs/networks/default.yaml --simulator ns3 --json
  lcca rank e2e.json aimd --space configs/networks/default.yaml --topology line --figure league.png"""


RULES: dict[str, Callable[..., Rule]] = {"group-sequential": GroupSequentialRule, "t-mixture": SettlingRule}


def add(commands: Any) -> None:
    """Add the command."""
    parser = command(commands, "rank", "Rank policies on the same fresh networks, with confidence.", EXAMPLES)
    parser.add_argument("policies", nargs="+", help=POLICY_HELP)
    parser.add_argument("--space", type=Path, required=True, help="YAML file of the network space")
    parser.add_argument(
        "--networks", type=positive, default=200, help="most networks; fewer if all is settled (default: 200)"
    )
    parser.add_argument("--seeds", type=positive, default=1, help="trials per network (default: 1)")
    parser.add_argument("--block", type=positive, default=20, help="networks run between two looks (default: 20)")
    parser.add_argument(
        "--margin-percent", type=float, default=3.0, help="throughput-equivalent %% that does not matter"
    )
    parser.add_argument("--alpha", type=float, default=0.05, help="error rate of all ranks together (default: 0.05)")
    parser.add_argument(
        "--rule",
        choices=sorted(RULES),
        default="group-sequential",
        help="how pairs are settled: group-sequential (default) spends α within --networks, t-mixture has no end",
    )
    parser.add_argument("--figure", type=Path, help="PNG file for the league")
    add_trial_options(parser, None)
    add_policy_options(parser)
    add_topology(parser)
    add_simulator_options(parser)
    add_jobs(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever is settled."""
    rule = _rule(options)
    space = read_config(options.space, NetworkSpace)
    if options.topology:
        space = space.model_copy(update={"topology": options.topology})
    named = {name: load_policy(options, name) for name in options.policies}
    names = _short(options.policies)
    duration = space.duration if options.duration is None else options.duration
    simulator = simulator_for(options, engine_for(options, list(named.values()), duration))
    check_duration(duration, space.rtt.max, space.link_rate.min, space.topology.hops(int(space.senders.max)))
    policies = {names[name]: policy_to_run(options, file) for name, file in named.items()}
    seed, utility = derive(options.seed, "rank"), utility_of(options)
    seeds = [derive(seed, "run", k) for k in range(options.seeds)]
    parts: list[pd.DataFrame] = []
    found: League | None = None
    with Reporter().task(f"ranking {len(policies)} policies", total=options.networks) as task:
        for begin in range(0, options.networks, options.block):
            networks = space.draw(seed, min(options.block, options.networks - begin), first_id=begin)
            parts.append(run_trials(simulator, policies, networks, seeds, utility, keep_delays=False))
            rows, done = pd.concat(parts, ignore_index=True), begin + len(networks)
            found = league(network_scores(rows), utility=utility, rule=rule)
            open_ = sum(not c.adjusted.settled for c in found.comparisons)
            words = f"{done} networks: {len(found.comparisons) - open_} of {len(found.comparisons)} pairs settled"
            task.update(done, words, more_pairs(list(found.comparisons), done, 0, options.networks))
            if found.settled:
                break
    assert found is not None
    if options.figure:
        title = f"{simulator.name}, {_topology(space)}, utility {utility.name}: {found.networks} networks"
        save_png(draw_league(found.standings, title), options.figure.parent, options.figure.stem)
    _report(options, found, rows, simulator.name, _topology(space))
    return 0


def network_scores(rows: pd.DataFrame) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """Return each policy's score per network: the mean over its seeds, NaN where a trial failed."""
    rows = rows.assign(score_bits=rows["score_bits"].where(rows["status"] == "ok"))
    failed = rows["status"].ne("ok").groupby([rows["policy"], rows["network"]]).any()
    mean = rows.groupby(["policy", "network"])["score_bits"].mean().mask(failed)
    return {str(name): mean.loc[name].to_numpy(dtype=np.float64) for name in dict.fromkeys(rows["policy"])}


def _rule(options: argparse.Namespace) -> Rule:
    require(len(options.policies) >= 2, "a league needs at least two policies")
    require(len(set(options.policies)) == len(options.policies), "a policy is named twice")
    require(0 < options.margin_percent < 1000, f"--margin-percent: must be > 0, got {options.margin_percent:g}")
    require(0 < options.alpha < 1, f"--alpha: must be between 0 and 1, got {options.alpha:g}")
    require(options.networks >= 20, f"--networks: at least 20 are needed for a first look, got {options.networks}")
    kind = RULES[options.rule]
    return kind(margin_percent=options.margin_percent, alpha=options.alpha, ceiling=options.networks)


def _short(names: list[str]) -> dict[str, str]:
    """Return what the table calls each policy: a file's name without folder and ending, where that is unique."""
    stems = [Path(name).stem if Path(name).is_file() else name for name in names]
    return {name: stem if stems.count(stem) == 1 else name for name, stem in zip(names, stems, strict=True)}


def _topology(space: NetworkSpace) -> str:
    return str(space.topology)


def _report(options: argparse.Namespace, found: League, rows: pd.DataFrame, simulator: str, topology: str) -> None:
    failed = rows[rows["status"] != "ok"]
    if options.json:
        run = {"format": 1, "simulator": simulator, "topology": topology, "utility": options.utility}
        lost = failed[["policy", "network", "seed", "error"]].to_dict("records")
        print_json(found.to_json() | run | {"seeds": options.seeds, "failed": lost})
        return
    table = Table(title=f"{simulator}, {escape(topology)}, utility {options.utility}: {found.networks} networks")
    for name in ("rank", "policy", f"score (bits) [{1 - found.alpha:.0%}]", "ties", "better than", "worse than"):
        table.add_column(name, justify="left" if name in ("policy", "ties") else "right", overflow="fold")
    for s in found.to_json()["standings"]:
        score = interval(s["score_bits"], s["low"], s["high"], "{:.3f}")
        standing = next(each for each in found.standings if each.policy == s["policy"])
        counts = (str(s["better_than"]), str(s["worse_than"]))
        table.add_row(rank_words(standing), escape(s["policy"]), score, s["ties"], *counts)
    console = wide_console()
    console.print(table)
    console.print(
        f"ranks hold together at {1 - found.alpha:.0%}; a letter in common: not told apart, or not by "
        f"{options.margin_percent:g} % of throughput",
        style="dim",
        markup=False,
    )
    open_ = [f"{c.B} and {c.A}" for c in found.comparisons if not c.adjusted.settled]
    if open_:
        console.print(f"not settled: {', '.join(open_)}", style="dim", markup=False)
    for error in dict.fromkeys(failed["error"]):
        console.print(f"failed: {error}", markup=False)
