"""The section on ranks: which policies are best, and how sure that is."""

from __future__ import annotations

import math
from typing import Any

from lcca.evaluation.comparison.ranking import Standing, rank_words
from lcca.evaluation.report.figures.ranking import draw_ranking
from lcca.evaluation.report.sections.section import Content, data_table
from lcca.evaluation.report.words.headline import best_of
from lcca.evaluation.report.words.statements import interval
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.tables import RunTables


def ranking(tables: RunTables) -> Content | None:
    """Return the ranks of a run's policies; None for runs that rank nothing."""
    rows = [row for row in tables.policies if "best_rank" in row]
    if not rows:
        return None
    result, standings = tables.summary, [_standing(row) for row in rows]
    where = str(result.get("scenario") or result.get("benchmark") or result["simulator"])
    title = f"{where}, utility {result['utility']}: {result['networks']} {result['unit']}"
    caption = (
        "The figure shows mean scores, each with its own confidence sequence, and ranges of ranks; rank 1 is the best. "
        f"All ranks are right together with {1 - result['alpha']:.0%} confidence. Policies with a letter in common are "
        "not distinguished, or differ by less than the margin."
    )
    head = ("Policy", "Rank", "Score, bits", "Ties", "Better than", "Worse than")
    table = Table("Ranks", head, [_row(each) for each in standings])
    return Content(
        caption, draw_ranking(standings, title), best_of(rows), (table,), data=data_table(standings), unfolded=True
    )


def _standing(row: dict[str, Any]) -> Standing:
    score = row["score_bits"]  # its keys are sorted where it is read from a file
    mean, low, high = (math.nan if score[end] is None else score[end] for end in ("mean", "low", "high"))
    ranks = (row[name] for name in ("best_rank", "worst_rank", "ties", "better_than", "worse_than"))
    return Standing(row["id"], mean, low, high, *ranks)


def _row(each: Standing) -> tuple[str, ...]:
    score = interval(each.score_bits, each.low, each.high, "{:.3f}")
    return each.policy, rank_words(each), score, each.ties, str(each.better_than), str(each.worse_than)
