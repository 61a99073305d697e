"""`lcca compare`: two policies, paired on fresh networks, until it is settled which is better."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from lcca.cli.options.common import positive, print_json
from lcca.cli.options.policies import POLICY_HELP
from lcca.cli.options.simulators import report_failures, simulator_for
from lcca.cli.options.trials import (
    add_bound,
    add_rule,
    add_space,
    add_trials,
    plan_of,
    rule_of,
    setup_on_space,
    stopped_early,
    stops_when_settled,
)
from lcca.cli.tables import print_comparison, print_ideals
from lcca.evaluation.bounds.ideals import ideal_scores
from lcca.evaluation.bounds.summary import beside_ideals, ideal_summary
from lcca.evaluation.comparison.compare import Comparison, compare_policies
from lcca.evaluation.settling.verdict import SettlingRule
from lcca.evaluation.trials.blocks import Block, Decision, run_blocks
from lcca.evaluation.trials.running import run_trials
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.runs.remaining import more_pairs
from lcca.experiments.runs.seeds import derive

EXAMPLES = """\
  lcca compare aimd fixed-window:20 --space configs/networks/default.yaml
  lcca compare e2e.json link.json --space configs/networks/default.yaml --margin-percent 1 --json"""

PAIRS = 5000
NS3_PAIRS = 512
"""A trial in ns-3 costs 300 times as much. Fewer would miss rare events: `benchmarks/null.py --pairs 512`."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("a", help=f"the baseline: {POLICY_HELP}")
    parser.add_argument("b", help="the candidate, likewise")
    add_space(parser)
    parser.add_argument(
        "--pairs", type=positive, help=f"most (network, seed) pairs (default: {PAIRS}, in ns-3 {NS3_PAIRS})"
    )
    add_rule(parser, "pairs", "over all looks")
    parser.add_argument(
        "--private-seeds",
        action="store_true",
        help="let the two meet different traffic on the same networks (an A/A check of the method)",
    )
    add_bound(parser)
    add_trials(parser, None)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    found, space = setup_on_space(options, [options.a, options.b])
    pairs = options.pairs or (NS3_PAIRS if options.simulator == "ns3" else PAIRS)
    rule, soon, most = (
        rule_of(options, SettlingRule, "--pairs", pairs, space),
        stops_when_settled(options),
        space.whole(pairs),
    )
    simulator = simulator_for(options, found.engine)
    first = derive(options.seed, "compare")
    seeds = (first, derive(options.seed, "compare", "private") if options.private_seeds else first)
    if options.bound:  # or say so before any trial
        ideal_scores(space.draw(first, 1), [first], found.utility, found.engine.duration)

    def run_block(block: Block) -> list[pd.DataFrame]:
        networks = space.draw(first, block.size, first_id=block.first)
        return [
            run_trials(simulator, {"policy": policy}, networks, [seed], found.utility, keep_delays=False)
            for policy, seed in zip(found.policies, seeds, strict=True)
        ]

    def decide(parts: Sequence[list[pd.DataFrame]], _: int) -> Decision[Comparison]:
        a, b = (np.concatenate([part[side]["score_bits"] for part in parts]) for side in (0, 1))
        compared = compare_policies(options.a, options.b, a, b, utility=found.utility, rule=rule, block=space.block)
        return Decision(compared, compared.enough or (soon and compared.verdict.settled))

    with Reporter().task(f"comparing {options.b} with {options.a}", total=most) as task:

        def tell(done: int, compared: Comparison) -> None:
            remaining = more_pairs([compared], done, 0, most, soon)
            task.update(done, f"{done} pairs: {compared.verdict.name}", remaining)

        parts, compared = run_blocks(plan_of(options, rule, most, space), run_block, decide, tell=tell)
    if soon and not compared.enough:
        compared = replace(compared, note="; ".join(filter(None, (compared.note, stopped_early(compared.n)))))
    content = compared.to_json()
    if options.bound:
        a, b = (np.concatenate([part[side]["score_bits"] for part in parts]) for side in (0, 1))
        drawn = ideal_scores(space.draw(first, len(a)), [first], found.utility, found.engine.duration)
        scores = {name: float(np.nanmean(each)) for name, each in ((options.a, a), (options.b, b))}
        content["ideal"] = beside_ideals(ideal_summary(drawn, space.block), scores, options.a)
    if options.json:
        print_json(content)
    else:
        print_comparison(content)
        if options.bound:
            print_ideals(content["ideal"], "what is possible on these networks")
    return report_failures([error for part in parts for rows in part for error in rows["error"] if error])
