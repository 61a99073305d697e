"""The section on jobs of training: what each takes, by scenario and under each policy or with each signal set."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from lcca.evaluation.fabric.summary import by_job
from lcca.evaluation.report.sections.section import BOTH, Content
from lcca.evaluation.report.words.results import jobs_table
from lcca.evaluation.report.words.statements import capital
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.loaded_run import job_rows
from lcca.evaluation.trials.tables import RunTables, group_of

CAPTION = (
    "Values are means with their 95 % confidence intervals. Exposed communication is the time of an iteration that no "
    "computation covers. The bound is what the longest chain of messages, or the fullest cut of the fabric, takes at "
    "the least. busbw is that of nccl-tests."
)


def jobs(tables: RunTables) -> Content | None:
    """Return what each job of training takes, of trainings that of signal sets too; None without jobs."""
    found = tuple(_tables(tables.run.jobs, "over trials"))
    if tables.has_trainings:
        over = "over training seeds, or over trials where there is one"
        names = {name: tables.group_named(name) for name in tables.trials["policy"].unique()}
        selected = job_rows(tables.trials.assign(policy=tables.trials["policy"].map(names)))
        found = (
            *_tables(_of_trainings(tables), f"signal sets {over}", "training_seed"),
            *_tables(selected, "selected policies over trials"),
        )
    return Content(CAPTION, tables=found, population=BOTH * tables.has_trainings, unfolded=True) if found else None


def _of_trainings(tables: RunTables) -> pd.DataFrame:
    found = [
        job_rows(trials.assign(policy=group_of(policy), training_seed=policy.get("training_seed") or 0))
        for policy, trials in tables.trials_by_policy()
    ]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def _tables(rows: pd.DataFrame, words: str, unit: str = "") -> Iterator[Table]:
    """Yield a table per utility, in which units' means are averaged where there are several units."""
    if rows.empty:
        return
    where = next((name for name in ("condition", "scenario") if name in rows and rows[name].nunique() > 1), "")
    rows = rows.assign(scenario=rows[where] if where else "", utility=rows.get("utility", ""))
    for utility in rows["utility"].unique().tolist():
        own, found = rows[rows["utility"] == utility], []
        for (place, policy), each in own.groupby(["scenario", "policy"], sort=False):
            several = bool(unit) and each[unit].nunique() > 1
            found += [{"scenario": place, "id": policy} | row for row in by_job(each, unit * several)]
        yield jobs_table(found, f"Utility {utility}: {words}" if utility else capital(words))
