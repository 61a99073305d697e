"""The sections on differences: all of a run's, those under other conditions, those from hand-designed policies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcca.evaluation.report.figures.forest import draw_forest, forest_data, labels
from lcca.evaluation.report.figures.style import (
    FAINT,
    INK,
    VERDICT_HUES,
    VERDICT_MARKERS,
    drawing,
    letters,
    mark_of,
    panel_of,
    panels,
    panels_by_utility,
)
from lcca.evaluation.report.sections.section import BOTH, SELECTED, TRAININGS, Content, data_table
from lcca.evaluation.report.words.results import designed_table, verdicts_tables
from lcca.evaluation.report.words.statements import coverages, sign_and_size, with_interval
from lcca.evaluation.report.words.table import Columns, Table
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]

MOST_PANELS = 24


def forest(tables: RunTables) -> Content | None:
    """Return every comparison against its baseline."""
    if not tables.comparisons:
        return None
    rows, caption = against_baseline(tables.comparisons)
    if not tables.has_trainings:
        caption += "Each comparison is over pairs: a pair is the same trial, run with both policies."
        return Content(caption, draw_forest(rows, "Policies"), data=data_table(rows))
    caption += (
        "Signal sets are compared over training seeds, each tested on its own networks; these confidence intervals are "
        "simultaneous and valid at any number of seeds. Selected policies are compared over pairs, a network and a "
        "seed that both policies run; their intervals are confidence sequences, valid at every look. The tables have "
        "the numbers of seeds and pairs."
    )
    return Content(caption, draw_forest(rows), population=BOTH, data=data_table(rows))


def against_baseline(comparisons: Sequence[Json]) -> tuple[list[Json], str]:
    """Return the rows of a forest plot, and what they show."""
    caption = (
        "Each mark is the difference of a mean score from the baseline's, in bits, and its line the confidence "
        f"interval ({coverages(comparisons)}). The grey band is the equivalence margin. ▲ better, ▼ worse, ■ "
        "equivalent, ○ not settled; a dotted line: there is no interval yet. "
    )
    return forest_data([with_condition(each) for each in comparisons]), caption


def with_condition(comparison: Json) -> Json:
    """Return a comparison whose B is called by its condition too, where it has one."""
    condition = comparison["condition"]
    return comparison | {"B": f"{comparison['B']} ({condition})"} if condition else comparison


def generalisation(tables: RunTables) -> Content | None:
    """Return candidates and selected policies against the baseline's under every other condition, or None."""
    found: list[Json] = tables.summary.get("generalisation") or []
    rows = [_named(tables, each["condition"], c) for each in found for c in each["comparisons"]]
    if not rows:
        return None
    caption = (
        "Each mark is the difference of a mean score from the baseline's, in bits, and its line the confidence "
        f"interval ({coverages(rows)}), on networks or topologies that the policies were not trained on. Header bytes "
        "are charged. Signal sets are compared over training seeds, each tested on its own networks; these confidence "
        "intervals are simultaneous and valid at any number of seeds. Selected policies are compared over pairs, a "
        "network and a seed that both policies run."
    )
    failed = sum(each["failed"] + each.get("failed_trainings", 0) for each in found)
    title = "Comparisons" + (f"; {failed} trials failed and are left out" if failed else "")
    shown = verdicts_tables(rows, title)
    sets = [row for row in rows if row["level"] == "set"]
    whose, data = BOTH if sets else SELECTED, forest_data(rows)
    return Content(caption, draw_forest(data), _counted(sets, rows), shown, whose, data_table(data))


def _named(tables: RunTables, condition: str, comparison: Json) -> Json:
    names = {side: tables.group_named(comparison[side]) for side in "AB"}
    return comparison | {"A": names["A"], "B": f"{names['B']} ({condition})"}


def _counted(sets: Sequence[Json], rows: Sequence[Json]) -> str:
    """Return how many comparisons have which result: of signal sets if there are any, else of policies."""
    what = f"{len(sets)} comparisons over training seeds" if sets else f"{len(rows)} comparisons of selected policies"
    counts = Counter(sign_and_size(row) for row in sets or rows)
    return f"Of {what}: {'; '.join(f'{count} {words}' for words, count in counts.most_common())}."


def strata(tables: RunTables) -> Content | None:
    """Return candidates against the baseline on each part of the place alone; None if there is one part only."""
    told: list[Json] = tables.summary.get("strata") or []
    rows = [_named(tables, each["stratum"], each["comparison"]) for each in told if each["comparison"]]
    if not rows:
        return None
    caption = (
        "Each mark is the difference of a mean score from the baseline's, in bits, and its line the confidence "
        f"interval ({coverages(rows)}), on one part of the networks, or one scenario, alone. Signal sets are compared "
        "over training seeds; the intervals are simultaneous and valid at any number of seeds."
    )
    scores: Columns = {"Score, bits": ("score_bits", 3), "SD": ("score_bits_sd", 3)}
    columns = {"Part": "stratum", "Signal set": "name", **scores}
    table = Table.of("Scores over training seeds", told, columns, left=2)
    data = forest_data(rows)
    return Content(caption, draw_forest(data), "", (table,), TRAININGS, data_table(data))


def designed(tables: RunTables) -> Content | None:
    """Return hand-designed policies against the selected ones that see their signals; None if there are none."""
    rows: list[Json] = tables.summary.get("hand_designed") or []
    if not rows:
        return None
    caption = (
        "Each row compares a hand-designed policy with the policy that was learnt from a set with the same signals, on "
        "the test networks, with header bytes free. Where the hand-designed policy is better, the learner missed that "
        "use of the signals; a set that is equivalent to the baseline may then still be worth something. The verdicts "
        "are about these policies, not about the sets."
    )
    return Content(caption, tables=(designed_table(rows),), population=SELECTED)


def capacity(tables: RunTables) -> Content | None:
    """Return the curve over the number of rules; None where no training shares a size with the baseline's."""
    rows: list[Json] = tables.summary.get("capacity", [])
    if not rows:
        return None
    seeds = max(row["training_seeds"] for row in rows)
    caption = (
        "Mean score over training seeds, in bits, of each training's best table with so many rules "
        f"(up to {seeds} training seeds, each tested on networks of its own; bars: one standard deviation between "
        "them). Numbers of rules that a training and the baseline's with the same seed passed through; differences are "
        "over the seeds that have both. More rules can look like more signals: judge a set at equal numbers, and by "
        "the size that validation selects."
    )
    data = data_table({key: value for key, value in row.items() if key != "comparison"} for row in rows)
    columns: Columns = {
        **{"Signals": "name", "Utility": panel_of, "Rules": ("rules", 0)},
        **{"Score": ("score_bits", 3), "SD over seeds": ("score_bits_sd", 3)},
        "Difference, bits": lambda row: with_interval(row["comparison"]) if row["comparison"] else "–",
        "Sign and size": lambda row: sign_and_size(row["comparison"]) if row["comparison"] else "baseline",
        "Seeds": "training_seeds",
    }
    caption_below = "Scores at equal numbers of rules; simultaneous confidence intervals"
    table = Table.of(caption_below, rows, columns, left=2)
    return Content(caption, draw_capacity(rows, tables.groups), _at_most_rules(rows), (table,), TRAININGS, data)


def _at_most_rules(rows: Sequence[Json]) -> str:
    by_size = Counter(row["rules"] for row in rows)
    most = max(by_size, key=lambda rules: (by_size[rules], rules))  # the largest that most signal sets have
    said = []
    for row in rows:
        if row["rules"] == most and (found := row["comparison"]):
            name = row["name"] + (f" (utility {panel})" if (panel := panel_of(row)) != "default" else "")
            said.append(f"{name} {sign_and_size(found)} ({found['difference']:+.3f} bits)")
    return f"With {most} rules each: {'; '.join(said)}." if said else ""


@drawing
def draw_capacity(rows: Sequence[Json], groups: Sequence[str]) -> Figure:
    """Draw one panel per utility and trainer, a line per signal set or header; bars are one SD between seeds."""
    figure, axes = panels_by_utility(map(panel_of, rows), 3.4, columns=1)
    for panel, ax in axes.items():
        for name in dict.fromkeys(row["name"] for row in rows):
            own = [row for row in rows if (row["name"], panel_of(row)) == (name, panel)]
            x, y, spread = ([row[key] or 0.0 for row in own] for key in ("rules", "score_bits", "score_bits_sd"))
            mark = mark_of(name, groups)
            look: Any = {"color": mark.hue, "marker": mark.marker, "linestyle": mark.dashes}
            ax.errorbar(x, y, spread, **look, markersize=4, linewidth=1.4, label=name)
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.set(xlabel="rules", ylabel="score, bits")
        ax.legend()
    return figure


def settling(tables: RunTables) -> Content | None:
    """Return the intervals of comparisons by the number of pairs."""
    looks = settling_data(tables.comparisons)
    if not looks:
        return None
    caption = (
        "The figure shows the estimate of a difference in bits and its confidence sequence, at each look until the end "
        "of the run. The grey band is the equivalence margin. Each comparison is over pairs: a pair is one network "
        "with a seed, run with both policies."
    )
    return Content(caption, draw_settling(looks), population=SELECTED, data=pd.concat(looks, ignore_index=True))


def settling_data(comparisons: Sequence[Json]) -> list[pd.DataFrame]:
    """Return a table per comparison whose history was recorded, at most `MOST_PANELS`: its looks, a row each."""
    shown = [each for each in comparisons if each.get("history")][:MOST_PANELS]
    found = []
    for each, label in zip(shown, labels(shown), strict=True):
        numbers = pd.DataFrame(each["history"])[["n", "mean", "low", "high"]].astype(float)
        of = {"label": label, "margin": each["margin"], "verdict": each["verdict"]}
        found.append(pd.DataFrame(of, index=numbers.index).join(numbers))
    return found


@drawing
def draw_settling(looks: Sequence[pd.DataFrame]) -> Figure:
    """Draw the confidence sequence of each comparison against the number of pairs, a panel each."""
    figure, axes = panels(len(looks), 2.3, columns=2 if len(looks) > 1 else 1)
    for ax, each in zip(axes, looks, strict=True):
        _draw_looks(ax, each)
    return figure


def _draw_looks(ax: Axes, looks: pd.DataFrame) -> None:
    label, margin, verdict = looks.iloc[0][["label", "margin", "verdict"]]
    hue, n, last = VERDICT_HUES[verdict], looks["n"], looks.tail(1)
    ax.axhspan(-margin, margin, color=FAINT, alpha=0.45, linewidth=0)
    ax.axhline(0, color=INK, linewidth=0.8)
    ax.fill_between(n, looks["low"], looks["high"], color=hue, alpha=0.25, linewidth=0)
    for end in ("low", "high"):
        ax.plot(n, looks[end], color=hue, linewidth=1)
    ax.plot(n, looks["mean"], color=hue)
    ax.plot(last["n"], last["mean"], marker=VERDICT_MARKERS[verdict], color=hue, markersize=7)
    if len(looks) == 1:  # one look is a line, not an area
        ax.vlines(n, looks["low"], looks["high"], color=hue, linewidth=2.2)
    ax.set_xlim(0, 1.06 * n.iloc[-1])
    ax.set_title(f"{label}: {verdict}", loc="left", fontsize=letters(9))
    ax.set(xlabel="pairs", ylabel="difference, bits")
