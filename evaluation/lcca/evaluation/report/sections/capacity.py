"""The section of the report on scores at equal numbers of rules."""

from collections import Counter
from typing import Any

from lcca.evaluation.report.figures.capacity import draw_capacity
from lcca.evaluation.report.figures.data import data_table
from lcca.evaluation.report.sections.section import TRAININGS, Content
from lcca.evaluation.report.words.statements import sign_and_size
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]


def capacity(tables: RunTables) -> Content | None:
    """Return the curve over the number of rules; None where no training shares a size with the baseline's."""
    rows: list[Json] = tables.summary.get("capacity", [])
    if not rows:
        return None
    seeds = max(row["training_seeds"] for row in rows)
    caption = (
        "Mean score over training seeds, in bits, of each training's best table with so many rules "
        f"(up to {seeds} training seeds, each tested on networks of its own; bars: one standard deviation between "
        "them). Numbers of rules that a training and the baseline's with the same seed passed through; differences are "
        "over the seeds that have both. More rules can look like more signals: judge a set at equal numbers, and by "
        "the size that validation selects."
    )
    data = data_table({key: value for key, value in row.items() if key != "comparison"} for row in rows)
    return Content(caption, draw_capacity(rows, tables.groups), _answer(rows), (_table(rows),), TRAININGS, data)


def _answer(rows: list[Json]) -> str:
    by_size = Counter(row["rules"] for row in rows)
    most = max(by_size, key=lambda rules: (by_size[rules], rules))  # the largest that most signal sets have
    said = [_words(row) for row in rows if row["rules"] == most and row["comparison"]]
    return f"With {most} rules each: {'; '.join(said)}." if said else ""


def _words(row: Json) -> str:
    found = row["comparison"]
    name = row["name"] + (f" (utility {row['utility']})" if row["utility"] != "default" else "")
    return f"{name} {sign_and_size(found)} ({found['difference']:+.3f} bits)"


def _table(rows: list[Json]) -> Table:
    body = [
        (
            row["name"],
            row["utility"],
            f"{row['rules']:,}",
            f"{row['score_bits']:.3f}",
            "–" if row["score_bits_sd"] is None else f"{row['score_bits_sd']:.3f}",
            *_difference(row["comparison"]),
            f"{row['training_seeds']}",
        )
        for row in rows
    ]
    head = (
        "Signals",
        "Utility",
        "Rules",
        "Score",
        "SD over seeds",
        "Difference, bits",
        "Interval",
        "Sign and size",
        "Seeds",
    )
    return Table("Scores at equal numbers of rules; all intervals hold together", head, body, left=2)


def _difference(comparison: Json | None) -> tuple[str, str, str]:
    if comparison is None:
        return "–", "–", "baseline"
    low, high = comparison["low"], comparison["high"]
    ends = "no interval yet" if low is None or high is None else f"[{low:+.3f}, {high:+.3f}]"
    return f"{comparison['difference']:+.3f}", ends, sign_and_size(comparison)
