"""The section on a fabric's flows: scores and slowdowns of every signal set by scenario."""

from __future__ import annotations

import pandas as pd

from lcca.evaluation.report.sections.section import TRAININGS, Content
from lcca.evaluation.report.words.statements import capital
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, SCORE, shown
from lcca.evaluation.trials.tables import RunTables, group_of


def slowdowns(tables: RunTables) -> Content | None:
    """Return a table per utility, a row per scenario and signal set; None for runs that are not on a fabric."""
    if not tables.on_fabric:
        return None
    found: dict[str, list[pd.DataFrame]] = {}
    for policy, trials in tables.trials_by_policy():
        found.setdefault(policy["utility"], []).append(trials.assign(group=group_of(policy)))
    caption = (
        "Means over trials and training seeds, the bytes of headers free; quantiles are those of the flows of a trial, "
        "the queue is that of its fullest port. They say how policies differ; what is settled is told above."
    )
    parts = tuple(_table(tables, utility, pd.concat(rows)) for utility, rows in found.items())
    return Content(caption, tables=parts, population=TRAININGS)


def _table(tables: RunTables, utility: str, trials: pd.DataFrame) -> Table:
    metrics = [each for each in (SCORE, *shown(FABRIC_TRIALS, "report")) if each.name in trials]
    means = trials.groupby(["scenario", "group"])[[each.name for each in metrics]].mean()
    rows = [
        (scenario, name, *(f"{means.loc[(scenario, name), m.name] / m.scale:,.{m.digits}f}" for m in metrics))
        for scenario in dict.fromkeys(trials["scenario"])
        for name in tables.groups
        if (scenario, name) in means.index
    ]
    head = ("Scenario", "Signal set", *(capital(each.head) for each in metrics))
    return Table(f"Utility {utility}", head, rows, left=2)
