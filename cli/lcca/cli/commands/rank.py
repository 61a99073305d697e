"""`lcca rank`: a ranking of any number of policies, on the same fresh networks."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.markup import escape
from rich.table import Table

from lcca.cli.options.common import figure_file, positive, print_json
from lcca.cli.options.policies import POLICY_HELP
from lcca.cli.options.simulators import simulator_for
from lcca.cli.options.trials import (
    add_rule,
    add_space,
    add_trials,
    plan_of,
    rule_of,
    setup_on_space,
    stopped_early,
    stops_when_settled,
)
from lcca.cli.tables import interval, wide_console
from lcca.evaluation.comparison.ranking import Ranking, rank
from lcca.evaluation.report.figures.ranking import draw_ranking, rank_words
from lcca.evaluation.report.figures.style import save_png
from lcca.evaluation.settling.rules import BY_KIND
from lcca.evaluation.trials.blocks import Block, Decision, run_blocks
from lcca.evaluation.trials.running import run_trials
from lcca.experiments.campaign.config import require
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.runs.remaining import more_pairs
from lcca.experiments.runs.seeds import derive

EXAMPLES = """\
  lcca rank e2e.json link.json aimd fixed-window:12 --space configs/networks/default.yaml --networks 500
  lcca rank vegas cubic bbr tuned/policy.json --space configs/networks/default.yaml --simulator ns3 --json
  lcca rank e2e.json aimd --space configs/networks/default.yaml --topology line --figure ranking.png"""


RULES = {kind: rule for kind, rule in BY_KIND.items() if rule.guarantee in ("at every look", "at its own looks")}
"""Rules that may look after each block."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("policies", nargs="+", help=POLICY_HELP)
    add_space(parser)
    parser.add_argument(
        "--networks", type=positive, default=512, help="most networks; fewer if they are enough (default: 512)"
    )
    parser.add_argument("--seeds", type=positive, default=1, help="trials per network (default: 1)")
    add_rule(parser, "networks", "of all ranks together")
    parser.add_argument(
        "--rule",
        choices=sorted(RULES),
        default="group-sequential",
        help="how pairs are settled: group-sequential (default) spends α within --networks, t-mixture has no end",
    )
    parser.add_argument("--figure", type=figure_file, help="PNG file for the ranking")
    add_trials(parser, None)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever is settled."""
    require(len(options.policies) >= 2, "a ranking needs at least two policies")
    require(len(set(options.policies)) == len(options.policies), "a policy is named twice")
    found, space = setup_on_space(options, options.policies)
    rule, soon, most = (
        rule_of(options, RULES[options.rule], "--networks", options.networks, space),
        stops_when_settled(options),
        space.whole(options.networks),
    )
    simulator, policies = (
        simulator_for(options, found.engine),
        dict(zip(_short(options.policies), found.policies, strict=True)),
    )
    seed = derive(options.seed, "rank")
    seeds = [derive(seed, "run", k) for k in range(options.seeds)]

    def run_block(block: Block) -> pd.DataFrame:
        networks = space.draw(seed, block.size, first_id=block.first)
        return run_trials(simulator, policies, networks, seeds, found.utility, keep_delays=False)

    def decide(parts: Sequence[pd.DataFrame], _: int) -> Decision[Ranking]:
        scores = network_scores(pd.concat(parts, ignore_index=True))
        ranking = rank(scores, utility=found.utility, rule=rule, block=space.block)
        return Decision(ranking, ranking.enough or (soon and ranking.settled))

    with Reporter().task(f"ranking {len(policies)} policies", total=most) as task:

        def tell(done: int, ranking: Ranking) -> None:
            pairs = list(ranking.comparisons)
            settled = sum(c.adjusted.settled for c in pairs)
            words = f"{done} networks: {settled} of {len(pairs)} pairs settled"
            task.update(done, words, more_pairs(pairs, done, 0, most, soon))

        parts, ranking = run_blocks(plan_of(options, rule, most, space), run_block, decide, tell=tell)
    title = f"{simulator.name}, {space.topology}, utility {options.utility}: {ranking.networks} networks"
    if options.figure:
        save_png(draw_ranking(ranking.standings, title), options.figure.parent, options.figure.stem)
    note = stopped_early(ranking.networks) if soon and not ranking.enough else ""
    rows = pd.concat(parts, ignore_index=True)
    failed = rows[rows["status"] != "ok"]
    if options.json:
        run = {
            "format": 1,
            "simulator": simulator.name,
            "topology": str(space.topology),
            "utility": options.utility,
        }
        lost = failed[["policy", "network", "seed", "error"]].to_dict("records")
        print_json(ranking.to_json() | run | {"seeds": options.seeds, "failed": lost, "note": note})
    else:
        notes = (note, *(f"failed: {error}" for error in dict.fromkeys(failed["error"])))
        _print(ranking, title, options.margin_percent, filter(None, notes))
    return 0


def network_scores(rows: pd.DataFrame) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """Return each policy's score per network: the mean over its seeds, NaN where a trial failed."""
    rows = rows.assign(score_bits=rows["score_bits"].where(rows["status"] == "ok"))
    failed = rows["status"].ne("ok").groupby([rows["policy"], rows["network"]]).any()
    mean = rows.groupby(["policy", "network"])["score_bits"].mean().mask(failed)
    return {str(name): mean.loc[name].to_numpy(dtype=np.float64) for name in dict.fromkeys(rows["policy"])}


def _short(names: list[str]) -> list[str]:
    """Return what the table calls each policy: a file's name without folder and ending, where that is unique."""
    stems = [Path(name).stem if Path(name).is_file() else name for name in names]
    return [stem if stems.count(stem) == 1 else name for name, stem in zip(names, stems, strict=True)]


def _print(found: Ranking, title: str, margin_percent: float, notes: Iterable[str]) -> None:
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
        f"ranks hold together at {1 - found.alpha:.0%}; a letter in common: not distinguished, or not by "
        f"{margin_percent:g} % of throughput",
        style="dim",
        markup=False,
    )
    open_ = [f"{c.B} and {c.A}" for c in found.comparisons if not c.adjusted.settled]
    if open_:
        console.print(f"not settled: {', '.join(open_)}", style="dim", markup=False)
    for note in notes:
        console.print(note, markup=False)
