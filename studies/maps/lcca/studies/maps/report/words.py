"""A map in words: where the candidate is better or worse, on what share of the space, and by how much."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lcca.evaluation.report.words.statements import listed, percent, signs
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, NETWORK_TRIALS

Json = Mapping[str, Any]

METRICS = NETWORK_TRIALS | FABRIC_TRIALS

LEAST = 0.005
"""Share that is told."""


def headline(summary: Json) -> str:
    """Return what all maps of a run say."""
    return "; ".join(map(worth_in_words, summary["maps"]))


def worth_in_words(each: Json) -> str:
    """Return such as "link against e2e, score: better on 12 % of the space, equivalent on 88 %"."""
    return f"{name(each)}: {shares(each['shares'])} of the space"


def name(each: Json) -> str:
    """Return what a map is about."""
    return f"{each['B']} against {each['A']}, {METRICS[each['metric']].over_trials.label}"


def shares(found: Mapping[str, float]) -> str:
    """Return verdicts with their shares, the largest first."""
    told = sorted((item for item in found.items() if item[1] >= LEAST), key=lambda item: -item[1])
    return listed([f"{verdict} on {share:.0%}" for verdict, share in told])


def change(row: Json) -> str:
    """Return a difference in per cent with its interval."""
    return signs(f"{percent(row['percent'])} [{percent(row['percent_low'])}, {percent(row['percent_high'])}]")


def region_table(each: Json, summary: Json) -> Table:
    """Return the regions that tell most apart, and the mean over the whole space."""
    columns = ["share", *(["mix_share"] if each["regions"][0].get("mix_share") is not None else [])]
    rows = [
        (row["words"], *(f"{row[column]:.0%}" for column in columns), change(row), row["verdict"])
        for row in each["regions"]
    ]
    if len(rows) > 1:
        whole = each["overall"]
        rows.append(("whole space", *("100%" for _ in columns), change(whole), whole["verdict"]))
    of_score = "typical slowdown" if "scenario" in summary else "throughput at equal delay"
    unit = of_score if each["metric"] == "score_bits" else METRICS[each["metric"]].over_trials.label
    shared = ("of the space", "of the mix")[: len(columns)]
    head = ("where", *shared, f"difference, % of {unit}", "verdict")
    return Table(f"{name(each)}, utility {summary['utility']}", head, rows, left=("where", "verdict"))


def notes(each: Json, summary: Json) -> list[str]:
    """Return what a reader must know, in sentences: of the mix first, if there is one."""
    seeds, mix = summary["training_seeds"], each["mix_shares"]
    margin = f"Differences up to the margin of {summary['margin_percent']:g} % count as equivalent."
    found = [f"By the stated mix of traffic the verdict is {shares(mix)}." if mix else margin]
    found.append(
        f"A map rests on {len(seeds)} training seeds, each of which meets {summary['points']} points of the space; its "
        f"confidence intervals are simultaneous ({1 - summary['alpha']:.2%}), also over all looks."
    )
    if summary["left_out"]:
        found.append(
            f"{summary['left_out']} points are left out, since a trial failed, had no value or left too much open."
        )
    if unselected := summary["trainings_without_selection"]:
        found.append(f"{len(unselected)} trainings have no selected checkpoint yet, so their last ones ran.")
    return found
