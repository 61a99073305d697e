"""Shares of networks on which candidates differ, over training seeds: tables below those of the selected policies."""

from __future__ import annotations

from typing import Any

from lcca.evaluation.comparison.per_network import METRICS
from lcca.evaluation.report.sections.section import Table
from lcca.evaluation.report.words.statements import interval
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]


def shares_over_seeds(tables: RunTables, *, rivals: bool) -> tuple[Table, ...]:
    """Return the table of candidates against the baseline, or against each other; none where the run has none."""
    found: list[Json] = tables.summary.get("per_network") or []
    baseline = found[0]["A"] if found else ""
    rows = [row for row in found if (row["A"] != baseline) is rivals]
    if not rows:
        return ()
    level = f"{100 * (1 - rows[0]['alpha']):g} %"
    caption = (
        "All trainings: shares of networks, mean ± standard deviation over training seeds, each on networks of its "
        f"own, header bytes free. Net: better less worse, with its {level} interval over training seeds, each by "
        "itself and at every number of seeds."
    )
    if not rivals:
        caption += (
            f" {baseline} against {baseline}: trainings of two training seeds, which learnt on other networks too: "
            "what luck in training does."
        )
    head = ("Comparison", "Metric", "Better, %", "Worse, %", f"Net, % [{level}]", "Training seeds")
    return (Table(caption, head, [_cells(row, len(tables.utilities) > 1) for row in rows], left=2),)


def _cells(row: Json, several: bool) -> tuple[str, ...]:
    name = f"{row['B']} against {row['A']}" + (f" ({row['utility']})" if several else "")
    shares, net = (_share(row[key]) for key in ("better_percent", "worse_percent")), row["net_percent"] or {}
    ends = interval(net.get("mean"), net.get("low"), net.get("high"), "{:+.0f}")
    return (name, METRICS[row["metric"]], *shares, ends, f"{row['training_seeds']}")


def _share(found: Json) -> str:
    if found["mean"] is None:
        return "–"
    return f"{found['mean']:.0f}" + ("" if found["sd"] is None else f" ± {found['sd']:.0f}")
