"""What a search for hard networks came to, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lcca.evaluation.report.words.statements import with_interval
from lcca.evaluation.report.words.table import Table

Json = Mapping[str, Any]


def hard_words(summary: Json) -> str:
    """Return on how many networks a loss is confirmed, in one line."""
    records, against = summary["hard_networks"], " or ".join(summary["against"])
    confirmed = sum(each["confirmed"] for each in records)
    if not confirmed:
        return (
            f"no network where {summary['policy']} loses against {against}: none of {len(records)} losses is confirmed"
        )
    return f"{summary['policy']} loses against {against} on {confirmed} of {len(records)} networks, confirmed"


def loss_words(record: Json, unit: str) -> str:
    """Return the confirmed loss of one network, the reference, and what it looked like in the search."""
    words = with_interval(record["loss"], "mean", "{:.3f}")
    return (
        f"loses {words} {unit}".rstrip() + f" against {record['against']} (in the search {record['search_loss']:.3f})"
    )


def hard_table(summary: Json) -> Table:
    """Return a row per network, the largest loss first."""
    unit = f", {summary['unit']}" if summary["unit"] else ""
    rows = [
        (
            *(f"{each['network'].get(name, 0):g}" for name in summary["varying"]),
            with_interval(each["loss"], "mean", "{:.3f}"),
            *(f"{each['search_loss']:.3f}", each["against"], str(each["trials"]), "yes" if each["confirmed"] else "no"),
        )
        for each in summary["hard_networks"]
    ]
    head = (*summary["varying"], f"loss{unit}", "in the search", "against", "fresh trials", "confirmed")
    caption = f"{summary['policy']}, utility {summary['utility']}; simultaneous intervals of {1 - summary['alpha']:.0%}"
    return Table(caption, head, rows, {"against", "confirmed"})
