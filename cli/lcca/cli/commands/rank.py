"""`lcca rank`: a ranking of any number of policies, on the same fresh networks or flows of a fabric."""

from __future__ import annotations

import argparse
import math
import time
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
from lcca.cli.options.bench import add_bench, contest_on_bench, costs_on_bench, seconds
from lcca.cli.options.common import figure_file, positive, print_json
from lcca.cli.options.costs import looks_of, print_costs, tell_costs
from lcca.cli.options.kept import Kept, add_folder, kept
from lcca.cli.options.policies import POLICY_HELP
from lcca.cli.options.ranking import MOST as NETWORKS
from lcca.cli.options.ranking import Contest, contest_on_networks
from lcca.cli.options.trials import add_rule, add_trials, plan_of, rule_of, stopped_early, stops_when_settled
from lcca.cli.tables import wide_console
from lcca.evaluation.bench.benchmark import packaged_benchmarks
from lcca.evaluation.bench.winning import WinningRate
from lcca.evaluation.comparison.ranking import TOO_FEW_TO_RANK, Ranking, rank
from lcca.evaluation.report.figures.ranking import draw_ranking, rank_words
from lcca.evaluation.report.figures.saving import save_as
from lcca.evaluation.report.words.statements import interval
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.rules import BY_KIND
from lcca.evaluation.trials.blocks import Block, Decision, run_blocks
from lcca.evaluation.trials.ratio import Ratio
from lcca.evaluation.trials.utility import Utility
from lcca.experiments.campaign.config import require
from lcca.experiments.runs.remaining import more_pairs
from lcca.inputs.class_names import one_name

EXAMPLES = """\
  lcca rank e2e.json link.json aimd fixed-window:12 --space configs/networks/default.yaml --networks 500
  lcca rank vegas cubic bbr tuned/policy.json --space configs/networks/default.yaml --simulator ns3 --json
  lcca rank e2e.json aimd --space configs/networks/default.yaml --topology line --figure ranking.png
  lcca rank dctcp dcqcn hpcc --fabric configs/fabric/leaf-spine.yaml --utility slowdown-short-p99
  lcca rank cubic vegas bbr yeah htcp --bench cc-bench-1 --budget 30m"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("policies", nargs="+", type=one_name, help=f"{POLICY_HELP}; {FABRIC_HELP}")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--space", type=Path, help="YAML file of the network space")
    where.add_argument("--fabric", type=Path, help="YAML file of a fabric scenario")
    where.add_argument(
        "--bench",
        help=f"a benchmark (in ns-3 by default), by how often who wins: {', '.join(packaged_benchmarks())}, or a file",
    )
    add_set(parser)
    parser.add_argument(
        "--networks",
        type=positive,
        help=f"most networks; fewer if they are enough (default: {NETWORKS}; with --bench each scenario once)",
    )
    parser.add_argument(
        "--seeds",
        type=positive,
        help=f"trials per network (default: 1); on a fabric most seeds, fewer if they are enough (default: {SEEDS})",
    )
    add_rule(parser, "networks or seeds", "of all ranks together")
    parser.add_argument(
        "--rule",
        choices=sorted(BY_KIND),
        help="how pairs are settled: group-sequential (default) spends α within the most; t-mixture (default of "
        "--bench) may stop at any time",
    )
    parser.add_argument(
        "--budget",
        type=seconds,
        help="stop after this time, as in 30m, settled or not: with --rule t-mixture or --bench alone",
    )
    add_folder(parser, "with --bench results/<name>/<hash>; else nothing is kept")
    add_bench(parser)
    parser.add_argument("--figure", type=figure_file, help="PDF, PNG or SVG file for the ranking")
    add_trials(parser, None)
    parser.set_defaults(run=run, utility=None, bound=False, simulator=None)


def run(options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever is settled."""
    require(len(options.policies) >= 2, "a ranking needs at least two policies")
    require(len(set(options.policies)) == len(options.policies), "a policy is named twice")
    options.rule = options.rule or ("t-mixture" if options.bench else "group-sequential")
    require(options.budget is None or options.rule == "t-mixture", "--budget: needs --rule t-mixture")
    require(bool(options.bench) or not options.trial_cache, "--trial-cache: needs --bench")
    contest = _contest(options)
    if options.plan:
        return _plan(options, contest)
    rule = rule_of(options, BY_KIND[options.rule], contest.option, contest.most, contest.source, contest.first_look)
    with kept(options, options.policies, unasked=bool(options.bench)) as place:
        rows, ranking, ended = _ranked(options, contest, rule, place)
        content = _content(options, contest, ranking, rows, ended)
        place.finish(content, complete=not ended)
        _report(options, contest, ranking, rows, content)
    return 0


def _plan(options: argparse.Namespace, contest: Contest) -> int:
    """Print what a ranking costs."""
    source, looks = contest.source, looks_of(contest.most, contest.source)
    if not options.bench:
        weights = source.weights(max(looks.values()))
        return tell_costs(options, lambda block: source.rows(contest.policies, block), weights, looks, source.unit)
    paces, costs = costs_on_bench(options, contest)
    if options.json:
        print_json({"cpu_s_per_gigabit": paces, "costs": [each.to_json() for each in costs]})
        return 0
    for name, pace in paces.items():
        print(f"{name}: {pace:.2f} CPU s per Gb")
    print_costs(dict(zip(looks, costs, strict=True)))
    return 0


def _contest(options: argparse.Namespace) -> Contest:
    options.simulator = options.simulator or ("ns3" if options.bench else "engine")
    if options.bench:
        return contest_on_bench(options)
    return contest_on_fabric(options) if options.fabric else contest_on_networks(options)


def _ranked(
    options: argparse.Namespace, contest: Contest, rule: Rule, place: Kept
) -> tuple[pd.DataFrame, Ranking, bool]:
    """Return the trials, the ranking, and whether the time that was given ended it."""
    source, soon, most = contest.source, stops_when_settled(options), contest.source.whole(contest.most)
    until = math.inf if options.budget is None else time.monotonic() + options.budget

    def done(ranking: Ranking) -> bool:
        return ranking.enough or (soon and ranking.settled)

    def run_block(block: Block) -> pd.DataFrame:
        return source.rows(contest.policies, block)

    def decide(parts: Sequence[pd.DataFrame], _: int) -> Decision[Ranking]:
        scores = network_scores(pd.concat(parts, ignore_index=True))
        ranking = rank(scores, utility=source.utility, rule=rule, block=source.block)
        return Decision(ranking, done(ranking) or time.monotonic() >= until)

    each = len(contest.policies) * int(contest.told.get("seeds", 1))
    with place.reporter.task(f"ranking {len(contest.policies)} policies", most, each, source.unit) as task:

        def tell(done: int, ranking: Ranking) -> None:
            pairs = list(ranking.comparisons)
            settled = sum(c.adjusted.settled for c in pairs)
            words = f"{done} {source.unit}: {settled} of {len(pairs)} pairs settled"
            task.update(done, words, more_pairs(pairs, done, 0, most, soon))

        plan = plan_of(options, rule, most, source)
        parts, ranking = run_blocks(plan, run_block, decide, keep=place.keep, tell=tell)
    rows = pd.concat(parts, ignore_index=True)
    return rows, ranking, not done(ranking) and len(rows) < most * len(contest.policies)


def _content(
    options: argparse.Namespace, contest: Contest, ranking: Ranking, rows: pd.DataFrame, ended: bool
) -> dict[str, Any]:
    """Return the result as JSON values; the rows say which trials failed."""
    source, early = contest.source, stops_when_settled(options) and not ranking.enough
    note = stopped_early(ranking.networks, source.unit) if early else ""
    if ended:
        kept = "; --resume goes on" if options.out or options.bench else ""
        note = f"the time that was given has ended after {ranking.networks} {source.unit}{kept}"
    run = {"format": 1, **source.origin, "utility": source.utility.name, "unit": source.unit, **contest.told}
    lost = rows.loc[rows["status"] != "ok", ["policy", "network", "seed", "error"]].to_dict("records")
    return ranking.to_json() | run | {"failed": lost, "note": note}


def _report(
    options: argparse.Namespace, contest: Contest, ranking: Ranking, rows: pd.DataFrame, content: dict[str, Any]
) -> None:
    """Draw and print a ranking."""
    source = contest.source
    title = ", ".join((*source.origin.values(), f"utility {source.utility.name}: {ranking.networks} {source.unit}"))
    if options.figure:
        save_as(draw_ranking(ranking.standings, title), options.figure)
    if options.json:
        print_json(content)
        return
    notes = (content["note"], *(f"failed: {error}" for error in dict.fromkeys(e["error"] for e in content["failed"])))
    _print(ranking, title, source.utility, f"{options.margin_percent:g} % of {_measure(source.utility)}", notes)


def _measure(utility: Utility) -> str:
    """Return what a margin in per cent is of."""
    if isinstance(utility, WinningRate):
        return "all intervals"
    return utility.measure if isinstance(utility, Ratio) else "throughput"


def network_scores(rows: pd.DataFrame) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """Return each policy's score per network: the mean over its seeds, NaN where a trial failed."""
    rows = rows.assign(score_bits=rows["score_bits"].where(rows["status"] == "ok"))
    failed = rows["status"].ne("ok").groupby([rows["policy"], rows["network"]]).any()
    mean = rows.groupby(["policy", "network"])["score_bits"].mean().mask(failed)
    return {str(name): mean.loc[name].to_numpy(dtype=np.float64) for name in dict.fromkeys(rows["policy"])}


def _print(found: Ranking, title: str, utility: Utility, margin: str, notes: Iterable[str]) -> None:
    table = Table(title=escape(title))
    measure = f"{'winning rate' if isinstance(utility, WinningRate) else 'score (bits)'} [{1 - found.alpha:.0%}]"
    for name in ("rank", "policy", measure, "ties", "better than", "worse than"):
        table.add_column(name, justify="left" if name in ("policy", "ties") else "right", overflow="fold")
    for standing, s in zip(found.standings, found.to_json()["standings"], strict=True):
        score = interval(s["score_bits"], s["low"], s["high"], "{:.3f}")
        counts = (str(s["better_than"]), str(s["worse_than"]))
        table.add_row(rank_words(standing), escape(s["policy"]), score, s["ties"], *counts)
    console = wide_console()
    console.print(table)
    words = f"ranks hold together at {1 - found.alpha:.0%}; a letter in common: not distinguished, or not by {margin}"
    early = found.standings[0].best_rank is None
    console.print(TOO_FEW_TO_RANK if early else words, style="" if early else "dim", markup=False)
    open_ = [f"{c.B} and {c.A}" for c in found.comparisons if not c.adjusted.settled]
    if open_:
        console.print(f"not settled: {', '.join(open_)}", style="dim", markup=False)
    for note in filter(None, notes):
        console.print(note, markup=False)
