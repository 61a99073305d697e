"""The tables that `lcca estimate` prints on standard output."""

from __future__ import annotations

from typing import Any

from lcca.cli.options.common import print_visible
from lcca.cli.printing.console import print_table
from lcca.evaluation.report.words.statements import interval, with_interval
from lcca.evaluation.report.words.table import Table
from lcca.studies.cceval.config import EstimationConfig


def print_estimate(config: EstimationConfig, content: dict[str, Any]) -> None:
    """Print the estimate, or a line per metric that was estimated from the same trials."""
    if config.estimate.metrics:
        _print_metrics(config, content)
        return
    name, (found,) = config.estimate.words_for_it, content["estimates"]
    low, high = _digits(found["low"]), _digits(found["high"])
    print(f"{name}: {_digits(found['estimate'])} [{low}, {high}] at {found['confidence']:.0%}")
    forecast = f"{found['forecast_low']:,}–{found['forecast_high']:,}"
    print(f"{found['trials']:,} trials; {forecast} were forecast after the first look")
    print(f"method: {found['method']}")
    if found["warning"]:
        print(f"warning: {found['warning']}")
    if not found["accurate"]:
        print("stopped at the ceiling before the accuracy was reached; raise estimate.ceiling")
    for note in content["notes"]:
        print_visible(note)


def _digits(number: float | None) -> str:
    return "unbounded" if number is None else f"{number:.5g}"


def _print_metrics(config: EstimationConfig, content: dict[str, Any]) -> None:
    head = ("metric", "estimate", "accuracy", "accurate first", "forecast from the first look", "note")
    rows = [
        (
            asked.words_for_it,
            with_interval(row, "estimate", "{:.5g}"),
            _accuracy(row),
            f"{row['accurate_first']['n']:,} trials" if row["accurate_first"] else "not yet",
            f"{row['forecast_low']:,}–{row['forecast_high']:,}",
            row["warning"],
        )
        for asked, row in zip(config.estimate.each, content["estimates"], strict=True)
    ]
    title = f"{content['policy']}: {content['trials']:,} trials, {config.estimate.confidence:.0%}"
    print_table(Table(title, head, rows, ("metric", "note")))


def _accuracy(row: dict[str, Any]) -> str:
    if None in (row["estimate"], row["low"], row["high"]) or not row["estimate"]:
        return "–"
    return f"± {50 * (row['high'] - row['low']) / abs(row['estimate']):.2g} %"


def print_durations(content: dict[str, Any]) -> None:
    """Print the result for each duration of a trial, and the shortest one without bias."""
    first = content["estimates"][0]
    level = f"{100 * first['confidence']:g} %"
    head = (
        *("duration (µs)", "trials", "flows", f"pooled [{level}]", "against the longest", f"mean of trials [{level}]"),
        *(f"to {content['accuracy_percent']:g} %", "warm-up, stable, cool-down", "note"),
    )
    rows = [
        (
            *(f"{row['duration_us']:,g}", f"{row['trials']:,}", f"{row['flows']:,}"),
            with_interval(row, "estimate", "{:.4g}"),
            _bias(row),
            interval(row["mean_of_trials"], row["mean_low"], row["mean_high"], "{:.4g}"),
            "–" if row["trials_needed"] is None else f"{row['trials_needed']:,.0f} trials",
            " ".join(f"{100 * row[phase]:.0f}" for phase in ("warm_up", "stable", "cool_down")) + " %",
            row["warning"],
        )
        for row in content["estimates"]
    ]
    title = f"{first['metric']}, p{100 * first['quantile']:g} by duration of a trial"
    print_table(Table(title, head, rows, ("note",)))
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
