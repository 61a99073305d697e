"""`lcca agree`: do the fast engine and ns-3 say the same of these policies?"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from rich.markup import escape
from rich.table import Table

from lcca.cli.options.common import figure_file, positive, print_json
from lcca.cli.options.costs import tell_costs
from lcca.cli.options.kept import Kept, add_folder, kept
from lcca.cli.options.policies import POLICY_HELP
from lcca.cli.options.ranking import short_names
from lcca.cli.options.simulators import parse_ns3
from lcca.cli.options.trials import add_space, add_trials, setup_on_space
from lcca.cli.tables import wide_console
from lcca.evaluation.comparison.agreement import (
    MARGIN_BITS,
    Agreement,
    OrderFlip,
    agreements,
    order_flips,
    paired,
)
from lcca.evaluation.report.figures.agreement import draw_agreement
from lcca.evaluation.report.figures.saving import save_as
from lcca.evaluation.trials.blocks import Block, RunBlock, equal_blocks, run_blocks, to_the_end
from lcca.evaluation.trials.running import run_trials
from lcca.experiments.campaign.config import require
from lcca.experiments.runs.remaining import More
from lcca.experiments.runs.seeds import derive
from lcca.gym_envs.ns3.simulator import Ns3
from lcca.inputs.class_names import one_name
from lcca.remy_plus.simulator import Simulator

EXAMPLES = """\
  lcca agree e2e.json link.json --space configs/networks/default.yaml --networks 50
  lcca agree e2e.json aimd --space configs/networks/default.yaml --topology line --ns3 header_bytes=0 --json"""

BLOCK = 10


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("policies", nargs="+", type=one_name, help=POLICY_HELP)
    add_space(parser)
    parser.add_argument("--networks", type=positive, default=96, help="networks (default: 96)")
    parser.add_argument("--margin", type=float, default=MARGIN_BITS, help="bits (default: %(default)s)")
    parser.add_argument("--figure", type=figure_file, help="PDF, PNG or SVG file: score, throughput and delay")
    add_folder(parser)
    add_trials(parser, None, both_simulators=True)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever the verdict, 1 if a trial failed in ns-3."""
    require(options.margin > 0, f"--margin: must be > 0 bits, got {options.margin:g}")
    named = short_names(options.policies)
    require(len(set(named)) == len(named), "a policy is named twice")
    found, space = setup_on_space(options, options.policies)
    most = space.whole(options.networks)
    engine, policies = found.engine, dict(zip(named, found.policies, strict=True))
    simulators: list[Simulator] = [engine, Ns3(engine.duration, engine.model, engine.jobs, parse_ns3(options.ns3))]
    seed = derive(options.seed, "agree")

    def run_block(block: Block) -> pd.DataFrame:
        networks = space.draw(seed, block.size, first_id=block.first)
        return pd.concat(
            [run_trials(s, policies, networks, [seed], found.utility, keep_delays=False) for s in simulators],
            ignore_index=True,
        )

    if options.plan:
        weights = [network.link_rate for network in space.draw(seed, most)]
        return tell_costs(options, run_block, weights, {"in all": most}, "networks")
    with kept(options, options.policies) as place:
        trials = _trials(place, len(policies), most, run_block)
        fast, real = (rows.reset_index(drop=True) for _, rows in trials.groupby("simulator", sort=False))
        if options.figure:
            figure = draw_agreement({_kind(options): paired(fast, real)}, ("fast engine", simulators[1].name))
            save_as(figure, options.figure)
        place.finish(report(options, fast, real, space.block))
    return 1 if (real["status"] != "ok").any() else 0


def _trials(place: Kept, policies: int, most: int, run_block: RunBlock[pd.DataFrame]) -> pd.DataFrame:
    """Return the trials in both simulators; those of the fast engine, the first in each block, end all at once."""
    with place.reporter.task("running both simulators", most, policies, "networks") as task:

        def tell(done: int, _: None) -> None:
            task.update(done, f"{done} of {most} networks", More(most - done, most - done, "networks"))

        parts, _ = run_blocks(equal_blocks(BLOCK, most), run_block, to_the_end, keep=place.keep, tell=tell)
    return pd.concat(parts, ignore_index=True)


def report(options: argparse.Namespace, fast: pd.DataFrame, real: pd.DataFrame, block: int) -> dict[str, Any]:
    """Print what was found; return it as JSON values."""
    kind = _kind(options)
    rows, flips = agreements(fast, real, kind, options.margin, block), order_flips(fast, real, block)
    failed = real[real["status"] != "ok"]
    content = {
        "simulators": [str(fast["simulator"].iloc[0]), str(real["simulator"].iloc[0])],
        "topology": kind,
        "failed": failed[["network", "policy", "error"]].to_dict("records"),
        "agreement": [row.to_json() for row in rows],
        "order_flips": [flip.to_json() for flip in flips],
    }
    if options.json:
        print_json(content)
    else:
        _print(kind, rows, flips, failed["error"])
    return content


def _print(kind: str, rows: Sequence[Agreement], flips: Sequence[OrderFlip], failed: Iterable[str]) -> None:
    table = Table(title=f"ns-3 − fast engine, {kind} (95 % Student's t over blocks of networks)")
    for name in ("policy", "metric", "engine", "ns-3", "difference", "95 %", "spread", "without starved", "verdict"):
        table.add_column(name, justify="left" if name in ("policy", "metric", "verdict") else "right")
    for r in rows:
        unit = "bits" if r.metric == "score_bits" else "%"
        numbers = (f"{r.first:.3f}", f"{r.second:.3f}", f"{r.difference:+.3f} {unit}", f"[{r.low:+.3f}, {r.high:+.3f}]")
        table.add_row(escape(r.policy), r.metric, *numbers, f"{r.spread:.3f}", _without(r), r.verdict)
    console = wide_console()
    console.print(table)
    for f in flips:
        sure = "settled" if f.matters else "not settled in ns-3"
        console.print(
            f"order: the engine prefers {f.better_in_first}, ns-3 {f.better_in_second} ({sure})", markup=False
        )
    for error in dict.fromkeys(failed):
        console.print(f"failed in ns-3: {error}", markup=False)


def _without(row: Agreement) -> str:
    """Return the difference without networks on which only one simulator starved a sender, and their number."""
    return f"{row.without_starved:+.3f} ({row.starved} left out)" if row.starved else ""


def _kind(options: argparse.Namespace) -> str:
    return options.topology.kind if options.topology else "dumbbell"
