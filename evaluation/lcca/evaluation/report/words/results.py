"""The tables of what a run has found, whoever shows them: the report or the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from lcca.evaluation.bounds.summary import WORDS
from lcca.evaluation.comparison.ranking import Standing, rank_words
from lcca.evaluation.report.words.statements import (
    coverage,
    finding,
    interval,
    number,
    sign_and_size,
    with_error,
    with_interval,
)
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.metrics import NETWORK_TRIALS, SCORE

Json = dict[str, Any]

GAP = "Share of the gap closed"


def standing(row: Json) -> Standing:
    """Return the place of a policy from its record; the keys of scores are sorted where it is read from a file."""
    mean, low, high = (math.nan if (at := row["score_bits"][end]) is None else at for end in ("mean", "low", "high"))
    ranks = (row[name] for name in ("best_rank", "worst_rank", "ties", "better_than", "worse_than"))
    return Standing(row["id"], mean, low, high, *ranks)


def ranks_table(policies: Sequence[Json], caption: str = "Ranks", score: str = "Score, bits") -> Table:
    """Return a row per policy that was ranked."""
    columns: dict[str, Callable[[Standing], str]] = {
        "Policy": lambda each: each.policy,
        "Rank": rank_words,
        score: lambda each: interval(each.score_bits, each.low, each.high, "{:.3f}"),
        "Ties": lambda each: each.ties,
        "Better than": lambda each: str(each.better_than),
        "Worse than": lambda each: str(each.worse_than),
    }
    return Table.of(caption, map(standing, policies), columns, ("Policy", "Ties"))


def sets_table(rows: Sequence[Json], caption: str = "Scores over training seeds, in bits") -> Table:
    """Return a row per signal set or header: what its trainings score."""
    columns: dict[str, Callable[[Json], str]] = {
        "Signals": lambda row: row["name"],
        "Utility": lambda row: row["utility"],
        "Training seeds": lambda row: str(len(row["training_seeds"])),
        "Score, bits": lambda row: number(row["score_bits"]),
        "SD over seeds": lambda row: number(row["score_bits_sd"]),
        f"Expected best of {rows[0]['best_of']}": lambda row: number(row["best_of_score_bits"]),
        "… less the baseline's (± se)": lambda row: with_error(
            row["best_of_difference_bits"] or None, row["best_of_difference_bits_se"], signed=True
        ),
    }
    return Table.of(caption, rows, columns, left=2)


def designed_table(rows: Sequence[Json]) -> Table:
    """Return a row per hand-designed policy and learnt one with its signals."""
    columns: dict[str, Callable[[Json], str]] = {
        "Hand-designed": lambda row: row["B"],
        "Learnt": lambda row: row["A"],
        "Signals": lambda row: ", ".join(row["signals"]),
        f"Difference, bits [{coverage(rows)}]": with_interval,
        "Sign and size": sign_and_size,
        "So the learner": finding,
    }
    return Table.of("Hand-designed policies against learnt ones, bytes free", rows, columns, left=3)


def ideal_sets_table(found: Json) -> Table:
    """Return how near signal sets come to what is possible, of what a run knows of ideals."""
    columns: dict[str, Callable[[Json], str]] = {
        "Signals": lambda row: row["name"],
        "Score, bits": lambda row: number(row["score_bits"]),
        "Below what is possible": lambda row: number(row["below_fair_bits"]),
        GAP: share_of_gap,
    }
    return Table.of(f"Signal sets over training seeds, utility {found['utility']}", found["signal_sets"], columns)


def ideals_table(found: Json, caption: str, call: Callable[[str], str] = str) -> Table:
    """Return what is possible and how near policies come, if there are any; `call` returns what one is called."""
    policies = found.get("policies", [])
    rows = [(call(row["policy"]), number(row["score_bits"]), share_of_gap(row)) for row in policies]
    known = {words: name for name, words in WORDS.items() if found[name] is not None}
    rows += [(words, with_error(found[name], found.get(f"{name}_se")), "") for words, name in known.items()]
    if (bits := found.get("population_fair_bits")) is not None:
        rows.append(("equal shares, mean of the space in closed form", number(bits), ""))
    head = ("Policy or ideal", "Score, bits (± se)", GAP)[: 3 if policies else 2]
    return Table(caption, head, [row[: len(head)] for row in rows])


def share_of_gap(row: Json) -> str:
    """Return which share of the gap to an ideal is closed."""
    return "" if row["gap_closed"] is None else f"{100 * row['gap_closed']:.0f} %"


def agreement_table(rows: Sequence[Json]) -> Table:
    """Return a row per topology, policy and metric: how far the simulators are apart."""
    columns: dict[str, Callable[[Json], str]] = {
        "Topology": lambda row: row["topology"],
        "Policy": lambda row: row["policy"],
        "Metric": lambda row: (
            NETWORK_TRIALS[row["metric"]].label + (", bits" if row["metric"] == SCORE.name else ", %")
        ),
        "Engine": lambda row: number(row["first"]),
        "ns-3": lambda row: number(row["second"]),
        "ns-3 − engine [95 %]": with_interval,
        "Spread": lambda row: number(row["spread"]),
        "Starved in one only: without these": lambda row: (
            f"{row['starved']}: {number(row['without_starved'], signed=True)}" if row["starved"] else ""
        ),
        "Verdict": lambda row: row["verdict"] or "–",
    }
    return Table.of("Differences between the simulators", rows, columns, ("Topology", "Policy", "Metric", "Verdict"))
