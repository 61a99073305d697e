"""`lcca compare`: two policies, paired on fresh networks or flows of a fabric, until it is settled which is better."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lcca.cli.fabric.options import FABRIC_HELP, add_set
from lcca.cli.fabric.pairing import MOST as FABRIC_PAIRS
from lcca.cli.fabric.pairing import pairs_on_fabric
from lcca.cli.options.common import positive, print_json
from lcca.cli.options.costs import looks_of, tell_costs
from lcca.cli.options.kept import Kept, add_folder, kept
from lcca.cli.options.pairing import Pairing, pairs_on_networks, scores_of
from lcca.cli.options.policies import POLICY_HELP
from lcca.cli.options.simulators import report_failures
from lcca.cli.options.trials import (
    add_bound,
    add_rule,
    add_trials,
    plan_of,
    rule_of,
    stopped_early,
    stops_when_settled,
)
from lcca.cli.tables import print_comparison, print_ideals
from lcca.evaluation.bounds.summary import beside_ideals, ideal_summary
from lcca.evaluation.comparison.compare import Comparison, compare_policies
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.verdict import SettlingRule
from lcca.evaluation.trials.blocks import Decision, run_blocks
from lcca.experiments.runs.remaining import more_pairs
from lcca.inputs.class_names import one_name
from lcca.inputs.errors import InputError

EXAMPLES = """\
  lcca compare aimd fixed-window:20 --space configs/networks/default.yaml
  lcca compare e2e.json link.json --space configs/networks/default.yaml --margin-percent 1 --json
  lcca compare dcqcn hpcc --fabric configs/fabric/leaf-spine.yaml --utility slowdown-short-p99 --stop settled"""

PAIRS = 5000
NS3_PAIRS = 512
"""A trial in ns-3 costs 300 times as much. Fewer would miss rare events: `benchmarks/null.py --pairs 512`."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("a", type=one_name, help=f"the baseline: {POLICY_HELP}; {FABRIC_HELP}")
    parser.add_argument("b", type=one_name, help="the candidate, likewise")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--space", type=Path, help="YAML file of the network space")
    where.add_argument("--fabric", type=Path, help="YAML file of a fabric scenario")
    add_set(parser)
    parser.add_argument(
        "--pairs",
        type=positive,
        help=f"most (network, seed) pairs (default: {PAIRS}, in ns-3 {NS3_PAIRS}, on a fabric {FABRIC_PAIRS})",
    )
    add_rule(parser, "pairs", "over all looks")
    parser.add_argument(
        "--private-seeds",
        action="store_true",
        help="let the two meet different traffic on the same networks (an A/A check of the method)",
    )
    add_bound(parser)
    add_folder(parser)
    add_trials(parser, None)
    parser.set_defaults(run=run, utility=None)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.overrides and not options.fabric:
        raise InputError("--set: needs --fabric")
    ns3 = options.simulator == "ns3"
    pairing = pairs_on_fabric(options) if options.fabric else pairs_on_networks(options, NS3_PAIRS if ns3 else PAIRS)
    if options.plan:
        looks = looks_of(options.pairs or pairing.most, pairing)
        return tell_costs(options, pairing.run, pairing.weights(max(looks.values())), looks, "pairs")
    pairs = options.pairs or pairing.most
    rule = rule_of(options, SettlingRule, "--pairs", pairs, pairing)
    if options.bound and pairing.ideals:  # or say so before any trial
        pairing.ideals(1)
    with kept(options, (options.a, options.b)) as place:
        parts, compared = _compared(options, pairing, rule, place)
        content = _content(options, pairing, parts, compared)
        place.finish(content)
        _report(options, content)
    return report_failures([error for part in parts for error in part["error"] if error])


def _compared(
    options: argparse.Namespace, pairing: Pairing, rule: Rule, place: Kept
) -> tuple[list[pd.DataFrame], Comparison]:
    """Return the trials, block by block, and what they say."""
    soon, most, utility = stops_when_settled(options), pairing.whole(options.pairs or pairing.most), pairing.utility

    def decide(parts: Sequence[pd.DataFrame], _: int) -> Decision[Comparison]:
        a, b = scores_of(parts)
        compared = compare_policies(options.a, options.b, a, b, utility=utility, rule=rule, block=pairing.block)
        return Decision(compared, compared.enough or (soon and compared.verdict.settled))

    with place.reporter.task(f"comparing {options.b} with {options.a}", most, 2, "pairs") as task:

        def tell(done: int, compared: Comparison) -> None:
            remaining = more_pairs([compared], done, 0, most, soon)
            task.update(done, f"{done} pairs: {compared.verdict.name}", remaining)

        plan = plan_of(options, rule, most, pairing)
        parts, compared = run_blocks(plan, pairing.run, decide, keep=place.keep, tell=tell)
    return parts, compared


def _content(
    options: argparse.Namespace, pairing: Pairing, parts: Sequence[pd.DataFrame], compared: Comparison
) -> dict[str, Any]:
    """Return the result as JSON values."""
    if stops_when_settled(options) and not compared.enough:
        compared = replace(compared, note="; ".join(filter(None, (compared.note, stopped_early(compared.n)))))
    content = compared.to_json()
    if options.bound and pairing.ideals:
        a, b = scores_of(parts)
        scores = {name: float(np.nanmean(each)) for name, each in ((options.a, a), (options.b, b))}
        content["ideal"] = beside_ideals(ideal_summary(pairing.ideals(len(a)), pairing.block), scores, options.a)
    return content


def _report(options: argparse.Namespace, content: dict[str, Any]) -> None:
    """Print a comparison."""
    if options.json:
        print_json(content)
    else:
        print_comparison(content)
        if options.bound:
            print_ideals(content["ideal"], "what is possible on these networks")
