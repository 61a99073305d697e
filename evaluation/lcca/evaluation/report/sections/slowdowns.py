"""The section on a fabric's flows: scores and slowdowns of every signal set by scenario."""

from __future__ import annotations

import pandas as pd

from lcca.evaluation.report.sections.section import TRAININGS, Content, Table
from lcca.evaluation.trials.tables import RunTables, group_of

COLUMNS = {
    "score_bits": ("Score, bits", 3),
    "slowdown_mean": ("Slowdown", 3),
    "slowdown_p50": ("p50", 3),
    "slowdown_p99": ("p99", 2),
    "queue_p99_bytes": ("Queue p99, bytes", 0),
    "ecn_marks": ("Marks", 0),
    "paused_us": ("Paused, µs", 1),
}
"""Columns of the trials, with their heads and digits."""


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
    means = trials.groupby(["scenario", "group"])[list(COLUMNS)].mean()
    rows = [
        (scenario, name, *(f"{means.loc[(scenario, name), key]:,.{digits}f}" for key, (_, digits) in COLUMNS.items()))
        for scenario in dict.fromkeys(trials["scenario"])
        for name in tables.groups
        if (scenario, name) in means.index
    ]
    head = ("Scenario", "Signal set", *(words for words, _ in COLUMNS.values()))
    return Table(f"Utility {utility}", head, rows, left=2)
