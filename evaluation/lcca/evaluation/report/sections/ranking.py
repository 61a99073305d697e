"""The section on ranks: which policies are best, and how sure that is."""

from __future__ import annotations

from lcca.evaluation.report.figures.ranking import draw_ranking
from lcca.evaluation.report.sections.section import Content, data_table
from lcca.evaluation.report.words.headline import best_of
from lcca.evaluation.report.words.results import ranks_table, standing
from lcca.evaluation.trials.tables import RunTables


def ranking(tables: RunTables) -> Content | None:
    """Return the ranks of a run's policies; None for runs that rank nothing."""
    rows = [row for row in tables.policies if "best_rank" in row]
    if not rows:
        return None
    result, standings = tables.summary, [standing(row) for row in rows]
    where = str(result.get("scenario") or result.get("benchmark") or result["simulator"])
    title = f"{where}, utility {result['utility']}: {result['networks']} {result['unit']}"
    caption = (
        "The figure shows mean scores, each with its own confidence sequence, and ranges of ranks; rank 1 is the best. "
        f"All ranks are right together with {1 - result['alpha']:.0%} confidence. Policies with a letter in common are "
        "not distinguished, or differ by less than the margin."
    )
    figure, data = draw_ranking(standings, title), data_table(standings)
    return Content(caption, figure, best_of(rows), (ranks_table(rows),), data=data, unfolded=True)
