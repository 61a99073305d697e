"""The answers of a study as a Markdown page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from lcca.evaluation.comparison.compare import counted
from lcca.evaluation.report.words.headline import TYPICAL
from lcca.evaluation.report.words.results import measured, question_table
from lcca.evaluation.report.words.statements import interval
from lcca.evaluation.report.words.table import Columns, Table
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, shown
from lcca.evaluation.trials.ratio import Ratio
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.experiments.studies.questions import BITS

MEASURED = f"Means over trials with 95 % intervals, each by itself. {TYPICAL}"


def answers_text(summary: dict[str, Any]) -> str:
    """Return the page: a section per question, then what was measured on every scenario."""
    sure = f"Pairs on the same flows; {together(summary)}. Equivalent: within {summary['margin_percent']:g} %."
    parts = [f"# {summary['campaign']}", summary["source"], sure]
    for question in summary["questions"]:
        own = [each for each in summary["comparisons"] if each["question"] == question["name"]]
        parts += _question(question, own)
    for name in dict.fromkeys(each["condition"] for each in summary["policies"]):
        rows = [each for each in summary["policies"] if each["condition"] == name]
        parts += [f"## Measured: {name}", MEASURED, _measured(rows)]
    return "\n\n".join(filter(None, parts)) + "\n"


def together(summary: dict[str, Any]) -> str:
    """Return what may be said of all intervals together."""
    found = summary["comparisons"]
    return f"all {counted(len(found), 'interval')} are simultaneous at {1 - summary['alpha']:.0%}"


def _question(question: dict[str, Any], found: Sequence[dict[str, Any]]) -> list[str]:
    head = ", ".join(filter(None, (question["name"], question["figure"])))
    theirs = f"Theirs: {question['theirs']}" if question["theirs"] else ""
    return [f"## {head}", question["asks"], theirs, question_table(question, found).markdown()]


def _measured(rows: Sequence[dict[str, Any]]) -> str:
    """Return the table of a scenario: what its questions go by first."""
    scores = [name for name in rows[0] if name.endswith(BITS)]
    by_score = {fabric_utility(name.removesuffix(BITS)).typical.head: name for name in scores}
    known = [each.over_trials for each in shown(FABRIC_TRIALS, "study")]
    metrics = [each for each in known if any(each.name in row for row in rows)]
    columns: Columns = {
        "Contender": "id",
        **{head: partial(_score, name=name) for head, name in by_score.items()},
        **{each.head: partial(measured, metric=each, form="{:.4g}") for each in metrics},
        "Trials": "trials",
    }
    return Table.of("", rows, columns).markdown()


def _score(row: dict[str, Any], name: str) -> str:
    return score_cell(row[name], fabric_utility(name.removesuffix(BITS)))


def score_cell(found: dict[str, Any], utility: Ratio) -> str:
    """Return the geometric mean of what a utility scores, with its interval, from a mean of scores with its own."""
    return interval(*utility.typical_interval([found[end] for end in ("mean", "low", "high")]), "{:.4g}")
