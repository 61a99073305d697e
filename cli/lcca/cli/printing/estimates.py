"""The tables that `lcca estimate` prints on standard output."""

from __future__ import annotations

from typing import Any

from rich.markup import escape
from rich.table import Table

from lcca.cli.printing.console import wide_console
from lcca.evaluation.report.words.statements import interval
from lcca.experiments.estimation.config import EstimationConfig

HEADS = ("metric", "estimate", "accuracy", "accurate first", "forecast from the first look", "note")


def print_metrics(config: EstimationConfig, content: dict[str, Any]) -> None:
    """Print a line per metric that was estimated from the same trials."""
    table = Table(title=f"{content['policy']}: {content['trials']:,} trials, {config.estimate.confidence:.0%}")
    for head in HEADS:
        table.add_column(head, justify="left" if head in ("metric", "note") else "right", overflow="fold")
    for asked, row in zip(config.estimate.each, content["estimates"], strict=True):
        first = f"{row['accurate_first']['n']:,} trials" if row["accurate_first"] else "not yet"
        found = interval(row["estimate"], row["low"], row["high"], "{:.5g}")
        forecast = f"{row['forecast_low']:,}–{row['forecast_high']:,}"
        table.add_row(escape(asked.words_for_it), found, _accuracy(row), first, forecast, row["warning"])
    wide_console().print(table)


def _accuracy(row: dict[str, Any]) -> str:
    if None in (row["estimate"], row["low"], row["high"]) or not row["estimate"]:
        return "–"
    return f"± {50 * (row['high'] - row['low']) / abs(row['estimate']):.2g} %"


def print_durations(content: dict[str, Any]) -> None:
    """Print the result for each duration of a trial, and the shortest one without bias."""
    first_row = content["estimates"][0]
    level = f"{100 * first_row['confidence']:g} %"
    table = Table(title=f"{first_row['metric']}, p{100 * first_row['quantile']:g} by duration of a trial")
    first = (
        "duration (µs)",
        "trials",
        "flows",
        f"pooled [{level}]",
        "against the longest",
        f"mean of trials [{level}]",
    )
    head = (*first, f"to {content['accuracy_percent']:g} %", "warm-up, stable, cool-down", "note")
    for name in head:
        table.add_column(name, justify="left" if name == "note" else "right", overflow="fold")
    for row in content["estimates"]:
        table.add_row(
            f"{row['duration_us']:,g}",
            f"{row['trials']:,}",
            f"{row['flows']:,}",
            interval(row["estimate"], row["low"], row["high"], "{:.4g}"),
            _bias(row),
            interval(row["mean_of_trials"], row["mean_low"], row["mean_high"], "{:.4g}"),
            "–" if row["trials_needed"] is None else f"{row['trials_needed']:,.0f} trials",
            " ".join(f"{100 * row[phase]:.0f}" for phase in ("warm_up", "stable", "cool_down")) + " %",
            row["warning"],
        )
    wide_console().print(table)
    shortest = content["shortest_unbiased_us"]
    if shortest is None:
        print("no shorter duration agrees with the longest: try longer ones, or more --simulated-time")
    else:
        print(f"from {shortest:,g} µs on no significant bias against the longest duration; the interval bounds it")


def _bias(row: dict[str, Any]) -> str:
    if row["bias"] == row["bias_low"] == row["bias_high"] == 0:
        return ""
    value, low, high = (None if row[key] is None else 100 * row[key] for key in ("bias", "bias_low", "bias_high"))
    return interval(value, low, high, "{:+.0f}") + " %"
