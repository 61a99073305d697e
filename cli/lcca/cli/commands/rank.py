"""`lcca rank`: any number of policies on the same fresh networks, flows or scenarios, with how sure the ranks are."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from lcca.cli.options.common import print_json
from lcca.cli.options.running import run_or_plan
from lcca.experiments.verbs.meeting import Rank

if TYPE_CHECKING:
    from lcca.evaluation.comparison.ranking import Ranking
    from lcca.evaluation.trials.utility import Utility

EXAMPLES = """\
  lcca rank e2e.json link.json aimd fixed-window:12 --on configs/networks/default.yaml --trials 500
  lcca rank vegas cubic bbr tuned/policy.json --on configs/networks/default.yaml --simulator ns3 --json
  lcca rank e2e.json aimd --on configs/networks/default.yaml --set topology=line --out ranking
  lcca rank dctcp dcqcn hpcc --on configs/fabric/leaf-spine.yaml --utility slowdown-short-p99
  lcca rank dcqcn 'dcqcn@{red,step:k_bytes=90000,expert}' --on configs/fabric/leaf-spine.yaml
  lcca rank aimd fair-rate --on configs/networks/default.yaml --rule t-mixture --budget 30m"""


def run(verb: Rank, options: argparse.Namespace) -> int:
    """Run the command: exit status 0 whatever is settled."""
    from lcca.experiments.places import kind_of
    from lcca.experiments.recipes.rank import ranking

    prepared = ranking(verb, cached=not verb.out)
    if (result := run_or_plan(prepared, verb, options)) is None:
        return 0
    found: Ranking = result.answers[0].content
    place = prepared.meeting.place
    title = ", ".join(
        (*place.origin.values(), f"utility {place.utility.name}: {result.content['networks']} {place.unit}")
    )
    if options.json:
        print_json(result.content)
    else:
        kind = kind_of(prepared.meeting.space)
        margin = f"{verb.margin_percent:g} % of {kind.whole if kind else _measure(place.utility)}"
        _print(found, title, kind.measure if kind else "score (bits)", margin, result.content)
    return 0


def _measure(utility: Utility) -> str:
    """Return what a margin in per cent is of."""
    from lcca.evaluation.trials.ratio import Ratio

    return f"typical {utility.of.label}" if isinstance(utility, Ratio) else "throughput"


def _print(found: Ranking, title: str, measure: str, margin: str, content: dict[str, Any]) -> None:
    from lcca.cli.printing.console import print_table, wide_console
    from lcca.evaluation.comparison.ranking import TOO_FEW_TO_RANK
    from lcca.evaluation.report.words.results import ranks_table
    from lcca.evaluation.settling.intervals import UNFINISHED

    together = (
        f"ranks are simultaneous at {1 - found.alpha:.0%}; a letter in common: not distinguished, or not by {margin}"
    )
    void = UNFINISHED if any(c.void == UNFINISHED for c in found.comparisons) else TOO_FEW_TO_RANK
    notes = [void if found.standings[0].best_rank is None else together]
    if open_ := [f"{c.B} and {c.A}" for c in found.comparisons if not c.adjusted.settled or c.void == UNFINISHED]:
        notes.append(f"not settled: {', '.join(open_)}")
    wide_console().print(found.advice(margin), style="bold", markup=False)
    print_table(ranks_table(content["policies"], title, f"{measure} [{1 - found.alpha:.0%}]"), *notes)
    failed = dict.fromkeys(f"failed: {each['error']}" for each in content["failed"])
    for note in filter(None, (content["note"], *failed)):
        wide_console().print(note, markup=False)
