"""Several trainers of one campaign side by side: what each makes of a signal set, whoever shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lcca.evaluation.report.words.statements import coverage, number, sign_and_size, with_interval
from lcca.evaluation.report.words.table import Table

Json = dict[str, Any]

BEST = "*"
"""Marks the best trainer of a signal set."""


def trainers_table(rows: Sequence[Json]) -> Table:
    """Return the table of `trainers` of a summary: a row per signal set and trainer."""
    compared = [row["comparison"] for row in rows if row["comparison"] and row["trainer"] == rows[0]["trainer"]]
    bits = f"Difference, bits [{coverage(compared)}]" if compared else "Difference, bits"
    scores = ("Score, bits", "SD over seeds", "Validation score, bits")
    head = ("Signals", "Trainer", "Utility", "Training seeds", *scores, bits, "Sign and size")
    body = [
        (
            *(row["name"], row["trainer"] + (f" {BEST}" if row["best"] else "")),
            *(row["utility"], str(len(row["training_seeds"]))),
            *(number(row[key]) for key in ("score_bits", "score_bits_sd", "validation_score_bits")),
            *_against(row["comparison"]),
        )
        for row in rows
    ]
    return Table("Every trainer: differences from the baseline as the same trainer learns it", head, body, left=3)


def _against(compared: Json | None) -> tuple[str, str]:
    if compared is None:
        return "–", "baseline"
    return with_interval(compared), sign_and_size(compared)


def trainers_note(rows: Sequence[Json]) -> str:
    """Return what the mark in the table means."""
    fewest = min(len(row["training_seeds"]) for row in rows)
    return (
        f"{BEST} the best trainer of its signal set: by the mean score on the validation networks over {fewest} "
        "training seeds, both the same for all; sets are compared by it, and selected policies are its; intervals of "
        "one trainer are simultaneous"
    )
