"""`lcca evaluate`: what policies do on a list of networks or a space, or transports on a fabric."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from lcca.cli.options.common import figure_file, positive, positive_us, print_json
from lcca.cli.options.trials import (
    POLICY_HELP,
    add_bound,
    add_folder,
    add_place,
    place_of,
    report_failures,
    run_or_plan,
)
from lcca.cli.printing.console import print_table, wide_console
from lcca.cli.printing.fabric import print_fabric
from lcca.cli.printing.tables import with_error
from lcca.evaluation.bounds.ideals import IDEALS
from lcca.evaluation.fabric.figures.flows import curve_rows, curves_of, draw_fabric, draw_rates, rates_of
from lcca.evaluation.fabric.figures.series import draw_series, series
from lcca.evaluation.fabric.space import FabricTrials
from lcca.evaluation.fabric.trials import FabricTrial
from lcca.evaluation.report.figures.saving import save, save_as
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.metrics import NETWORK_TRIALS, shown
from lcca.experiments.recipes.evaluate import SEEDS, evaluating, fabric_trials
from lcca.inputs.errors import require
from lcca.inputs.names import one_name
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus.fabric.fluid import FABRIC

EXAMPLES = """\
  lcca evaluate aimd --on configs/networks/examples.yaml --seeds 10
  lcca evaluate policy.json --on configs/networks/examples.yaml --seeds 10 --duration 10000 --json
  lcca evaluate policy.json --on configs/networks/examples.yaml --seeds 3 --simulator ns3 --topology line
  lcca evaluate dctcp dcqcn timely hpcc swift powertcp --on configs/fabric/leaf-spine.yaml
  lcca evaluate dcqcn dcqcn:increase_us=55,fast_recovery=5 --on configs/fabric/incast.yaml --set switch.pfc=false"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("policies", nargs="+", type=one_name, metavar="policy", help=POLICY_HELP)
    add_place(parser, "--networks", "--space", "--fabric")
    parser.add_argument("--seeds", type=positive, help=f"trials per network, or on the fabric (default: {SEEDS})")
    parser.add_argument("--trials", type=positive, help="networks (default: all of a list, 10 of a space)")
    parser.add_argument("--per-flow", type=_parquet_file, help="parquet file for a row per flow (fabric)")
    parser.add_argument("--per-port", type=_parquet_file, help="parquet file for a row per port (fabric)")
    parser.add_argument(
        "--figure",
        type=figure_file,
        help="PDF, PNG or SVG file, and PNG, SVG and CSV beside it: slowdown by size, distributions, pauses (fabric)",
    )
    parser.add_argument(
        "--rates",
        type=_flow_numbers,
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
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    for name, asked in {"--rates": options.rates, "--series": options.series}.items():
        require(not asked or options.figure, f"{name}: needs --figure, beside which it is drawn")
        require(not asked or not options.out, f"{name}: not with --out: trials are kept, not what was sampled in them")
    prepared = evaluating(
        options.policies,
        options.on,
        trials=options.trials,
        bound=options.bound,
        watched=options.rates,
        observe_us=options.series,
        **place_of(options),
    )
    place = prepared.experiment.place
    of_fabric = {"--per-flow": options.per_flow, "--per-port": options.per_port, "--figure": options.figure}
    for name, asked in of_fabric.items():
        require(not asked or isinstance(place, FabricTrials), f"{name}: needs a fabric scenario")
    if isinstance(place, FabricTrials) and place.simulator != FABRIC:
        for name in ("--per-port", "--figure"):
            require(not of_fabric[name], f"{name}: not with --simulator {place.simulator}, which has no port records")
    if (result := run_or_plan(options, prepared)) is None:
        return 0
    content = result.content
    if isinstance(place, FabricTrials):
        trials = list(fabric_trials(result.rows, place))
        _write(options, trials, place)
        if options.json:
            print_json(content | {"rows": [each.row(place.utility) for each in trials]})
        else:
            print_fabric(place.space.scenarios[0], place.utility.name, content["policies"], place.simulator)
        return 0
    if options.json:
        print_json(content)
    else:
        _print(content["policies"])
    return report_failures(list(result.rows["error"]))


def _print(found: Sequence[dict[str, Any]]) -> None:
    metrics = shown(NETWORK_TRIALS, "evaluate")
    for policy in dict.fromkeys(row["id"] for row in found):
        rows = [row for row in found if row["id"] == policy]
        bounds = [name for name in IDEALS if any(name in r for r in rows)]
        head = ("network", *(each.head for each in metrics), *(name.removesuffix("_bits") for name in bounds))
        cells = [
            (
                f"{r['network']}: {r['link_rate']:g} packets/µs, rtt {r['rtt']:g} µs, {r['senders']} senders",
                *(with_error(r[each.name], r[f"{each.name}_se"]) for each in metrics),
                *("–" if math.isnan(r[name]) else f"{r[name]:.3f}" for name in bounds),
            )
            for r in rows
        ]
        print_table(Table(f"{policy} (± one standard error over seeds)", head, cells))
    in_gbps = f"1 packet/µs is {PACKET_BYTES * 8e-3:g} Gb/s with packets of {PACKET_BYTES:,} bytes"
    wide_console().print(in_gbps, style="dim")


def _write(options: argparse.Namespace, trials: list[FabricTrial], place: FabricTrials) -> None:
    """Write the tables and figures that the options name."""
    for path, rows in ((options.per_flow, FabricTrial.flow_rows), (options.per_port, FabricTrial.port_rows)):
        if path:
            pd.concat([rows(each) for each in trials], ignore_index=True).to_parquet(path, index=False)
    if not options.figure:
        return
    name, file, curves, rates = place.space.name, options.figure, curves_of(trials), rates_of(trials)
    _save(draw_fabric(curves, f"{name}, {len({each.seed for each in trials})} trials"), file, "")
    if rates:
        _save(draw_rates(rates, f"{name}, seed {options.seed}"), file, "-rates")
    curve_rows(curves, rates).to_csv(_beside(file, ".csv"), index=False)
    if place.observed:
        tables = [series(policy, each) for policy, each in place.observed.items()]
        _save(draw_series(tables, f"{name}, seed {options.seed}"), file, "-series")
        pd.concat(tables, ignore_index=True).to_csv(_beside(file, "-series.csv"), index=False)


def _save(figure: Figure, file: Path, part: str) -> None:
    """Write a figure as PNG and SVG, and as PDF if that is asked for."""
    save(figure, file.parent, f"{file.stem}{part}")
    if file.suffix == ".pdf":
        save_as(figure, _beside(file, f"{part}.pdf"))


def _beside(file: Path, ending: str) -> Path:
    return file.with_name(file.stem + ending)


def _parquet_file(text: str) -> Path:
    """Parse the name of a parquet file that can be written when the trials are done."""
    path = Path(text)
    if path.suffix != ".parquet":
        raise argparse.ArgumentTypeError(f"{path}: name a file that ends in .parquet")
    if not path.parent.is_dir() or path.is_dir():
        raise argparse.ArgumentTypeError(f"{path}: no such folder, or a folder itself")
    return path


def _flow_numbers(text: str) -> list[int]:
    """Parse the numbers of some flows."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 18 for part in parts):
        raise argparse.ArgumentTypeError(f"{text[:60]}: must be numbers of flows such as 3,17")
    return list(dict.fromkeys(map(int, parts)))
