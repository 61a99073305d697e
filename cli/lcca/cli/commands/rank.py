"""`lcca rank`: a ranking of any number of policies, on the same fresh networks or flows of a fabric."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.markup import escape
from rich.table import Table

from lcca.cli.fabric.options import FABRIC_HELP, add_set
from lcca.cli.fabric.ranking import MOST as SEEDS
from lcca.cli.fabric.ranking import contest_on_fabric
from lcca.cli.options.common import figure_file, positive, print_json
from lcca.cli.options.policies import POLICY_HELP
from lcca.cli.options.ranking import MOST as NETWORKS
from lcca.cli.options.ranking import Contest, contest_on_networks
from lcca.cli.options.trials import add_rule, add_trials, plan_of, rule_of, stopped_early, stops_when_settled
from lcca.cli.tables import wide_console
from lcca.evaluation.comparison.ranking import Ranking, rank
from lcca.evaluation.report.figures.ranking import draw_ranking, rank_words
from lcca.evaluation.report.figures.style import save_png
from lcca.evaluation.report.words.statements import interval
from lcca.evaluation.settling.rules import BY_KIND
from lcca.evaluation.trials.blocks import Block, Decision, run_blocks
from lcca.evaluation.trials.ratio import Ratio
from lcca.experiments.campaign.config import require
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.runs.remaining import more_pairs

EXAMPLES = """\
  lcca rank e2e.json link.json aimd fixed-window:12 --space configs/networks/default.yaml --networks 500
  lcca rank vegas cubic bbr tuned/policy.json --space configs/networks/default.yaml --simulator ns3 --json
  lcca rank e2e.json aimd --space configs/networks/default.yaml --topology line --figure ranking.png
  lcca rank dctcp dcqcn hpcc --fabric configs/fabric/leaf-spine.yaml --utility slowdown-short-p99"""


RULES = {kind: rule for kind, rule in BY_KIND.items() if rule.guarantee in ("at every look", "at its own looks")}
"""Rules that may look after each block."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("policies", nargs="+", help=f"{POLICY_HELP}; {FABRIC_HELP}")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--space", type=Path, help="YAML file of the network space")
    where.add_argument("--fabric", type=Path, help="YAML file of a fabric scenario")
    add_set(parser)
    parser.add_argument(
        "--networks", type=positive, help=f"most networks; fewer if they are enough (default: {NETWORKS})"
    )
    parser.add_argument(
        "--seeds",
        type=positive,
        help=f"trials per network (default: 1); on a fabric most seeds, fewer if they are enough (default: {SEEDS})",
    )
    add_rule(parser, "networks or seeds", "of all ranks together")
    parser.add_argument(
        "--rule",
        choices=sorted(RULES),
        default="group-sequential",
        help="how pairs are settled: group-sequential (default) spends α within the most, t-mixture has no end",
    )
    parser.add_argument("--figure", type=figure_file, help="PNG file for the ranking")
    add_trials(parser, None)
    parser.set_defaults(run=run, utility=None, bound=False)


def run(options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever is settled."""
    require(len(options.policies) >= 2, "a ranking needs at least two policies")
    require(len(set(options.policies)) == len(options.policies), "a policy is named twice")
    contest = contest_on_fabric(options) if options.fabric else contest_on_networks(options)
    source, soon, most = contest.source, stops_when_settled(options), contest.source.whole(contest.most)
    rule = rule_of(options, RULES[options.rule], contest.option, contest.most, source)

    def run_block(block: Block) -> pd.DataFrame:
        return source.rows(contest.policies, block)

    def decide(parts: Sequence[pd.DataFrame], _: int) -> Decision[Ranking]:
        scores = network_scores(pd.concat(parts, ignore_index=True))
        ranking = rank(scores, utility=source.utility, rule=rule, block=source.block)
        return Decision(ranking, ranking.enough or (soon and ranking.settled))

    with Reporter().task(f"ranking {len(contest.policies)} policies", total=most) as task:

        def tell(done: int, ranking: Ranking) -> None:
            pairs = list(ranking.comparisons)
            settled = sum(c.adjusted.settled for c in pairs)
            words = f"{done} {source.unit}: {settled} of {len(pairs)} pairs settled"
            task.update(done, words, more_pairs(pairs, done, 0, most, soon))

        parts, ranking = run_blocks(plan_of(options, rule, most, source), run_block, decide, tell=tell)
    _report(options, contest, ranking, pd.concat(parts, ignore_index=True))
    return 0


def _report(options: argparse.Namespace, contest: Contest, ranking: Ranking, rows: pd.DataFrame) -> None:
    """Draw and print a ranking; the rows say which trials failed."""
    source = contest.source
    title = ", ".join((*source.origin.values(), f"utility {source.utility.name}: {ranking.networks} {source.unit}"))
    if options.figure:
        save_png(draw_ranking(ranking.standings, title), options.figure.parent, options.figure.stem)
    early = stops_when_settled(options) and not ranking.enough
    note = stopped_early(ranking.networks, source.unit) if early else ""
    failed = rows[rows["status"] != "ok"]
    if options.json:
        run = {"format": 1, **source.origin, "utility": source.utility.name, "unit": source.unit, **contest.told}
        lost = failed[["policy", "network", "seed", "error"]].to_dict("records")
        print_json(ranking.to_json() | run | {"failed": lost, "note": note})
    else:
        notes = (note, *(f"failed: {error}" for error in dict.fromkeys(failed["error"])))
        what = source.utility.measure if isinstance(source.utility, Ratio) else "throughput"
        _print(ranking, title, f"{options.margin_percent:g} % of {what}", filter(None, notes))


def network_scores(rows: pd.DataFrame) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """Return each policy's score per network: the mean over its seeds, NaN where a trial failed."""
    rows = rows.assign(score_bits=rows["score_bits"].where(rows["status"] == "ok"))
    failed = rows["status"].ne("ok").groupby([rows["policy"], rows["network"]]).any()
    mean = rows.groupby(["policy", "network"])["score_bits"].mean().mask(failed)
    return {str(name): mean.loc[name].to_numpy(dtype=np.float64) for name in dict.fromkeys(rows["policy"])}


def _print(found: Ranking, title: str, margin: str, notes: Iterable[str]) -> None:
    table = Table(title=escape(title))
    for name in ("rank", "policy", f"score (bits) [{1 - found.alpha:.0%}]", "ties", "better than", "worse than"):
        table.add_column(name, justify="left" if name in ("policy", "ties") else "right", overflow="fold")
    for standing, s in zip(found.standings, found.to_json()["standings"], strict=True):
        score = interval(s["score_bits"], s["low"], s["high"], "{:.3f}")
        counts = (str(s["better_than"]), str(s["worse_than"]))
        table.add_row(rank_words(standing), escape(s["policy"]), score, s["ties"], *counts)
    console = wide_console()
    console.print(table)
    console.print(
        f"ranks hold together at {1 - found.alpha:.0%}; a letter in common: not distinguished, or not by {margin}",
        style="dim",
        markup=False,
    )
    open_ = [f"{c.B} and {c.A}" for c in found.comparisons if not c.adjusted.settled]
    if open_:
        console.print(f"not settled: {', '.join(open_)}", style="dim", markup=False)
    for note in notes:
        console.print(note, markup=False)
