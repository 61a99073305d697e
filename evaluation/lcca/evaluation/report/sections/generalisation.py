"""The section on generalisation tests: other networks and topologies than those of the training."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lcca.evaluation.report.figures.data import data_table
from lcca.evaluation.report.figures.forest import draw_forest, forest_data
from lcca.evaluation.report.sections.section import SELECTED, Content, Table
from lcca.evaluation.report.words.headline import percent
from lcca.evaluation.report.words.statements import sign_and_size
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]


def generalisation(tables: RunTables) -> Content | None:
    """Return the selected policies against the baseline's under every other condition; None if there is none."""
    found: list[Json] = tables.summary.get("generalisation") or []
    rows = [_named(tables, each, c) for each in found for c in each["comparisons"]]
    if not rows:
        return None
    caption = (
        "Difference of the mean score from the baseline, in bits, with its 95 % interval, on networks or topologies "
        "that the policies were not trained on; header bytes charged. The unit is a network with a seed, run with both "
        "policies."
    )
    shown = forest_data(rows)
    return Content(caption, draw_forest(shown), _counted(rows), (_table(found, rows),), SELECTED, data_table(shown))


def _named(tables: RunTables, condition: Json, comparison: Json) -> Json:
    names = {side: tables.group_named(comparison[side]) for side in "AB"}
    return comparison | {"A": f"{names['A']}", "B": f"{names['B']} ({condition['condition']})"}


def _counted(rows: list[Json]) -> str:
    counts = Counter(sign_and_size(row) for row in rows)
    return f"Of {len(rows)} comparisons: {'; '.join(f'{count} {words}' for words, count in counts.most_common())}."


def _table(found: list[Json], rows: list[Json]) -> Table:
    body = [
        (
            row["B"],
            row["A"],
            row["utility"],
            sign_and_size(row),
            percent(row["throughput_equivalent_percent"]["difference"] or 0),
            f"{row['n']:,}",
        )
        for row in rows
    ]
    failed = sum(each["failed"] for each in found)
    caption = "Comparisons" + (f"; {failed} trials failed and are left out" if failed else "")
    return Table(
        caption, ("Candidate", "Against", "Utility", "Sign and size", "Throughput-equivalent", "Pairs"), body, left=4
    )
