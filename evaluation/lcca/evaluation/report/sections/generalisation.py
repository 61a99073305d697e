"""The section on generalisation tests: other networks and topologies than those of the training."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lcca.evaluation.report.figures.data import data_table
from lcca.evaluation.report.figures.forest import draw_forest, forest_data
from lcca.evaluation.report.sections.section import BOTH, SELECTED, Content
from lcca.evaluation.report.words.headline import percent
from lcca.evaluation.report.words.statements import counted_units, coverages, sign_and_size
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]


def generalisation(tables: RunTables) -> Content | None:
    """Return candidates and selected policies against the baseline's under every other condition, or None."""
    found: list[Json] = tables.summary.get("generalisation") or []
    rows = [_named(tables, each, c) for each in found for c in each["comparisons"]]
    if not rows:
        return None
    caption = (
        "Difference of the mean score from the baseline, in bits, with its interval "
        f"({coverages(rows)}), on networks or topologies "
        "that the policies were not trained on; header bytes charged. Signal sets: the unit is a training seed, tested "
        "on networks of its own; the intervals hold together and at every number of seeds. Selected policies: the unit "
        "is a network with a seed, run with both policies."
    )
    shown = forest_data(rows)
    whose = BOTH if any(row["level"] == "set" for row in rows) else SELECTED
    return Content(caption, draw_forest(shown), _counted(rows), (_table(found, rows),), whose, data_table(shown))


def _named(tables: RunTables, condition: Json, comparison: Json) -> Json:
    names = {side: tables.group_named(comparison[side]) for side in "AB"}
    return comparison | {"A": f"{names['A']}", "B": f"{names['B']} ({condition['condition']})"}


def _counted(rows: list[Json]) -> str:
    """Return how many comparisons have which result: of signal sets if there are any, else of policies."""
    sets = [row for row in rows if row["level"] == "set"]
    of = (
        f"Of {len(sets)} comparisons over training seeds"
        if sets
        else f"Of {len(rows)} comparisons of selected policies"
    )
    counts = Counter(sign_and_size(row) for row in sets or rows)
    return f"{of}: {'; '.join(f'{count} {words}' for words, count in counts.most_common())}."


def _table(found: list[Json], rows: list[Json]) -> Table:
    body = [
        (
            row["B"],
            row["A"],
            row["utility"],
            sign_and_size(row),
            percent(row["throughput_equivalent_percent"]["difference"] or 0),
            counted_units(row),
        )
        for row in sorted(rows, key=lambda row: row["level"] != "set")
    ]
    failed = sum(each["failed"] + each.get("failed_trainings", 0) for each in found)
    caption = "Comparisons" + (f"; {failed} trials failed and are left out" if failed else "")
    return Table(
        caption, ("Candidate", "Against", "Utility", "Sign and size", "Throughput-equivalent", "n"), body, left=4
    )
