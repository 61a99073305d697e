"""The tables of transports on a fabric."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from lcca.cli.options.common import print_visible
from lcca.cli.printing.console import print_table
from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.report.words.merit import NOTE, merit_table, size_words
from lcca.evaluation.report.words.results import jobs_table
from lcca.evaluation.report.words.statements import UNKNOWN, bracketed, interval
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.settling.unfinished import Unfinished, advice
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, Metric, OverFlows, shown
from lcca.remy_plus.fabric.settings import FABRIC

Json = dict[str, Any]

NAME: dict[str, Callable[[Json], str]] = {"": lambda row: row["id"]}

AT_LEAST = "≥ "
"""Before a slowdown of flows of which some did not finish, and none is left out."""

INTERVALS = (
    "in brackets 95 % intervals over trials: means by Student's t, slowdowns on the log scale; quantiles are those of "
    "all trials' flows"
)


def print_fabric(scenario: FabricScenario, utility: str, rows: list[Json], simulator: str, every_table: bool) -> None:
    """Print what `lcca.evaluation.fabric.summary.summary` found: the score and flows; or sizes, ports, merit too."""
    title = f"{scenario.name}: {scenario.fabric}; {rows[0]['trials']} trials, {rows[0]['flows']:,} flows"
    if simulator != FABRIC:
        title += f"\nby {simulator}, which stands in for the fabric"
    metrics = [each for each in shown(FABRIC_TRIALS, "evaluate") if any(each.name in row for row in rows)]
    of = {need: {m.head: _cell(m) for m in metrics if m.needs == need} for need in ("jobs", "ports")}
    of_flows = {m.head: _cell(m) for m in metrics if m.needs not in of}
    of_flows |= {"unfinished": lambda row: f"{_unfinished(row):,}"}
    tables = [Table.of(title, rows, NAME | {f"score, bits ({utility})": _score} | of_flows)]
    if of["jobs"]:
        each_job = {f"job {each['job'] + 1}, µs / bound": _of_job(i) for i, each in enumerate(rows[0]["by_job"])}
        tables.append(Table.of("jobs of training, mean over trials: iterations", rows, NAME | of["jobs"] | each_job))
    notes = [f"{INTERVALS}.", *(f"{row['id']}: {row['note']}" for row in rows if row["note"])]
    notes += [f"≥, ≤: a bound, since flows did not finish; {advised}"] if (advised := _advice(rows)) else []
    silent = ", ".join(f"{row['id']}: {row['silent']:,}" for row in rows if row["silent"])
    notes += [f"left out, had less time than they take alone: {silent} flows; no bounds there"] if silent else []
    if not every_table:
        for table in tables[:-1]:
            print_table(table)
        print_table(tables[-1], *notes)
        print_visible("lcca evaluate --tables: slowdowns by size, ports, the figure of merit over all sizes")
        return
    if classes := rows[0]["by_size"]:
        by_size = {size_words(each["size_from"], each["size_to"]): _of_class(i) for i, each in enumerate(classes)}
        tables.append(Table.of("slowdown by size of flows: mean / p99", rows, NAME | by_size))
    by_job = [{"id": row["id"], **each} for row in rows for each in row.get("by_job", ())]
    tables += [jobs_table(by_job, "jobs of training, mean over trials")] if by_job else []
    tables += [Table.of("ports, mean over trials", rows, NAME | of["ports"])] if of["ports"] else []
    tables.append(merit_table(rows))
    for table in tables[:-1]:
        print_table(table)
    print_table(tables[-1], NOTE, *notes)


def _unfinished(row: Json) -> int:
    return int(row["flows"] - row["flows_finished"])


def _advice(rows: list[Json]) -> str:
    """Return what did not finish of what is scored, and what to change."""
    return advice({row["id"]: Unfinished.read(each) for row in rows if (each := row.get("unfinished"))})


def _cell(metric: Metric) -> Callable[[Json], str]:
    """Return what writes a metric of a row: of what flows have with its interval."""
    write = _with_interval if isinstance(metric.compute, OverFlows) else lambda value: _number(value["mean"])

    def cell(row: Json) -> str:  # an ideal has no ports
        value = row.get(metric.name)
        bound = isinstance(metric.compute, OverFlows) or metric.needs in ("rounds", "events")
        known = value is not None and math.isfinite(next(iter(value.values())))
        sign = AT_LEAST if known and bound and _unfinished(row) and not row["silent"] else ""
        return "–" if value is None else sign + write({end: each / metric.scale for end, each in value.items()})

    return cell


def _score(row: Json) -> str:
    found = row["score_bits"]
    bound = (row.get("unfinished") or {}).get("unfinished") and math.isfinite(found["mean"]) and not row["silent"]
    sign = "≤ " if bound else ""
    return sign + interval(found["mean"], found["low"], found["high"], "{:.3f}")


def _of_job(i: int) -> Callable[[Json], str]:
    def cell(row: Json) -> str:
        found = row["by_job"][i]
        sign = AT_LEAST if found["unfinished"] else ""
        return f"{sign}{_number(found['iteration_us']['mean'])} / {_number(found['job_over_bound']['mean'])}"

    return cell


def _of_class(i: int) -> Callable[[Json], str]:
    def cell(row: Json) -> str:
        found = row["by_size"][i]
        sign = AT_LEAST if found["unfinished"] and not found["silent"] else ""
        return f"{sign}{_number(found['slowdown_mean']['mean'])} / {_with_interval(found['slowdown_p99'])}"

    return cell


def _with_interval(value: dict[str, float]) -> str:
    ends = [_number(value[end]) if math.isfinite(value[end]) else UNKNOWN for end in ("low", "high")]
    return f"{_number(value['value' if 'value' in value else 'mean'])} {bracketed(*ends)}"


def _number(value: float) -> str:
    """Return three digits, thousands apart."""
    if not math.isfinite(value):
        return "–"
    digits = 0 if value == 0 else max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"
