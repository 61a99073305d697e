"""The section on hand-designed policies beside what was learnt from the same signals."""

from typing import Any

from lcca.evaluation.report.sections.section import SELECTED, Content
from lcca.evaluation.report.words.statements import coverage, finding, interval, sign_and_size
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]


def designed(tables: RunTables) -> Content | None:
    """Return hand-designed policies against the selected ones that see their signals; None if there are none."""
    rows: list[Json] = tables.summary.get("hand_designed") or []
    if not rows:
        return None
    caption = (
        "A hand-designed policy against the policy learnt from a set that has its signals, on the test networks, "
        "header bytes free. Where it is better, the learner missed that use of the signals: then a set that is "
        "equivalent to the baseline is not shown to be worth nothing. A statement about these policies, not about sets."
    )
    head = (
        "Hand-designed",
        "Learnt",
        "Signals",
        f"Difference, bits [{coverage(rows)}]",
        "Sign and size",
        "So the learner",
    )
    return Content(
        caption,
        tables=(Table("By hand against learnt", head, [_row(row) for row in rows], left=3),),
        population=SELECTED,
    )


def _row(row: Json) -> tuple[str, ...]:
    difference = interval(row["difference"], row["low"], row["high"], "{:+.3f}")
    return row["B"], row["A"], ", ".join(row["signals"]), difference, sign_and_size(row), finding(row)
