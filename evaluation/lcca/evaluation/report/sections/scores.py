"""The section on the scores of signal sets: over training seeds, and the expected best of several trainings."""

from typing import Any

from lcca.evaluation.report.figures.data import data_table
from lcca.evaluation.report.figures.scores import draw_scores, scores_data
from lcca.evaluation.report.sections.section import TRAININGS, Content
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]


def scores(tables: RunTables) -> Content | None:
    """Return every training's score by signal set, and their means with the expected best of several; None without."""
    rows = scores_data(tables)
    if not rows:
        return None
    seeds, networks = max(len(row.policies) for row in rows), max(row.networks for row in rows)
    over = "training seeds" if seeds > 1 else "networks only, as there is one training seed"
    caption = (
        f"Mean score on test networks, in bits (◆), with a 95 % Student's t interval over {over} "
        f"({networks:,} networks; up to {seeds} trainings per signal set, small dots if several). The trainings of one "
        "seed run on the same networks, so these intervals can overlap although the paired difference is settled: "
        "judge differences by the forest plot. The paper's Fig. 3 shows standard deviations instead."
    )
    return Content(caption, draw_scores(rows), tables=_over_seeds(tables), population=TRAININGS, data=data_table(rows))


def _over_seeds(tables: RunTables) -> tuple[Table, ...]:
    """Return the table of means over training seeds, if a signal set has several."""
    rows: list[Json] = tables.summary.get("signal_sets") or []
    if all(len(row["training_seeds"]) < 2 for row in rows):
        return ()
    best = f"Expected best of {rows[0]['best_of']}"
    head = (
        "Signals",
        "Utility",
        "Training seeds",
        "Score, bits",
        "SD over seeds",
        best,
        "… less the baseline's (± se)",
    )
    return (Table("Scores over training seeds, in bits", head, [_row(row) for row in rows], left=2),)


def _row(row: Json) -> tuple[str, ...]:
    difference, error = row["best_of_difference_bits"], row["best_of_difference_bits_se"]
    less = "–" if not difference else f"{difference:+.3f}" + ("" if error is None else f" ± {error:.3f}")
    numbers = (_bits(row[key]) for key in ("score_bits", "score_bits_sd", "best_of_score_bits"))
    return row["name"], row["utility"], str(len(row["training_seeds"])), *numbers, less


def _bits(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
