"""The tables of `lcca study` and `lcca tune`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from lcca.cli.options.common import print_visible
from lcca.cli.printing.console import print_table
from lcca.cli.printing.tables import print_comparison
from lcca.evaluation.report.words.headline import TYPICAL
from lcca.evaluation.report.words.results import measured, question_table
from lcca.evaluation.report.words.statements import with_interval
from lcca.evaluation.report.words.table import Columns, Table
from lcca.evaluation.report.words.tuned import advice, knobs_of, named, recommended, settings
from lcca.evaluation.settling.intervals import UNFINISHED
from lcca.evaluation.settling.unfinished import Unfinished
from lcca.evaluation.settling.unfinished import advice as unfinished_advice
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, OverFlows, shown
from lcca.evaluation.trials.ratio import Ratio
from lcca.evaluation.trials.utilities import UTILITIES
from lcca.experiments.experiment import Costs
from lcca.experiments.studies.words import score_cell, together


def print_study_plan(name: str, found: list[dict[str, Any]], made: Mapping[str, Costs]) -> None:
    """Print what a study costs, by scenario and by contender that learns."""
    columns: Columns = {
        **{"Scenario": "scenario", "Contenders": "contenders", "Comparisons": "comparisons"},
        **{"A trial of all": partial(_seconds, "trial_cpu_s"), "First look": partial(_seconds, "cpu_s_least")},
        "At most": partial(_seconds, "cpu_s_most"),
    }
    caption = f"{name}: CPU seconds by scenario (at most by pairs), without tunings and trainings"
    print_table(Table.of(caption, found, columns))
    ends = [(name, words, each) for name, costs in made.items() for words, each in costs.ends.items()]
    if ends:
        rows = [(name, words, f"{each.count:,} {each.unit}", f"{each.cpu_s:.3g}") for name, words, each in ends]
        print_table(Table("tunings and trainings", ("contender", "", "how many", "CPU s"), rows, left=2))


def _seconds(key: str, row: dict[str, Any]) -> str:
    return f"{row[key]:.3g}"


def print_study(summary: dict[str, Any]) -> None:
    """Print a table per question."""
    for question in summary["questions"]:
        found = [each for each in summary["comparisons"] if each["question"] == question["name"]]
        title = " ".join(filter(None, (question["name"], question["asks"])))
        notes = [together(summary)] if question is summary["questions"][-1] else []
        print_table(question_table(question, found, title), *notes)


def print_tuning(summary: dict[str, Any]) -> None:
    """Print the parameters that were found, their scores, and the comparisons with the policy's own."""
    unit, knobs = summary["unit"], knobs_of(summary)
    paid = _paid(summary)
    columns: Columns = {
        **{"": "id", "Parameters": lambda row: named(row["parameters"], knobs)},
        f"Score on the search's {unit}": ("search_score_bits", 3),
        f"On fresh {unit} (bits)": lambda row: with_interval(row["score_bits"], "mean", "{:.3f}"),
        **paid,
        unit: "trials",
    }
    tried = ", ".join(f"{count} {state}" for state, count in summary["candidates"].items())
    notes = [f"candidates: {tried}; {summary['network_trials']} trials", *[TYPICAL] * bool(paid)]
    if not summary["comparisons"]:
        notes.append("no candidate was better than the policy's own parameters" if recommended(summary) else UNFINISHED)
    title = f"{summary['policy']} in {summary['simulator']}, utility {summary['utility']}"
    print_table(Table.of(title, summary["policies"], columns, left=2), *notes)
    for each in summary["comparisons"]:
        print_comparison(each, advice(each))
    if recommended(summary):
        print_table(settings(summary))
    else:
        sides = [each["unfinished"]["policies"] for each in summary["policies"]]
        open_ = {name: Unfinished.read(each) for own in sides for name, each in own.items()}
        print_visible(f"No recommendation: {unfinished_advice(open_)}")


def _paid(summary: dict[str, Any]) -> dict[str, Callable[[dict[str, Any]], str]]:
    """Return columns of what a utility of a fabric scores: its geometric mean on fresh trials, and the arithmetic."""
    utility = UTILITIES.get(summary["utility"])
    if not isinstance(utility, Ratio):
        return {}
    of = (utility.of.compute, OverFlows(utility.of.compute, utility.quantile))
    arithmetic = [each.over_trials for each in shown(FABRIC_TRIALS, "study") if each.compute in of]
    typical = {utility.typical.head: lambda row: score_cell(row["score_bits"], utility)}
    return typical | {each.head: partial(measured, metric=each, form="{:.4g}") for each in arithmetic}
