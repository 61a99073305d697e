"""The tables of campaigns and comparisons that commands print on standard output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from lcca.cli.options.common import print_visible
from lcca.cli.printing.console import print_table, wide_console
from lcca.evaluation.bounds.gap import gap_groups, gap_phases
from lcca.evaluation.comparison.net_benefit import no_choice_yet
from lcca.evaluation.fabric.merit import MEASURES
from lcca.evaluation.report.words.gap import NOTE, gap_table, phase_table
from lcca.evaluation.report.words.headline import headline, score_explained
from lcca.evaluation.report.words.merit import disagreements
from lcca.evaluation.report.words.results import (
    designed_table,
    forecast_words,
    ideal_sets_table,
    ideals_table,
    policies_table,
    sets_table,
    verdicts_table,
    verdicts_tables,
)
from lcca.evaluation.report.words.statements import coverage, with_interval
from lcca.evaluation.report.words.table import Columns, Table
from lcca.evaluation.report.words.trainers import trainers_note, trainers_table
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, NETWORK_TRIALS, shown
from lcca.evaluation.trials.utilities import utilities_of

if TYPE_CHECKING:
    import pandas as pd


Json = dict[str, Any]


def print_sets(summary: Json) -> None:
    """Print one line per signal set or header: what its trainings score."""
    caption = f"{summary['campaign']}: trainings on fresh networks, each seed's on networks of its own"
    print_table(sets_table(summary["signal_sets"], caption))
    if by_trainer := summary.get("trainers"):
        print_table(trainers_table(by_trainer), trainers_note(by_trainer))


def print_result(summary: Json, every_table: bool = False) -> None:
    """Print what a run has found: its answer in one line, and of a campaign the tables that it rests on.

    Args:
        summary: content of summary.json.
        every_table: policies, ideals and single comparisons too.
    """
    wide_console().print(f"[bold]{escape(headline(summary) or 'nothing was compared')}[/bold]")
    if "signal_sets" not in summary:
        return
    print_verdicts(summary, ("set", "policy") if every_table else ("set",))
    print_net_benefit(summary)
    print_sets(summary)
    if every_table:
        if any("trained" in policy for policy in summary.get("policies", ())):
            print_policies(summary)
        for each in summary.get("ideal", []):
            print_ideals(
                each, f"{summary['campaign']}: what is possible on the test networks, utility {each['utility']}"
            )
    else:
        print_visible("lcca sweep --tables, lcca show run: policies, what is possible, single comparisons")


def print_policies(summary: Json) -> None:
    """Print one line per policy: its results on the test networks of its training seed."""
    metrics = [each.over_trials for table in (NETWORK_TRIALS, FABRIC_TRIALS) for each in shown(table, "campaign")]
    print_table(
        policies_table(summary, metrics, f"{summary['campaign']}: policies on fresh test networks"),
        "± is one standard error over networks; * best of its signal set on the validation networks"
        + (", by the set's best trainer" if "trainers" in summary else ""),
        _score_words(p["utility"] for p in summary["policies"]),
    )


def _score_words(utilities: Iterable[str]) -> str:
    """Return what a score is, of utilities by name; of one with weights of its own its unit alone."""
    names = set(utilities)
    known = utilities_of("", names)
    return score_explained(known) if known.keys() == names else "Score in bits."


def print_verdicts(summary: Json, levels: Sequence[str] = ("set", "policy")) -> None:
    """Print the comparisons: signal sets first, then selected policies, then hand-designed ones with learnt ones."""
    titles = {
        "set": "signal sets, mean over training seeds; simultaneous confidence intervals",
        "policy": "selected policies, paired on fresh networks",
    }
    for level, title in ((each, titles[each]) for each in levels):
        if rows := [c for c in summary["comparisons"] if c["level"] == level]:
            print_table(verdicts_table(rows, title), *notes(rows))
    if (by_hand := summary.get("hand_designed")) and "policy" in levels:
        print_table(designed_table(by_hand))


def print_net_benefit(summary: Json) -> None:
    """Print the net benefit of headers, if the campaign has any."""
    found = summary.get("net_benefit")
    if not found:
        return
    headers, sure = found["rows"], coverage([pair for choice in found["choices"] for pair in choice["pairs"]])
    columns: Columns = {
        **{"header": "header", "bytes": "wire_bytes", "utility": "utility"},
        "gross (bytes free)": lambda row: _bits(row["gross_set"]),
        "cost of the bytes": lambda row: _bits(row["cost_set"]) if row["cost_set"] else "0",
        f"net (bits) [{sure}]": lambda row: with_interval(row["net_set"]),
        **{"decision": "decision", "training seeds": lambda row: str(row["net_set"]["n"])},
        "forecast": lambda row: forecast_words(row["net_set"]) if row["decision"] == "open" else "",
    }
    title = (
        f"headers against {found['baseline']} over training seeds, bytes charged on {found['packet_bytes']}-byte "
        "packets; simultaneous confidence intervals"
    )
    remarks = (f"{row['header']}: {row['remark']}" for row in headers if "remark" in row)
    print_table(Table.of(title, headers, columns, ("header", "decision")), *remarks)
    if all("measures" in row for row in headers):
        by = {f"{MEASURES[name]} (bits)": partial(_by_measure, name=name) for name in headers[0]["measures"]}
        title = "the same by other measures, over the same training seeds; simultaneous intervals for each"
        columns = {"header": "header", "utility": "utility", **by}
        print_table(Table.of(title, headers, columns, 4), *disagreements(headers))
    on_fabric = any("slowdown_mean" in each["trained"] for each in summary.get("policies", ()))
    # Finished runs from before it was written there tell it by their policies.
    of = found.get("percent_of") or ("typical slowdown" if on_fabric else "throughput at equal delay")
    print_visible(f"pays: more than {found['required_percent']:g} % of {of}, its bytes charged")
    for choice in found["choices"]:
        if note := no_choice_yet(choice["pairs"]):
            print_visible(f"utility {choice['utility']}: {note}")
            continue
        others = [name for name in choice["answers"] if name != choice["take"]]
        also = f" (may also be best: {', '.join(others)})" if others else ""
        print_visible(f"utility {choice['utility']}: recommended: {choice['take']}{also}")


def print_points(summary: Json) -> None:
    """Print the comparisons of a grid's points, one line each: of signal sets, then of selected policies."""
    rows = [c | {"B": f"{point['name']}: {c['B']}"} for point in summary["points"] for c in point["comparisons"]]
    by_point = [point["comparisons"] for point in summary["points"]]
    for table in verdicts_tables(rows, f"{summary['grid']}, at each point", by_point):
        print_table(table)


def notes(rows: Sequence[Json]) -> list[str]:
    """Return the notes, each once, with its candidates."""
    about: dict[str, list[str]] = {}
    for c in rows:
        if c["note"]:
            about.setdefault(c["note"], []).append(c["B"])
    return [f"{', '.join(names)}: {note}" if len(names) < len(rows) else note for note, names in about.items()]


def _by_measure(row: Json, name: str) -> str:
    found = row["measures"][name]
    return f"{found['decision']}: {with_interval(found['net_set'])}"


def _bits(comparison: Json) -> str:
    value = comparison["difference"]
    return "–" if value is None else f"{value:+.3f}"


def print_ideals(found: Json, title: str) -> None:
    """Print what is possible, and policies beside it, if there are any."""
    if sets := found.get("signal_sets"):
        print_table(ideal_sets_table(found))
    whose = "; of signal sets from the baseline's mean" if sets else ""
    gap = f"gap: from {found.get('baseline')} to equal shares{whose}; header bytes free"
    print_table(ideals_table(found, title), gap * bool(found.get("policies")))


def print_gap(trials: pd.DataFrame) -> None:
    """Print where the bits between the policies of some trials and what is possible go, if the trials tell."""
    if groups := gap_groups(trials):
        print_table(gap_table(groups, "where the bits go (± one standard error over networks)"), NOTE)
    if phases := gap_phases(trials):
        print_table(phase_table(phases, "all networks"))


def print_comparison(comparison: Json, note: str = "") -> None:
    """Print one comparison, with its note and another one."""
    notes = filter(None, (comparison["note"], note))
    print_table(verdicts_table([comparison], "paired on fresh trials"), *notes)
