"""The sections on a map: where a set is worth something, and its effect by each parameter."""

from __future__ import annotations

from lcca.evaluation.report.sections.section import Content, data_table
from lcca.evaluation.trials.tables import RunTables
from lcca.studies.maps.report.figures import draw_effects, draw_heat_maps
from lcca.studies.maps.report.words import notes, region_table, worth_in_words


def regions(tables: RunTables) -> Content | None:
    """Return the regions of a run's maps, with heat maps over two parameters; None for other runs."""
    maps, summary = tables.summary.get("maps"), tables.summary
    if not maps:
        return None
    two = len(summary["over"]) == 2
    shown = (
        "Each heat map shows by how many per cent the first-named set differs from the second, by the two parameters "
        "on its axes. A dot marks a point where the difference is not settled."
    )
    caption = " ".join(dict.fromkeys([shown] * two + [note for each in maps for note in notes(each, summary)]))
    return Content(
        caption,
        draw_heat_maps(maps, summary["over"]) if two else None,
        "; ".join(map(worth_in_words, maps)).capitalize() + ".",
        tuple(region_table(each, summary) for each in maps),
        data=data_table({"A": m["A"], "B": m["B"], "metric": m["metric"], **row} for m in maps for row in m["points"]),
        unfolded=True,
    )


def effects(tables: RunTables) -> Content | None:
    """Return the effect of each parameter, the others of the map averaged over the space; None for other runs."""
    maps = tables.summary.get("maps")
    if not maps:
        return None
    caption = (
        "Each curve shows by how many per cent the first-named set differs from the second at a value of one "
        "parameter, on average over the others. The band is the simultaneous confidence interval of the whole map; "
        "the colour of a dot is the verdict at that value."
    )
    rows = ({"A": m["A"], "B": m["B"], "metric": m["metric"], **row} for m in maps for row in m["curves"])
    return Content(caption, draw_effects(maps, tables.summary["over"]), data=data_table(rows))
