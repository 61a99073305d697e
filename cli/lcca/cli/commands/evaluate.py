"""`lcca evaluate`: what one policy does on a list of networks."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

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
from lcca.cli.options.simulators import add_simulator_options, report_failures, simulator_for
from lcca.cli.tables import wide_console, with_error
from lcca.evaluation.scenarios.networks import networks_from_yaml
from lcca.evaluation.trials.running import run_trials
from lcca.experiments.runs.progress import Reporter
from lcca.remy_plus.network import Network

EXAMPLES = """\
  lcca evaluate aimd --networks configs/networks/examples.yaml --seeds 10
  lcca evaluate policy.json --networks configs/networks/examples.yaml --seeds 10 --duration 10000 --json
  lcca evaluate policy.json --networks configs/networks/examples.yaml --seeds 3 --simulator ns3 --topology line
  lcca evaluate RemyCC-2014-100x.dna --pacing absolute --networks my-networks.yaml --seeds 8 --duration 1e6"""

TRIALS_PER_JOB = 16
"""Trials for each thread between two signs of life."""

MEASURES = ("score_bits", "throughput_share", "throughput_over_link", "delay_us", "delay_over_rtt")


def add(commands: Any) -> None:
    """Add the command."""
    parser = command(commands, "evaluate", "Run one policy on a list of networks.", EXAMPLES)
    parser.add_argument("policy", help=POLICY_HELP)
    parser.add_argument("--networks", type=Path, required=True, help="YAML list of networks (packets, packets/µs, µs)")
    parser.add_argument("--seeds", type=positive, default=10, help="trials per network (default: 10)")
    add_trial_options(parser, 10_000.0)
    add_policy_options(parser)
    add_topology(parser)
    add_simulator_options(parser)
    add_jobs(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    file, networks = load_policy(options, options.policy), networks_from_yaml(options.networks)
    if options.topology:
        networks = [replace(network, topology=options.topology) for network in networks]
    simulator = simulator_for(options, engine_for(options, [file], options.duration))
    for network in networks:
        check_duration(options.duration, network.rtt, network.link_rate, network.topology.hops(network.senders))
    seeds, utility = list(range(options.seed, options.seed + options.seeds)), utility_of(options)
    rows: list[dict[str, Any]] = []
    errors: list[str] = []
    with Reporter().task(f"evaluating {options.policy}", total=len(networks)) as task:
        for batch in _batches(networks, options.seeds, options.jobs):
            trials = run_trials(
                simulator, {"policy": policy_to_run(options, file)}, batch, seeds, utility, keep_delays=False
            )
            errors += trials.loc[trials["status"] != "ok", "error"].tolist()
            rows += [_row(network, trials[trials["network"] == network.id]) for network in batch]
            task.update(len(rows), f"{len(rows)} of {len(networks)} networks")
    if options.json:
        print_json(
            {
                "policy": options.policy,
                "simulator": simulator.name,
                "utility": options.utility,
                "duration_us": options.duration,
                "seeds": options.seeds,
                "rows": rows,
            }
        )
    else:
        _print(options.policy, rows)
    return report_failures(errors)


def _batches(networks: list[Network], seeds: int, jobs: int) -> Iterator[list[Network]]:
    """Yield the networks in groups that keep all threads busy and end often enough to show progress or to stop."""
    size = max(1, math.ceil(TRIALS_PER_JOB * jobs / seeds))
    for begin in range(0, len(networks), size):
        yield networks[begin : begin + size]


def _row(network: Network, trials: pd.DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = asdict(network)
    row["topology"] = str(network.topology)
    row["buffer"] = "inf" if math.isinf(network.buffer) else network.buffer
    for name in MEASURES:
        values = trials[name].dropna()
        row[name] = float(values.mean()) if len(values) else None
        row[f"{name}_se"] = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else None
    row["trials"] = len(trials)
    row["failed"] = int((trials["status"] != "ok").sum())
    for name in ("starved", "stalled_flows"):
        row[name] = int(trials[name].sum())
    return row


def _print(policy: str, rows: list[dict[str, Any]]) -> None:
    table = Table(title=f"{escape(policy)} (± one standard error over seeds)")
    for name in ("network", "score (bits)", "share (packets/µs)", "throughput / link", "delay (µs)", "delay / rtt"):
        table.add_column(name, justify="left" if name == "network" else "right")
    for r in rows:
        table.add_row(
            f"{r['id']}: {r['link_rate']:g} packets/µs, rtt {r['rtt']:g} µs, {r['senders']} senders",
            *(with_error(r[name], r[f"{name}_se"]) for name in MEASURES),
        )
    wide_console().print(table)
