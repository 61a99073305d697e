"""The answers of a study as a Markdown page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lcca.evaluation.comparison.compare import counted
from lcca.evaluation.report.words.headline import TYPICAL
from lcca.evaluation.report.words.statements import interval, sign_and_size
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, Metric, shown
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
    names = ("scenario", "contender", "against", "by", "difference, bits", "against is worse by", "pairs", "ours")
    expected = question["expected"] is not None
    heads = (*names, f"theirs: {question['expected']}") if expected else names
    rows = [(*comparison_cells(each), *((each["agreement"],) if expected else ())) for each in found]
    return [f"## {head}", question["asks"], theirs, Table("", heads, rows).markdown()]


def comparison_cells(found: dict[str, Any]) -> tuple[str, ...]:
    """Return a comparison's cells: scenario, B, A, utility, difference, per cent, pairs, verdict."""
    slower = found["throughput_equivalent_percent"]["difference"]
    words = sign_and_size(found)
    return (
        found["condition"],
        found["B"],
        found["A"],
        found["utility"],
        interval(found["difference"], found["low"], found["high"], "{:+.3f}"),
        "–" if slower is None else f"{slower:+.1f} %",
        str(found["n"]),
        words if words == found["verdict"] else f"{found['verdict']}: {words}",
    )


def _measured(rows: Sequence[dict[str, Any]]) -> str:
    """Return the table of a scenario: what its questions go by first."""
    scores = [name for name in rows[0] if name.endswith(BITS)]
    by_score = {fabric_utility(name.removesuffix(BITS)).typical.head: name for name in scores}
    known = [each.over_trials for each in shown(FABRIC_TRIALS, "study")]
    metrics = [each for each in known if any(each.name in row for row in rows)]
    cells = [
        (
            row["id"],
            *(score_cell(row[name], fabric_utility(name.removesuffix(BITS))) for name in by_score.values()),
            *(mean_cell(row, each) for each in metrics),
        )
        for row in rows
    ]
    head = ("contender", *by_score, *(each.head for each in metrics), "trials")
    return Table("", head, [(*each, str(row["trials"])) for each, row in zip(cells, rows, strict=True)]).markdown()


def score_cell(found: dict[str, Any], utility: Ratio) -> str:
    """Return the geometric mean of what a utility scores, with its interval, from a mean of scores with its own."""
    return interval(*utility.typical_interval([found[end] for end in ("mean", "low", "high")]), "{:.4g}")


def mean_cell(row: dict[str, Any], metric: Metric) -> str:
    """Return the mean of a metric with its interval; a dash where there is none."""
    found = row.get(metric.name, {})
    mean, low, high = (None if found.get(end) is None else found[end] / metric.scale for end in ("mean", "low", "high"))
    return interval(mean, low, high, "{:.4g}")
