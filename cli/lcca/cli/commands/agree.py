"""`lcca agree`: do the fast engine and ns-3 say the same of these policies?"""

from __future__ import annotations

import argparse
from typing import Any

from rich.markup import escape
from rich.table import Table

from lcca.cli.options.common import figure_file, positive, print_json
from lcca.cli.options.trials import POLICY_HELP, add_folder, add_place, place_of, run_or_plan
from lcca.cli.printing.console import wide_console
from lcca.evaluation.comparison.agreement import MARGIN_BITS, paired
from lcca.evaluation.report.figures.agreement import draw_agreement
from lcca.evaluation.report.figures.saving import save_as
from lcca.experiments.recipes.agree import NETWORKS, agreeing, halves
from lcca.inputs.names import one_name

EXAMPLES = """\
  lcca agree e2e.json link.json --on configs/networks/default.yaml --trials 50
  lcca agree e2e.json aimd --on configs/networks/default.yaml --topology line --ns3 header_bytes=0 --json"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("policies", nargs="+", type=one_name, help=POLICY_HELP)
    add_place(parser, "--space", simulator=False)
    parser.add_argument("--trials", "--networks", type=positive, default=NETWORKS, help="networks (default: 96)")
    parser.add_argument("--margin", type=float, default=MARGIN_BITS, help="bits (default: %(default)s)")
    parser.add_argument("--figure", type=figure_file, help="PDF, PNG or SVG file: score, throughput and delay")
    add_folder(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever the verdict, 1 if a trial failed in ns-3."""
    wanted = place_of(options)
    prepared = agreeing(options.policies, options.on, trials=options.trials, margin_bits=options.margin, **wanted)
    if (result := run_or_plan(options, prepared)) is None:
        return 0
    if options.figure:
        fast, real = halves(result.rows)
        names = ("fast engine", result.content["simulators"][1])
        save_as(draw_agreement({result.content["topology"]: paired(fast, real)}, names), options.figure)
    if options.json:
        print_json(result.content)
    else:
        _print(result.content)
    return 1 if result.content["failed"] else 0


def _print(found: dict[str, Any]) -> None:
    table = Table(title=f"ns-3 − fast engine, {found['topology']} (95 % Student's t over blocks of networks)")
    for name in ("policy", "metric", "engine", "ns-3", "difference", "95 %", "spread", "without starved", "verdict"):
        table.add_column(name, justify="left" if name in ("policy", "metric", "verdict") else "right")
    for r in found["agreement"]:
        unit = "bits" if r["metric"] == "score_bits" else "%"
        starved = f"{_number(r['without_starved'], '+')} ({r['starved']} left out)" if r["starved"] else ""
        numbers = (_number(r["first"]), _number(r["second"]), f"{_number(r['difference'], '+')} {unit}")
        ends = f"[{_number(r['low'], '+')}, {_number(r['high'], '+')}]"
        table.add_row(escape(r["policy"]), r["metric"], *numbers, ends, _number(r["spread"]), starved, r["verdict"])
    console = wide_console()
    console.print(table)
    for each in found["order_flips"]:
        sure = "settled" if each["settled"] else "not settled in ns-3"
        words = f"order: the engine prefers {each['engine_prefers']}, ns-3 {each['ns3_prefers']} ({sure})"
        console.print(words, markup=False)
    for error in dict.fromkeys(each["error"] for each in found["failed"]):
        console.print(f"failed in ns-3: {error}", markup=False)


def _number(value: float | None, sign: str = "") -> str:
    return "–" if value is None else f"{value:{sign}.3f}"
