"""Several trainers of one campaign side by side: what each makes of a signal set, whoever shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lcca.evaluation.report.words.statements import coverage, sign_and_size, with_interval
from lcca.evaluation.report.words.table import Columns, Table

Json = dict[str, Any]

BEST = "*"
"""Marks the best trainer of a signal set."""


def trainers_table(rows: Sequence[Json]) -> Table:
    """Return the table of `trainers` of a summary: a row per signal set and trainer."""
    compared = [row["comparison"] for row in rows if row["comparison"] and row["trainer"] == rows[0]["trainer"]]
    bits = f"Difference, bits [{coverage(compared)}]" if compared else "Difference, bits"
    columns: Columns = {
        **{"Signals": "name", "Trainer": lambda row: row["trainer"] + f" {BEST}" * row["best"], "Utility": "utility"},
        **{"Training seeds": lambda row: str(len(row["training_seeds"])), "Score, bits": ("score_bits", 3)},
        **{"SD over seeds": ("score_bits_sd", 3), "Validation score, bits": ("validation_score_bits", 3)},
        bits: lambda row: with_interval(row["comparison"]) if row["comparison"] else "–",
        "Sign and size": lambda row: sign_and_size(row["comparison"]) if row["comparison"] else "baseline",
    }
    caption = "Every trainer: differences from the baseline as the same trainer learns it"
    return Table.of(caption, rows, columns, left=3)


def trainers_note(rows: Sequence[Json]) -> str:
    """Return what the mark in the table means."""
    fewest = min(len(row["training_seeds"]) for row in rows)
    return (
        f"{BEST} the best trainer of its signal set: by the mean score on the validation networks over {fewest} "
        "training seeds, both the same for all; sets are compared by it, and selected policies are its; intervals of "
        "one trainer are simultaneous"
    )
