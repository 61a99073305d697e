"""The tables of transports on a fabric."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rich.markup import escape
from rich.table import Table

from lcca.cli.printing.console import wide_console
from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.report.words.statements import TOO_FEW, bracketed, interval
from lcca.remy_plus.fabric.fluid import FABRIC

Cell = Callable[[dict[str, Any]], str]


def print_fabric(scenario: FabricScenario, utility: str, rows: list[dict[str, Any]], simulator: str = FABRIC) -> None:
    """Print what `lcca.evaluation.fabric.summary.summary` found: flows, sizes, ports."""
    trials = rows[0]["trials"]
    title = f"{scenario.name}: {scenario.fabric}; {trials} trials, {rows[0]['flows']:,} flows"
    if simulator != FABRIC:
        title += f"\nby {simulator}, which stands in for the fabric"
    console = wide_console()
    console.print(_table(f"{title}\nslowdown of flows", rows, FLOWS | {f"score, bits ({utility})": _score}))
    if rows[0]["by_size"]:
        console.print(_sizes(rows))
    if "queue_max_bytes" in rows[0]:
        console.print(_table("ports, mean over trials", rows, PORTS))
    console.print(
        "in brackets 95 % intervals over trials: means by Student's t, slowdowns on the log scale; quantiles are those "
        "of all trials' flows",
        style="dim",
        markup=False,
    )
    for row in filter(lambda row: row["note"], rows):
        console.print(f"{row['policy']}: {row['note']}", markup=False)


def _table(title: str, rows: list[dict[str, Any]], columns: dict[str, Cell]) -> Table:
    table = Table(title=escape(title))
    for name in ("", *columns):
        table.add_column(name, justify="right" if name else "left", overflow="fold")
    for row in rows:
        table.add_row(escape(row["id"]), *(cell(row) for cell in columns.values()))
    return table


def _sizes(rows: list[dict[str, Any]]) -> Table:
    """Return mean and p99 by size: a row per transport, a column per class."""
    classes = [(each["size_from"], each["size_to"]) for each in rows[0]["by_size"]]
    columns = {_size_words(*edges): _of_class(i) for i, edges in enumerate(classes)}
    return _table("slowdown by size of flows: mean / p99", rows, columns)


def _of_class(i: int) -> Cell:
    def cell(row: dict[str, Any]) -> str:
        found = row["by_size"][i]
        return f"{_number(found['slowdown_mean']['mean'])} / {_with_interval(found['slowdown_p99'])}"

    return cell


def _size_words(low: float, high: float) -> str:
    if math.isinf(high):
        return f"from {_bytes(low)}"
    return f"below {_bytes(high)}" if low == 0 else f"{_bytes(low)} to {_bytes(high)}"


def _bytes(value: float) -> str:
    return f"{value / 1e6:g} MB" if value >= 1e6 else f"{value / 1e3:g} kB"


def _with_interval(value: dict[str, float]) -> str:
    ends = [_number(value[end]) if math.isfinite(value[end]) else TOO_FEW for end in ("low", "high")]
    return f"{_number(value['mean'])} {bracketed(*ends)}"


def _number(value: float) -> str:
    """Return three digits, thousands apart."""
    if not math.isfinite(value):
        return "–"
    digits = 0 if value == 0 else max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def _mean(name: str, unit: float = 1.0) -> Cell:
    return lambda row: _number(row[name]["mean"] / unit)


def _interval(name: str) -> Cell:
    return lambda row: _with_interval(row[name])


def _score(row: dict[str, Any]) -> str:
    found = {key: None if math.isnan(value) else value for key, value in row["score_bits"].items()}
    return interval(found["mean"], found["low"], found["high"], "{:.3f}")


FLOWS: dict[str, Cell] = {
    "mean": _interval("slowdown_mean"),
    "p50": _interval("slowdown_p50"),
    "p95": _interval("slowdown_p95"),
    "p99": _interval("slowdown_p99"),
    "p99.9": _interval("slowdown_p999"),
    "goodput (Gb/s)": _mean("goodput_gbps"),
    "unfinished": lambda row: f"{row['flows'] - row['flows_finished']:,}",
}

PORTS: dict[str, Cell] = {
    "largest queue (kB)": _mean("queue_max_bytes", 1e3),
    "mean queue of the fullest port (kB)": _mean("queue_mean_bytes", 1e3),
    "its p99 (kB)": _mean("queue_p99_bytes", 1e3),
    "ECN marks": _mean("ecn_marks"),
    "PFC pauses": _mean("pfc_pauses"),
    "paused (µs)": _mean("paused_us"),
    "drops": _mean("drops"),
    "retransmissions": _mean("retransmissions"),
    "data packets": _mean("packets"),
}
