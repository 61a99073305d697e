"""Shares of networks on which candidates differ, over training seeds: tables below those of the selected policies."""

from __future__ import annotations

from typing import Any

from lcca.evaluation.comparison.per_network import METRICS
from lcca.evaluation.report.sections.section import Table
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]

HEAD = ("Comparison", "Metric", "Better, % [95 %]", "Worse, % [95 %]", "Training seeds")


def shares_over_seeds(tables: RunTables, *, rivals: bool) -> tuple[Table, ...]:
    """Return the table of candidates against the baseline, or against each other; none where the run has none."""
    found: list[Json] = tables.summary.get("per_network") or []
    baseline = found[0]["A"] if found else ""
    rows = [row for row in found if (row["A"] != baseline) is rivals]
    if not rows:
        return ()
    caption = (
        "Mean over trainings: shares of networks, each training seed on networks of its own, with a 95 % interval over "
        "training seeds, each by itself and at every number of seeds, approximate near 0 and 100 %."
    )
    if not rivals:
        caption += (
            f" “{baseline}, another training”: its policy of the training seed before, so luck in training alone."
        )
    return (Table(caption, HEAD, [_cells(row, len(tables.utilities) > 1) for row in rows], left=2),)


def _cells(row: Json, several: bool) -> tuple[str, ...]:
    name = f"{row['B']} against {row['A']}" + (f" ({row['utility']})" if several else "")
    shares = (_share(row[key]) for key in ("better_percent", "worse_percent"))
    return (name, METRICS[row["metric"]], *shares, f"{row['training_seeds']}")


def _share(found: Json) -> str:
    if found["mean"] is None:
        return "–"
    ends = "no interval yet" if found["low"] is None else f"[{found['low']:.2g}, {found['high']:.2g}]"
    return f"{found['mean']:.3g} {ends}"
