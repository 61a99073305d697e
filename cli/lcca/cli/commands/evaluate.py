"""`lcca evaluate`: what one policy does on a list of networks, or transports on a fabric."""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd
from rich.markup import escape
from rich.table import Table

from lcca.cli.fabric.evaluation import evaluate as evaluate_on_fabric
from lcca.cli.fabric.options import FABRIC_HELP, add_set, flow_numbers, parquet_file, positive_us
from lcca.cli.options.common import figure_file, positive, print_json
from lcca.cli.options.costs import tell_costs
from lcca.cli.options.kept import Kept, add_folder, kept
from lcca.cli.options.policies import POLICY_HELP, check_duration
from lcca.cli.options.simulators import report_failures, simulator_for
from lcca.cli.options.trials import add_bound, add_trials, setup
from lcca.cli.tables import wide_console, with_error
from lcca.evaluation.bounds.ideals import IDEALS, ideal_scores
from lcca.evaluation.scenarios.networks import networks_from_yaml
from lcca.evaluation.trials.blocks import Block, RunBlock, equal_blocks, run_blocks, to_the_end
from lcca.evaluation.trials.layout import MEASURES
from lcca.evaluation.trials.running import run_trials
from lcca.experiments.runs.remaining import More
from lcca.inputs.class_names import one_name
from lcca.inputs.errors import InputError
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus.network import Network

EXAMPLES = """\
  lcca evaluate aimd --networks configs/networks/examples.yaml --seeds 10
  lcca evaluate policy.json --networks configs/networks/examples.yaml --seeds 10 --duration 10000 --json
  lcca evaluate policy.json --networks configs/networks/examples.yaml --seeds 3 --simulator ns3 --topology line
  lcca evaluate RemyCC-2014-100x.dna --pacing absolute --networks my-networks.yaml --seeds 8 --duration 1e6
  lcca evaluate dctcp dcqcn timely hpcc swift powertcp --fabric configs/fabric/leaf-spine.yaml
  lcca evaluate dcqcn dcqcn:increase_us=55,fast_recovery=5 --fabric configs/fabric/incast.yaml --set switch.pfc=false"""

TRIALS = 64
"""In a block, what a kill loses at most."""

DURATION_US = 10_000.0

SHOWN = MEASURES[:5]


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("policies", nargs="+", type=one_name, metavar="policy", help=f"{POLICY_HELP}; {FABRIC_HELP}")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--networks", type=Path, help="YAML list of networks (packets, packets/µs, µs), for one policy")
    where.add_argument("--fabric", type=Path, help="YAML file of a fabric scenario, for any number of transports")
    parser.add_argument("--seeds", type=positive, default=10, help="trials per network, or on the fabric (default: 10)")
    add_set(parser)
    parser.add_argument("--per-flow", type=parquet_file, help="parquet file for a row per flow (--fabric)")
    parser.add_argument("--per-port", type=parquet_file, help="parquet file for a row per port (--fabric)")
    parser.add_argument(
        "--figure",
        type=figure_file,
        help="PDF, PNG or SVG file, and PNG, SVG and CSV beside it: slowdown by size, distributions, pauses (--fabric)",
    )
    parser.add_argument(
        "--rates",
        type=flow_numbers,
        default=[],
        metavar="FLOWS",
        help="ids of flows of the first seed, as in 3,17: a figure of their rates over time beside --figure",
    )
    parser.add_argument(
        "--series",
        type=positive_us,
        metavar="US",
        help="throughput, round trips, queue and parameters over time of the first seed, beside --figure: by the looks "
        "of each tuner, and every so many µs where nobody looks",
    )
    add_bound(parser)
    add_folder(parser)
    add_trials(parser, None)
    parser.set_defaults(run=run, utility=None)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    return evaluate_on_fabric(options) if options.fabric else evaluate_on_networks(options)


def evaluate_on_networks(options: argparse.Namespace) -> int:
    """Run one policy on a list of networks."""
    _complete(options)
    name = options.policies[0]
    networks = networks_from_yaml(options.networks)
    if options.topology:
        networks = [replace(network, topology=options.topology) for network in networks]
    found = setup(options, [name], options.duration)
    simulator, policies = simulator_for(options, found.engine), {name: found.policies[0]}
    for network in networks:
        check_duration(options.duration, network.rtt, network.link_rate, network.topology.hops(network.senders))
    seeds, ideals = list(range(options.seed, options.seed + options.seeds)), None
    if options.bound:
        ideals = ideal_scores(networks, seeds, found.utility, options.duration).groupby("network")[list(IDEALS)].mean()

    def run_block(block: Block) -> pd.DataFrame:
        drawn = networks[block.first : block.end]
        return run_trials(simulator, policies, drawn, seeds, found.utility, keep_delays=False)

    if options.plan:
        weights = [network.link_rate for network in networks]
        return tell_costs(options, run_block, weights, {"in all": len(networks)}, "networks")
    with kept(options, options.policies) as place:
        trials = _trials(options, place, len(networks), run_block)
        rows = [_row(network, trials[trials["network"] == network.id]) for network in networks]
        if ideals is not None:
            rows = [row | ideals.loc[row["id"]].to_dict() for row in rows]
        content = {"policy": name, "simulator": simulator.name, "utility": options.utility}
        content |= {"duration_us": options.duration, "seeds": options.seeds, "rows": rows}
        place.finish(content)
        if options.json:
            print_json(content)
        else:
            _print(name, rows)
    return report_failures([error for error in trials["error"] if error])


def _trials(options: argparse.Namespace, place: Kept, networks: int, run_block: RunBlock[pd.DataFrame]) -> pd.DataFrame:
    """Return the trials on all networks."""
    with place.reporter.task(f"evaluating {options.policies[0]}", networks, options.seeds, "networks") as task:

        def tell(done: int, _: None) -> None:
            left = networks - done
            task.update(done, f"{done} of {networks} networks", More(left, left, "networks"))

        plan = equal_blocks(_block(options.seeds), networks)
        parts, _ = run_blocks(plan, run_block, to_the_end, keep=place.keep, tell=tell)
    return pd.concat(parts, ignore_index=True)


def _complete(options: argparse.Namespace) -> None:
    """Fill in what fabrics have otherwise, and refuse what only they have."""
    if len(options.policies) > 1:
        raise InputError("--networks takes one policy; `lcca rank` ranks several on a network space")
    asked = {"--set": options.overrides, "--per-flow": options.per_flow, "--per-port": options.per_port}
    asked |= {"--figure": options.figure, "--rates": options.rates, "--series": options.series}
    if wrong := [name for name, given in asked.items() if given]:
        raise InputError(f"{wrong[0]}: needs --fabric")
    options.duration = DURATION_US if options.duration is None else options.duration
    options.utility = options.utility or "default"


def _block(seeds: int) -> int:
    """Return how many networks keep the threads busy, and end often enough to be kept; the same for any --jobs."""
    return max(1, math.ceil(TRIALS / seeds))


def _row(network: Network, trials: pd.DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = asdict(network)
    row["topology"] = str(network.topology)
    row["buffer"] = "inf" if math.isinf(network.buffer) else network.buffer
    for name in SHOWN:
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
    bounds = [name for name in IDEALS if any(name in r for r in rows)]
    for name in bounds:
        table.add_column(name.removesuffix("_bits"), justify="right")
    for r in rows:
        table.add_row(
            f"{r['id']}: {r['link_rate']:g} packets/µs, rtt {r['rtt']:g} µs, {r['senders']} senders",
            *(with_error(r[name], r[f"{name}_se"]) for name in SHOWN),
            *("–" if math.isnan(r[name]) else f"{r[name]:.3f}" for name in bounds),
        )
    console = wide_console()
    console.print(table)
    console.print(f"1 packet/µs is {PACKET_BYTES * 8e-3:g} Gb/s with packets of {PACKET_BYTES:,} bytes", style="dim")
