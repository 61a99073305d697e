"""The sections on what policies measured, what a study asked, what a tuning tried, and how a training went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from lcca.evaluation.report.figures.style import HUES, drawing, new_figure
from lcca.evaluation.report.sections.section import BOTH, Content
from lcca.evaluation.report.words.merit import NOTE, merit_table
from lcca.evaluation.report.words.results import measured, question_table
from lcca.evaluation.report.words.statements import capital, number
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.report.words.tuned import UNKNOWN, knobs_of, named, setting, settings
from lcca.evaluation.trials.layout import NETWORK_COLUMNS
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, NETWORK_TRIALS, Metric, OverFlows
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]


def measures(tables: RunTables) -> Content | None:
    """Return what each policy measured, by condition or network; None where there is nothing but tests of trainings."""
    rows = [] if tables.has_trainings else tables.policies
    if not rows:
        return None
    known = {m.name: m for each in (NETWORK_TRIALS | FABRIC_TRIALS).values() for m in (each, each.over_trials)}
    words = ("Policy", "Condition")
    columns = dict(zip(words, ([row["id"] for row in rows], _conditions(rows)), strict=True))
    columns["Score in the search, bits"] = [number(row.get("search_score_bits")) for row in rows]
    columns |= {capital(each.head): [_measured(row, each) for row in rows] for each in known.values()}
    columns |= {name.capitalize(): [number(row.get(name), 0) for row in rows] for name in ("trials", "failed")}
    columns = {head: cells for head, cells in columns.items() if any(cell not in ("", "–") for cell in cells)}
    caption = (
        "Values are means over trials; quantiles of slowdowns are over the flows of all trials unless they say "
        "otherwise. Brackets have the confidence interval, ± one standard error. Policies that ran the same trials "
        "differ more precisely than these suggest."
    )
    shown = Table("Policies", [*columns], list(zip(*columns.values(), strict=True)), words)
    tuned = [settings(tables.summary)] if tables.summary.get("kind") == "tune" and not tables.comparisons else []
    return Content(caption, tables=(shown, *tuned), unfolded=True)


def merit(tables: RunTables) -> Content | None:
    """Return the figure of merit of contenders on a fabric; None where there is none."""
    if alone := [row for row in tables.policies if "merit" in row]:
        return Content(NOTE, tables=(merit_table(alone),), unfolded=True)
    found: list[Json] = tables.summary.get("merit") or []
    parts: dict[str, list[Json]] = {}
    for row in found:
        whose = "signal sets over training seeds" if row["level"] == "set" else "policies over trials"
        parts.setdefault(f"{whose}, utility {row['utility']}: ", []).append(row)
    shown = tuple(merit_table(rows, whose) for whose, rows in parts.items())
    return Content(NOTE, tables=shown, population=BOTH) if shown else None


def _conditions(rows: Sequence[Json]) -> list[str]:
    """Return under what each record was measured: its condition, or its network with what differs among them."""
    if any("condition" in row for row in rows):
        return [row.get("condition", "") for row in rows]
    there = [name for name in NETWORK_COLUMNS if len({str(row.get(name)) for row in rows}) > 1]
    return [
        f"{row['network']}: {named({name: row[name] for name in there}, {}, digits=6)}".rstrip(": ")
        if "network" in row
        else ""
        for row in rows
    ]


def _measured(row: Json, metric: Metric) -> str:
    """Return a measure; of flows that had not all finished a lower bound."""
    counts = [row.get(name, 0) for name in ("flows", "flows_finished")]
    begun, finished = (each["mean"] if isinstance(each, Mapping) else each for each in counts)
    unfinished = isinstance(metric.compute, OverFlows) and finished < begun and row.get("silent") == 0
    found = measured(row, metric)
    return f"≥ {found}" if unfinished and isinstance(row.get(metric.name), Mapping) else found


def questions(tables: RunTables) -> Content | None:
    """Return the questions of a study with their answers; None where nothing was asked."""
    asked: dict[str, Json] = {each["name"]: each for each in tables.summary.get("questions", ())}
    if not asked:
        return None
    found = []
    for name, each in asked.items():
        own = [row for row in tables.comparisons if row["question"] == name]
        found += [question_table(each, own, f"{name}: {each['asks']}")] if own else []
    agreed = Counter(each["agreement"] for each in tables.comparisons if each["agreement"])
    answer = f"Against what was expected: {', '.join(f'{count} {word}' for word, count in agreed.items())}." * bool(
        agreed
    )
    return Content("Each table has the comparisons that answer a question.", None, answer, tuple(found), unfolded=True)


def tried(tables: RunTables) -> Content | None:
    """Return the candidates of a tuning, best first; None where none were tried."""
    found = tables.learning
    if "number" not in found:
        return None
    best = found.sort_values("score_bits", ascending=False, kind="stable").to_dict("records")
    names = [name.removeprefix("parameter_") for name in map(str, found) if name.startswith("parameter_")]
    knobs = {name: knobs_of(tables.summary).get(name, UNKNOWN) for name in names}
    rows = [
        (
            "default" if row["number"] < 0 else str(row["number"]),
            *(row["state"], number(row["score_bits"]), number(row["networks"], 0)),
            *(setting(row[f"parameter_{name}"], knob)[0] for name, knob in knobs.items()),
            str(row["note"]),
        )
        for row in best
    ]
    heads = [", ".join(filter(None, (name, setting(0, knob)[1]))) for name, knob in knobs.items()]
    unit = capital(tables.summary["unit"])
    head = ("Candidate", "State", "Score in the search, bits", unit, *heads, "Note")
    counted = ", ".join(f"{count} {state}" for state, count in tables.summary["candidates"].items())
    caption = "Candidates that were stopped early ran fewer trials than complete ones."
    table = Table("Candidates, best first", head, rows, {"Candidate", "State", "Note"})
    return Content(caption, answer=f"Candidates: {counted}.", tables=(table,))


def curve(tables: RunTables) -> Content | None:
    """Return the mean reward by part of a training; None where there is no curve of one."""
    values: list[float] = tables.summary.get("curve", [])
    if not values:
        return None
    caption = (
        f"The figure shows the mean return of the episodes in each of {len(values)} successive parts of the training."
    )
    return Content(caption, draw_curve(values), data=pd.DataFrame({"part": range(len(values)), "mean_return": values}))


@drawing
def draw_curve(values: Sequence[float]) -> Figure:
    """Draw the mean returns of the parts of a training."""
    figure = new_figure(2.6)
    ax = figure.subplots()
    ax.plot(range(1, len(values) + 1), values, color=HUES[1], marker="o", markersize=4)
    ax.set(xlabel="part of the training", ylabel="mean return of its episodes")
    return figure
