"""The section on networks that the policies did not learn on."""

from __future__ import annotations

from typing import Any

from lcca.evaluation.report.figures.forest import draw_forest, forest_data
from lcca.evaluation.report.sections.section import Content, Table
from lcca.evaluation.report.words.headline import percent
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]


def elsewhere(tables: RunTables) -> Content | None:
    """Champions against the baseline's champion under every other condition; None if the run has none."""
    found: list[Json] = tables.summary.get("elsewhere") or []
    rows = [_named(tables, each, c) for each in found for c in each["comparisons"]]
    if not rows:
        return None
    caption = (
        "Difference of the mean score from the baseline's champion on networks that no policy learnt on, in bits, with "
        "its interval; header bytes charged. The unit is a network with its own seed, met by both."
    )
    return Content(caption, draw_forest(forest_data(rows)), _told(rows), (_table(found, rows),))


def _named(tables: RunTables, condition: Json, comparison: Json) -> Json:
    names = {side: tables.group_named(comparison[side]) for side in "AB"}
    return comparison | {"A": f"{names['A']}", "B": f"{names['B']} ({condition['condition']})"}


def _told(rows: list[Json]) -> str:
    words = []
    for verdict in ("better", "equivalent", "worse", "not settled"):
        count = sum(row["verdict"] == verdict for row in rows)
        if count:
            words.append(f"{count} {verdict}")
    return f"Of {len(rows)} comparisons elsewhere: {', '.join(words)}."


def _table(found: list[Json], rows: list[Json]) -> Table:
    body = [
        (
            row["B"],
            row["A"],
            row["utility"],
            row["verdict"],
            percent(row["throughput_equivalent_percent"]["difference"] or 0),
            f"{row['n']:,}",
        )
        for row in rows
    ]
    failed = sum(each["failed"] for each in found)
    caption = "Champions elsewhere" + (f"; {failed} trials failed and are left out" if failed else "")
    return Table(
        caption, ("Candidate", "Against", "Utility", "Verdict", "Throughput-equivalent", "Pairs"), body, left=4
    )
