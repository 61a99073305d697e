"""The section on what is possible: ideals, and signal sets and selected policies beside them."""

from __future__ import annotations

from typing import Any

from lcca.evaluation.bounds.summary import WORDS
from lcca.evaluation.report.sections.section import BOTH, SELECTED, Content
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]


def ideal(tables: RunTables) -> Content | None:
    """Return what no policy can exceed, and how near the selected ones come; None if the run does not say."""
    found: list[Json] = tables.summary.get("ideal") or []
    if not found:
        return None
    caption = (
        "Scores in bits on the test networks, header bytes free. The ideals know who is on without asking; no policy's "
        "expected score is above the upper bound. Share of the gap: of the way from the baseline to the fair share."
    )
    sets = tuple(_over_seeds(each) for each in found if each.get("signal_sets"))
    if sets:
        caption += " Signal sets: means over training seeds, each on networks of its own; the fair share is the same."
    selected = tuple(_table(tables, each) for each in found)
    return Content(caption, tables=(*sets, *selected), population=BOTH if sets else SELECTED)


def _over_seeds(found: Json) -> Table:
    rows = [
        (row["name"], _bits(row["score_bits"]), _bits(row["below_fair_bits"]), _share(row))
        for row in found["signal_sets"]
    ]
    head = ("Signals", "Score (bits)", "Below the fair share", "Share of the gap closed")
    return Table(f"Signal sets over training seeds, utility {found['utility']}", head, rows)


def _table(tables: RunTables, found: Json) -> Table:
    rows = [(_name(tables, row["policy"]), _bits(row["score_bits"]), _share(row)) for row in found["policies"]]
    rows += [(words, _bits(found[name]), "") for name, words in WORDS.items() if found[name] is not None]
    caption = f"Selected policies, utility {found['utility']}, {found['networks']:,} networks"
    return Table(caption, ("Policy or ideal", "Score (bits)", "Share of the gap closed"), rows)


def _name(tables: RunTables, policy: str) -> str:
    return f"{tables.group_named(policy)}"


def _bits(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _share(row: Json) -> str:
    return "" if row["gap_closed"] is None else f"{100 * row['gap_closed']:.0f} %"
