"""The sections on scores and on fairness of signal sets (the paper's Figs. 3 and 18, with intervals)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcca.evaluation.comparison.groups import GroupRow, group_rows
from lcca.evaluation.comparison.sets import DEPENDS
from lcca.evaluation.report.figures.style import drawing, hue_of, panels_by_utility
from lcca.evaluation.report.sections.section import TRAININGS, Content, data_table
from lcca.evaluation.report.words.results import sets_table
from lcca.evaluation.report.words.statements import interval, listed
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.report.words.trainers import trainers_note, trainers_table
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]

MOST_NAMED = 8

BY_TRAINER = "Mean over trainings of each signal set by each trainer, each on the test networks of its training seed."


@drawing
def draw_groups(rows: Sequence[GroupRow], label: str, height: float, floor: float = -math.inf) -> Figure:
    """Draw one panel per utility: means (◆) with their intervals, from a floor up; small dots are single trainings."""
    groups = list(dict.fromkeys(row.group for row in rows))
    figure, axes = panels_by_utility((row.utility for row in rows), height)
    for utility, ax in axes.items():
        _draw_means(ax, [row for row in rows if row.utility == utility], groups, floor)
        ax.set_ylim(bottom=floor if math.isfinite(floor) else None)
        ax.set_ylabel(label)
    return figure


def _draw_means(ax: Axes, rows: Sequence[GroupRow], groups: Sequence[str], floor: float) -> None:
    for x, row in enumerate(rows):
        hue = hue_of(row.group, groups)
        if math.isfinite(row.low):
            ax.plot([x, x], [max(row.low, floor), row.high], color=hue, linewidth=2.4, solid_capstyle="butt")
        spots = np.linspace(-0.22, 0.22, len(row.policies)) if len(row.policies) > 1 else np.array([])
        ax.scatter(x + spots, row.policies[: spots.size], s=14, color=hue, alpha=0.55, linewidths=0)
        ax.plot([x], [row.mean], marker="D", color=hue, markersize=7)
    ax.set_xticks(range(len(rows)), [row.group for row in rows])
    if max(len(row.group) for row in rows) * len(rows) > 40:
        ax.tick_params(axis="x", rotation=30)
    ax.set_xlim(-0.6, len(rows) - 0.4)
    ax.grid(visible=False, axis="x")


def _over(rows: Sequence[GroupRow]) -> str:
    several = max(len(row.policies) for row in rows) > 1
    return "training seeds" if several else "networks only, as there is one training seed"


def scores(tables: RunTables) -> Content | None:
    """Return every training's score by signal set, and their means with the expected best of several."""
    rows = group_rows(tables, "score_bits")
    if not rows:
        return None
    caption = (
        f"◆ is the mean score on the test networks in bits, with a 95 % confidence interval (Student's t) over "
        f"{_over(rows)} ({max(row.networks for row in rows):,} networks). Small dots are single trainings, up to "
        f"{max(len(row.policies) for row in rows)} per signal set. The trainings of one seed run on the same networks, "
        "so these intervals can overlap although the paired difference is settled: read differences from the "
        "comparisons. The paper's Fig. 3 shows standard deviations instead."
    )
    data = data_table(rows).drop(columns=["difference", *(f"difference_{i}" for i in (1, 2, 3))], errors="ignore")
    figure = draw_groups(rows, "score, bits", 3.1)
    return Content(caption, figure, tables=_over_seeds(tables), population=TRAININGS, data=data)


def _over_seeds(tables: RunTables) -> tuple[Table, ...]:
    """Return the table of means over training seeds, if a signal set has several."""
    rows: list[Json] = tables.summary.get("signal_sets") or []
    if all(len(row["training_seeds"]) < 2 for row in rows):
        return ()
    return (sets_table(rows),)


def trainers(tables: RunTables) -> Content | None:
    """Return every trainer's scores of every signal set, and which verdicts depend on the trainer; None for one."""
    rows: list[Json] = tables.summary.get("trainers") or []
    if not rows:
        return None
    compared = [each for each in tables.comparisons if each["level"] == "set" and DEPENDS in each["note"]]
    said = [f"{each['B']} against {each['A']}: {each['note'][each['note'].index(DEPENDS) :]}." for each in compared]
    answer = " ".join(said) or "No verdict depends on the trainer."
    return Content(
        f"{trainers_note(rows)}.", answer=answer, tables=(trainers_table(rows),), population=BY_TRAINER, unfolded=True
    )


def fairness(tables: RunTables) -> Content | None:
    """Return unfairness by signal set; trials with one sender have none."""
    rows = group_rows(tables, "fairness")
    if not rows:
        return None
    seeds = max(len(row.policies) for row in rows)
    least, most = (f"{choose(row.networks for row in rows):,}" for choose in (min, max))
    caption = (
        "Unfairness is the standard deviation, over the senders of a trial, of throughput share over link rate; 0 is "
        "fair. Values are means over the test networks with at least two senders "
        f"({most if least == most else f'{least} to {most}'} networks, {seeds} "
        f"{'trainings' if seeds > 1 else 'training'} per signal set), with a 95 % confidence interval (Student's t) "
        f"over {_over(rows)}. Read differences from the table, where they are paired. The stopping rule looks at "
        "scores, not at fairness. The paper has this in Fig. 18."
    )
    figure = draw_groups(rows, "unfairness (0 is fair)", 2.9, floor=0)
    return Content(caption, figure, sentence(rows), (_table(rows),), TRAININGS, data_table(rows))


def fairer(row: GroupRow) -> str:
    """Return "fairer", "less fair" or "not settled" against the baseline; empty for the baseline."""
    if row.difference is None:
        return ""
    _, low, high = row.difference
    return "fairer" if high < 0 else "less fair" if low > 0 else "not settled"


def sentence(rows: Sequence[GroupRow]) -> str:
    """Return which candidates are fairer than the baseline."""
    compared = [row for row in rows if row.difference is not None]
    if not compared:
        return "Nothing was compared."
    baselines = list(dict.fromkeys(row.group for row in rows if row.difference is None))
    other = baselines[0] if len(baselines) == 1 else "the baseline"
    parts = []
    for word in ("fairer", "less fair", "not settled"):
        own = [_named(row, rows) for row in compared if fairer(row) == word]
        if own and len(compared) > MOST_NAMED:
            parts.append(f"{len(own)} of {len(compared)} {word}")
        elif own:
            parts.append(f"{listed(own)} {'is' if len(own) == 1 else 'are'} {word}")
    return f"Against {other}: {'; '.join(parts)}."


def _named(row: GroupRow, rows: Sequence[GroupRow]) -> str:
    return row.group + (f" ({row.utility})" if len({each.utility for each in rows}) > 1 else "")


def _table(rows: Sequence[GroupRow]) -> Table:
    body = [
        (
            _named(row, rows),
            interval(row.mean, row.low, row.high, "{:.4f}"),
            interval(*row.difference, "{:+.4f}") if row.difference else "–",
            fairer(row) or "baseline",
            f"{row.networks:,}",
        )
        for row in rows
    ]
    head = ("Signal set", "Unfairness [95 %]", "Paired difference with its interval", "Verdict", "Networks")
    compared = sum(row.difference is not None for row in rows)
    return Table(f"Paired difference from the baseline; {compared} differences share α = 5 %", head, body)
