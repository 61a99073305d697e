"""`lcca evaluate`: what policies do on networks or a fabric, whether both simulators agree, and what is possible."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lcca.cli.options.common import positive, print_json
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
from lcca.cli.printing.tables import print_gap, print_ideals, with_error
from lcca.evaluation.bounds.ideals import IDEALS
from lcca.evaluation.fabric.space import FabricTrials
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.metrics import NETWORK_TRIALS, shown
from lcca.experiments.recipes.agree import NETWORKS, agreeing
from lcca.experiments.recipes.evaluate import DRAWN, SEEDS, evaluating, fabric_trials, possible
from lcca.inputs.errors import require
from lcca.inputs.names import one_name
from lcca.inputs.units import PACKET_BYTES

EXAMPLES = """\
  lcca evaluate aimd --on configs/networks/examples.yaml --seeds 10
  lcca evaluate policy.json --on configs/networks/examples.yaml --set duration=20000 --simulator ns3
  lcca evaluate dctcp dcqcn timely hpcc swift powertcp --on configs/fabric/leaf-spine.yaml --out run
  lcca evaluate dcqcn dcqcn:increase_us=55 --on configs/fabric/incast.yaml --set switch.pfc=false --trials 20
  lcca evaluate e2e.json aimd --on configs/networks/default.yaml --set topology=line --simulator both:header_bytes=0
  lcca evaluate --bound --on configs/networks/default.yaml --utility 2t --json"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("policies", nargs="*", type=one_name, metavar="policy", help=POLICY_HELP)
    add_place(parser, "or both: do engine and ns3 agree on the same networks?")
    parser.add_argument(
        "--trials",
        type=positive,
        help=f"networks (default: all of a list, {SEEDS} of a space, {NETWORKS} with both simulators, {DRAWN} with "
        f"--bound alone), or trials on a fabric (default: {SEEDS})",
    )
    parser.add_argument("--seeds", type=positive, help=f"trials on each network (default: {SEEDS})")
    add_bound(parser, "; alone without policies")
    add_folder(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if not options.policies:
        return _bound_alone(options)
    simulator, _, settings = (options.simulator or "").partition(":")
    if simulator == "both":
        return _in_both(options, f"ns3:{settings}")
    wanted = place_of(options)
    prepared = evaluating(options.policies, options.on, trials=options.trials, bound=options.bound, **wanted)
    if (result := run_or_plan(options, prepared)) is None:
        return 0
    content, place = result.content, prepared.experiment.place
    if not isinstance(place, FabricTrials):
        if options.json:
            print_json(content)
        else:
            _print(content["policies"], getattr(prepared.meeting.space, "packet_bytes", PACKET_BYTES))
            print_gap(result.rows if options.bound else result.rows[:0])
        return report_failures(list(result.rows["error"]))
    if options.json:
        print_json(content | {"rows": [each.row(place.utility) for each in fabric_trials(result.rows, place)]})
    else:
        print_fabric(place.space.scenarios[0], place.utility.name, content["policies"], place.simulator)
    return 0


def _bound_alone(options: argparse.Namespace) -> int:
    """Print what is possible, whatever the policy."""
    require(options.bound, "name a policy, or ask with --bound what is possible")
    for name in ("simulator", "seeds", "out", "plan"):
        require(not getattr(options, name), f"--{name}: needs a policy")
    wanted = {name: getattr(options, name) for name in ("trials", "utility", "seed", "overrides")}
    found = possible(options.on, **wanted)
    print_json(found) if options.json else print_ideals(found, f"what is possible on {options.on}")
    return 0


def _in_both(options: argparse.Namespace, ns3: str) -> int:
    """Run policies in both simulators: exit status 0 whatever the verdict, 1 if a trial failed in ns-3."""
    require(not options.seeds, "--seeds: not with --simulator both, which has one trial on each network")
    require(not options.bound, "--bound: not with --simulator both")
    wanted = place_of(options) | {"simulator": ns3}
    prepared = agreeing(options.policies, options.on, trials=options.trials, **wanted)
    if (result := run_or_plan(options, prepared)) is None:
        return 0
    print_json(result.content) if options.json else _print_agreement(result.content)
    return 1 if result.content["failed"] else 0


def _print(found: Sequence[dict[str, Any]], packet_bytes: int) -> None:
    gbps = packet_bytes * 8e-3  # of a packet/µs
    metrics = [
        replace(each, scale=1 / gbps, unit="Gb/s") if each.unit == "packets/µs" else each
        for each in shown(NETWORK_TRIALS, "evaluate")
    ]
    for policy in dict.fromkeys(row["id"] for row in found):
        rows = [row for row in found if row["id"] == policy]
        bounds = [name for name in IDEALS if any(name in r for r in rows)]
        head = ("network", *(each.head for each in metrics), *(name.removesuffix("_bits") for name in bounds))
        cells = [
            (
                f"{r['network']}: {r['link_rate'] * gbps:g} Gb/s, rtt {r['rtt']:g} µs, senders: {r['senders']}",
                *(with_error(*(_scaled(r[f"{m.name}{end}"], m.scale) for end in ("", "_se"))) for m in metrics),
                *("–" if math.isnan(r[name]) else f"{r[name]:.3f}" for name in bounds),
            )
            for r in rows
        ]
        print_table(Table(f"{policy} (± one standard error over seeds)", head, cells))
    sizes = f"{gbps:g} Gb/s are 1 packet/µs with packets of {packet_bytes:,} bytes"
    above = (
        "throughput is per time that a sender is on: what arrives later counts too, so it can exceed the link's rate"
    )
    wide_console().print(f"{sizes}; {above}", style="dim")


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value / scale


def _print_agreement(found: dict[str, Any]) -> None:
    head = ("policy", "metric", "engine", "ns-3", "difference", "95 %", "spread", "without starved", "verdict")
    rows = [
        (
            *(r["policy"], r["metric"], _number(r["first"]), _number(r["second"])),
            f"{_number(r['difference'], '+')} {'bits' if r['metric'] == 'score_bits' else '%'}",
            f"[{_number(r['low'], '+')}, {_number(r['high'], '+')}]",
            _number(r["spread"]),
            f"{_number(r['without_starved'], '+')} ({r['starved']} left out)" if r["starved"] else "",
            r["verdict"],
        )
        for r in found["agreement"]
    ]
    title = f"ns-3 − fast engine, {found['topology']} (95 % Student's t over blocks of networks)"
    print_table(Table(title, head, rows, left=("policy", "metric", "verdict")))
    for each in found["order_flips"]:
        sure = "settled" if each["settled"] else "not settled in ns-3"
        words = f"order: the engine prefers {each['engine_prefers']}, ns-3 {each['ns3_prefers']} ({sure})"
        wide_console().print(words, markup=False)
    for error in dict.fromkeys(each["error"] for each in found["failed"]):
        wide_console().print(f"failed in ns-3: {error}", markup=False)


def _number(value: float | None, sign: str = "") -> str:
    return "–" if value is None else f"{value:{sign}.3f}"
