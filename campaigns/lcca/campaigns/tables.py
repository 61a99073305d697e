"""The tables that commands print on standard output."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table


def wide_console() -> Console:
    """Return a console for results: what is piped elsewhere is not cut to a terminal's width."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=max(console.width, 200))


def print_policies(summary: dict[str, Any]) -> None:
    """Print one line per policy: what it scored on the test networks."""
    table = Table(title=f"{summary['campaign']}: policies on fresh test networks")
    for name in ("policy", "rules", "score (bits)", "throughput / link", "delay / rtt", "starved", "trials"):
        table.add_column(name, justify="left" if name == "policy" else "right", overflow="fold")
    for policy in summary["policies"]:
        test = policy["test"]
        table.add_row(
            policy["id"] + (" *" if policy["champion"] else ""),
            str(policy["rules"]),
            with_error(test["score_bits"], test["score_bits_se"]),
            with_error(test["throughput_over_link"], test["throughput_over_link_se"]),
            with_error(test["delay_over_rtt"], test["delay_over_rtt_se"]),
            str(test["starved"]),
            str(test["trials"]),
        )
    console = wide_console()
    console.print(table)
    console.print(
        "± is one standard error over networks; * best of its signal set on the validation networks", style="dim"
    )


def print_verdicts(summary: dict[str, Any]) -> None:
    """Print the comparisons: artifacts first, then signal sets."""
    for level, title in (
        ("artifact", "this policy against that one, paired on fresh networks"),
        ("set", "signal set against signal set, over training seeds"),
    ):
        rows = [c for c in summary["comparisons"] if c["level"] == level]
        if rows:
            console = wide_console()
            console.print(_verdict_table(f"{level}: {title}", rows))
            for note in notes(rows):
                console.print(note, style="dim", markup=False)


def notes(rows: list[dict[str, Any]]) -> list[str]:
    """Return what a reader must know besides, each note once, with the candidates that it is about."""
    about: dict[str, list[str]] = {}
    for c in rows:
        if c["note"]:
            about.setdefault(c["note"], []).append(c["B"])
    return [f"{', '.join(names)}: {note}" if len(names) < len(rows) else note for note, names in about.items()]


def _verdict_table(title: str, rows: list[dict[str, Any]]) -> Table:
    table = Table(title=title)
    for name in ("B", "against A", "utility", "difference (bits) [95 %]", "as throughput", "verdict", "n", "forecast"):
        table.add_column(name, justify="left" if name in ("B", "against A", "verdict") else "right", overflow="fold")
    for c in rows:
        table.add_row(
            escape(c["B"]),
            escape(c["A"]),
            c["utility"],
            interval(c["difference"], c["low"], c["high"], "{:+.3f}"),
            percent(c["throughput_equivalent_percent"]["difference"]),
            verdict_words(c),
            str(c["n"]),
            forecast_words(c),
        )
    return table


def with_error(value: float | None, error: float | None) -> str:
    """Return a number with its standard error."""
    if value is None:
        return "–"
    return f"{value:.3f}" + (f" ± {error:.3f}" if error is not None else "")


def interval(value: float | None, low: float | None, high: float | None, form: str) -> str:
    """Return a number with its interval; unknown ends are infinite."""
    if value is None:
        return "–"
    ends = ("−∞" if low is None else form.format(low), "+∞" if high is None else form.format(high))
    return f"{form.format(value)} [{ends[0]}, {ends[1]}]"


def percent(value: float | None) -> str:
    """Return a signed percentage."""
    return "–" if value is None else f"{value:+.1f} %"


def verdict_words(comparison: dict[str, Any]) -> str:
    """Return the verdict as people read it."""
    words: str = comparison["verdict"]
    if comparison["by_more_than_margin"]:
        words += " by more than the margin"
    elif comparison["verdict"] == "equivalent" and comparison["direction"] != "0":
        words += f" (a little {'better' if comparison['direction'] == '+' else 'worse'})"
    return words


def forecast_words(comparison: dict[str, Any]) -> str:
    """Return how many more units an open comparison will take."""
    if comparison["verdict"] != "not settled" or not comparison["likely_n"]:
        return ""
    unit = "pairs" if comparison["level"] == "artifact" else "training seeds"
    low, high = (max(n - comparison["n"], 0) for n in comparison["likely_n"])
    if high == 0:
        return "the next look"
    if low == high:
        return f"about {high} more {unit}"
    return f"about {low}–{high} more {unit}" if low else f"up to {high} more {unit}"


def print_comparison(comparison: dict[str, Any]) -> None:
    """Print one comparison."""
    wide_console().print(_verdict_table("B against A, paired on fresh networks", [comparison]))
    if comparison["note"]:
        wide_console().print(comparison["note"], style="dim", markup=False)


def print_durations(content: dict[str, Any]) -> None:
    """Print what each duration of a trial gave, and which one will do."""
    level = f"{100 * content['confidence']:g} %"
    table = Table(title=f"{content['metric']}, p{100 * content['quantile']:g} by duration of a trial")
    head = ("duration (µs)", "trials", "flows", f"pooled [{level}]", "against the longest", "mean of trials", "note")
    for name in head:
        table.add_column(name, justify="left" if name == "note" else "right", overflow="fold")
    for row in content["rows"]:
        table.add_row(
            f"{row['duration_us']:,g}",
            f"{row['trials']:,}",
            f"{row['flows']:,}",
            interval(row["estimate"], row["low"], row["high"], "{:.4g}"),
            _bias(row),
            f"{row['mean_of_trials']:.4g}",
            row["warning"],
        )
    wide_console().print(table)
    shortest = content["shortest_unbiased_us"]
    if shortest is None:
        print("no shorter duration bears the longest one out: try longer ones, or more --simulated-time")
    else:
        print(f"from {shortest:,g} µs on no bias is seen against the longest; the interval says how large it may be")


def _bias(row: dict[str, Any]) -> str:
    if row["bias"] == row["bias_low"] == row["bias_high"] == 0:
        return ""
    value, low, high = (None if row[key] is None else 100 * row[key] for key in ("bias", "bias_low", "bias_high"))
    return interval(value, low, high, "{:+.0f}") + " %"
