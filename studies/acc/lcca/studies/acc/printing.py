"""The tables of `lcca acc`."""

from __future__ import annotations

from typing import Any

from lcca.cli.printing.console import print_table
from lcca.evaluation.report.words.statements import with_interval
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, SCORE, Metric, shown
from lcca.studies.acc.config import ACC


def print_acc(summary: dict[str, Any], condition: str) -> None:
    """Print what was tested in one condition: metrics, and differences from what was learnt."""
    rows, found = (
        [each for each in summary[key] if each["condition"] == condition] for key in ("policies", "comparisons")
    )
    held_out = ", held out" if condition in summary.get("held_out", ()) else ""
    known = (SCORE, *(each.over_trials for each in shown(FABRIC_TRIALS, "campaign")))
    metrics = [each for each in known if each.name in rows[0]]
    head = ("", *(each.head for each in metrics), f"acc − this one ({found[0]['unit']})", "acc is")
    verdicts = {each["A"]: _verdict(each) for each in found} | {ACC: ("", "")}
    cells = [(row["id"], *(_cell(row[each.name], each) for each in metrics), *verdicts[row["id"]]) for row in rows]
    print_table(Table(f"tested on {condition}{held_out}", head, cells))


def _cell(value: Any, metric: Metric) -> str:
    mean = value["mean"] if isinstance(value, dict) else value
    return "–" if mean is None else f"{mean / metric.scale:.{metric.digits}f}"


def _verdict(found: dict[str, Any]) -> tuple[str, str]:
    return with_interval(found, form="{:+.4f}"), f"{found['verdict']} ({found['n']} pairs)"
