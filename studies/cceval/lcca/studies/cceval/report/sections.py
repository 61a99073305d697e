"""The section on estimates: their intervals, and how these became narrower."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from lcca.evaluation.report.sections.section import Content
from lcca.evaluation.report.words.headline import ESTIMATES
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.tables import RunTables
from lcca.studies.cceval.report.figures import draw_convergence
from lcca.studies.cceval.report.words import headline

Json = dict[str, Any]


def estimates(tables: RunTables) -> Content | None:
    """Return a run's estimates, and the convergence of one that is alone; None for runs that estimate nothing."""
    rows: list[Json] = tables.summary.get("estimates", [])
    if not rows:
        return None
    table = Table.of("Estimates", rows, {**ESTIMATES, "Accurate": _accurate, "Warning": "warning"})
    answer = f"{headline(tables.summary)}."
    if len(rows) > 1:
        return Content("Each estimate rests on all trials.", None, answer, (table,), unfolded=True)
    looks = [(look["n"], _half_width(look), look["required"] or math.nan) for look in rows[0]["looks"]]
    caption = (
        "The figure shows the half-width of the confidence interval at each look, and the required one, by number of "
        "trials."
    )
    data = pd.DataFrame(looks, columns=["n", "half_width", "required"])
    return Content(caption, draw_convergence(looks, rows[0]["metric"]), answer, (table,), data=data, unfolded=True)


def _accurate(row: Json) -> str:
    return ("yes" if row["accurate"] else "not yet") if "accurate" in row else ""


def _half_width(look: Json) -> float:
    bounded = look["low"] is not None and look["high"] is not None
    return (look["high"] - look["low"]) / 2 if bounded else math.nan
