"""The sections on a search for a header: the front by what headers take, and all that was tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from lcca.evaluation.report.figures.style import INK, VERDICT_HUES, drawing, new_figure
from lcca.evaluation.report.sections.section import Content, data_table
from lcca.evaluation.report.words.statements import capital
from lcca.evaluation.trials.tables import RunTables
from lcca.studies.design.report.words import (
    NOT_TRIED,
    answer_table,
    confirmed_table,
    headline,
    notes,
    tried_table,
)

HUES = {"pays": VERDICT_HUES["better"], "does not pay": VERDICT_HUES["worse"], "open": VERDICT_HUES["not settled"]}


def front(tables: RunTables) -> Content | None:
    """Return what to build by budget, and the confirmed headers; None for other runs."""
    summary = tables.summary
    if not summary.get("design"):
        return None
    caption = (
        "Each row of the figure is a header that was confirmed, the cheapest at the bottom: by bytes on the wire, then "
        "by bits of state at a port. A dot is the mean net benefit over training seeds, with its confidence interval. "
        "Its colour says whether it pays. The dashed line is what a header must bring. "
    )
    answer = f"{capital(headline(summary))}."
    whole = (answer_table(summary), confirmed_table(summary))
    data = data_table({k: v for k, v in row.items() if k != "says"} for row in summary["confirmed"])
    return Content(caption + " ".join(notes(summary)), draw(summary), answer, whole, data=data, unfolded=True)


def tried(tables: RunTables) -> Content | None:
    """Return all that a search has tried; None for other runs."""
    if not tables.summary.get("design"):
        return None
    return Content(NOT_TRIED, tables=(tried_table(tables.summary),))


@drawing
def draw(summary: Mapping[str, Any]) -> Figure:
    """Draw the net benefit of each confirmed header, the cheapest below."""
    rows = sorted(summary["confirmed"], key=lambda row: (row["bytes"], row["state_bits"] or 0, row["oracle"]))
    figure = new_figure(1.0 + 0.34 * len(rows))
    ax = figure.subplots()
    for at, row in enumerate(rows):
        hue = HUES[row["decision"]]
        if row["low"] is not None and row["high"] is not None:
            ax.plot([row["low"], row["high"]], [at, at], color=hue)
        ax.plot([row["difference"]], [at], color=hue, marker="o")
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.axvline(summary["required"], color=INK, linewidth=0.8, linestyle="dashed")
    ax.set_yticks(range(len(rows)), [_label(row) for row in rows])
    ax.set(xlabel="net benefit, bits", ylim=(-0.6, len(rows) - 0.4))
    return figure


def _label(row: Mapping[str, Any]) -> str:
    state = "any state" if row["state_bits"] is None else f"{row['state_bits']:,} b"
    return f"{row['header']} ({row['bytes']} B, {state})"
