"""The section on what is possible: ideals on the test networks, and the selected policies beside them."""

from __future__ import annotations

from typing import Any

from lcca.evaluation.bounds.summary import WORDS
from lcca.evaluation.report.sections.section import SELECTED, Content, Table
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]


def ideal(tables: RunTables) -> Content | None:
    """Return what no policy can exceed, and how near the selected ones come; None if the run does not say."""
    found: list[Json] = tables.summary.get("ideal") or []
    if not found:
        return None
    caption = (
        "Scores in bits on the test networks. The ideals know who is on without asking; no policy's expected score is "
        "above the upper bound. Share of the gap: of the way from the baseline to the fair share."
    )
    return Content(caption, tables=tuple(_table(tables, each) for each in found), population=SELECTED)


def _table(tables: RunTables, found: Json) -> Table:
    rows = [(_name(tables, row["policy"]), _bits(row["score_bits"]), _share(row)) for row in found["policies"]]
    rows += [(words, _bits(found[name]), "") for name, words in WORDS.items() if found[name] is not None]
    caption = f"Utility {found['utility']}, {found['networks']:,} networks"
    return Table(caption, ("Policy or ideal", "Score (bits)", "Share of the gap closed"), rows)


def _name(tables: RunTables, policy: str) -> str:
    return f"{tables.group_named(policy)}"


def _bits(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _share(row: Json) -> str:
    return "" if row["gap_closed"] is None else f"{100 * row['gap_closed']:.0f} %"
