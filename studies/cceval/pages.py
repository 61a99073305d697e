"""Fills the page on CCEval with tables of the summaries in `studies/cceval/results`."""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from markdown_tables import table

MARK = "<!-- cceval {} -->"
FOLDER = Path(__file__).parent / "results"
TRANSPORTS = ("dctcp", "dcqcn", "timely", "hpcc")

Row = dict[str, Any]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put a kind of table where a page has its mark (MkDocs, for each page)."""
    for kind, tables in (
        ("estimates", estimates),
        ("sizes", sizes),
        ("forecasts", forecasts),
        ("pairs", pairs),
        ("verdicts", verdicts),
        ("durations", durations),
    ):
        mark = MARK.format(kind)
        markdown = markdown.replace(mark, tables()) if mark in markdown else markdown
    return markdown


def summaries(kind: str) -> list[Row]:
    """Return the summaries of one kind, in the order of their names."""
    return [json.loads(file.read_text()) for file in sorted(FOLDER.glob(f"{kind}-*.json"))]


def groups() -> dict[str, list[Row]]:
    """Return the estimations of each scenario and duration, transports in the order of the paper."""
    found: dict[str, list[Row]] = {}
    for each in sorted(summaries("estimate"), key=lambda each: TRANSPORTS.index(each["policy"])):
        found.setdefault(f"{each['scenario']}, trials of {each['duration_us'] / 1e6:g} s", []).append(each)
    return found


def estimates() -> str:
    """Return two tables per scenario: what was found, and the trials that 1 % takes."""
    return both(groups())


def sizes() -> str:
    """Return the same two tables per table of flow sizes; names of files are sizes-TABLE-TRANSPORT.json."""
    found: dict[str, list[Row]] = {}
    files = sorted(FOLDER.glob("sizes-*.json"), key=lambda file: TRANSPORTS.index(file.stem.rpartition("-")[2]))
    for file in files:
        run = json.loads(file.read_text())
        sizes = file.stem.removeprefix("sizes-").rpartition("-")[0]
        found.setdefault(f"{run['scenario']}, {sizes}, trials of {run['duration_us'] / 1e6:g} s", []).append(run)
    return both(dict(sorted(found.items())))


def both(by_title: dict[str, list[Row]]) -> str:
    """Return two tables for each of some groups of estimations."""
    parts = []
    for title, runs in by_title.items():
        heads = ("", *(f"{each['policy']}, {each['trials']:,} trials" for each in runs))
        rows = list(zip(*(each["metrics"] for each in runs), strict=True))
        found = table(heads, ((name(row[0]), *map(interval, row)) for row in rows))
        needed = table(heads, ((name(row[0]), *map(one_percent, row)) for row in rows))
        parts += [f"**{title}**: mean of the trials' quantiles, 95 % intervals.", found]
        parts += [
            "Trials to 1 %: needed, or by Eq. 3 from all trials (~); forecast from the first 20, its 90 % range.",
            needed,
        ]
    return "\n\n".join(parts)


def forecasts() -> str:
    """Return a row per run: how far forecasts from the first look were off, where an accuracy took more trials."""
    rows = []
    for title, runs in groups().items():
        for run in runs:
            cases = [case for metric in run["metrics"] for case in reached(metric)]
            if cases:
                off = median(abs(case["forecast"] / case["needed"] - 1) for case in cases)
                held = sum(case["forecast_low"] <= case["needed"] <= case["forecast_high"] for case in cases)
                most = max(case["needed"] for case in cases)
                told = (f"{len(cases)}", f"{most:,}", f"{100 * off:.0f} %", f"{held}", f"{100 * drift(run):.0f} %")
                rows.append((title, run["policy"], *told))
    heads = ("", "transport", "cases", "most trials", "off by (median)", "in the 90 % range", "off from Eq. 3 with all")
    return table(heads, rows)


def drift(run: Row) -> float:
    """Return how far Eq. 3 after the first look is from Eq. 3 with all trials, the median over metrics."""
    found = [row for metric in run["metrics"] for row in metric["by_accuracy"] if row["percent"] == 1]
    return median(abs(row["forecast"] / row["forecast_last"] - 1) for row in found)


def reached(metric: Row) -> list[Row]:
    """Return the accuracies of a metric that were reached after the first look."""
    first = min((case["needed"] for case in metric["by_accuracy"] if case["needed"]), default=0)
    return [case for case in metric["by_accuracy"] if case["needed"] and case["needed"] > max(first, 20)]


def pairs() -> str:
    """Return a table per comparison."""
    heads = ("", "A", "B", "B − A", "sign after", "1 % each", "pairing saves", "ten are wrong", "left by load")
    parts = []
    for found in summaries("pairs"):
        first = found["metrics"][0]
        title = f"**{first['A']} (A) and {first['B']} (B), {found['scenario']}**, {first['trials']:,} trials."
        parts += [title, table(heads, map(pair, found["metrics"]))]
    return "\n\n".join(parts)


def pair(row: Row) -> Sequence[str]:
    """Return the cells of one metric of a comparison."""
    sign = [number(row[f"sign_{kind}"]) for kind in ("paired", "independent", "separate")]
    wrong = [f"{100 * row[f'wrong_{kind}']:.1f} %" for kind in ("independent", "paired")]
    left = [f"{row[f'left_{kind}']:.2f}" for kind in ("a", "b", "difference")]
    gap = f"{digits(row['difference'], '+')} [{digits(row['low'], '+')}, {digits(row['high'], '+')}]"
    each = f"{number(row['percent_a'])}, {number(row['percent_b'])}"
    ends = (digits(row["mean_a"]), digits(row["mean_b"]), gap)
    return (row["metric"], *ends, " / ".join(sign), each, f"{row['saved']:.2g} ×", " / ".join(wrong), ", ".join(left))


def verdicts() -> str:
    """Return a row per comparison of a study, or of `lcca compare`, whose scenario is in the name of the file."""
    rows = []
    for file in sorted(FOLDER.glob("verdict-*.json")):
        found = json.loads(file.read_text())
        for each in found.get("comparisons", [found]):
            rows.append(verdict(each, file.stem.removeprefix("verdict-")))
    heads = ("", "B against A", "by", "difference, bits", "A worse by", "pairs", "B is", "theirs")
    return table(heads, rows)


def verdict(row: Row, elsewhere: str) -> Sequence[str]:
    """Return the cells of one comparison."""
    bits = f"{row['difference']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}]"
    scenario = row.get("scenario") or row.get("condition") or elsewhere
    names = (scenario, f"{row['B']} against {row['A']}", f"`{row['utility']}`")
    worse = f"{row['throughput_equivalent_percent']['difference']:+.0f} %"
    return (*names, bits, worse, f"{row['n']}", row["verdict"], row.get("agreement") or "")


def durations() -> str:
    """Return a table per run of `--durations`."""
    heads = ("duration, s", "trials", "mean of trials", "pooled", "trials to 1 %", "flows to 1 %", "phases, % of flows")
    parts = []
    for found in summaries("durations"):
        parts += [f"**{found['name']}**", table(heads, map(duration, found["rows"]))]
    return "\n\n".join(parts)


def duration(row: Row) -> Sequence[str]:
    """Return the cells of one duration."""
    mean = f"{row['mean_of_trials']:.4g} [{end(row['mean_low'])}, {end(row['mean_high'])}]"
    pooled = f"{row['estimate']:.4g} [{end(row['low'])}, {end(row['high'])}]"
    flows = None if row["trials_needed"] is None else row["trials_needed"] * row["flows"] / row["trials"]
    phases = " / ".join(f"{100 * row[phase]:.0f}" for phase in ("warm_up", "stable", "cool_down"))
    ends = (number(row["trials_needed"]), number(flows), phases)
    return (f"{row['duration_us'] / 1e6:g}", f"{row['trials']:,}", mean, pooled, *ends)


def name(metric: Row) -> str:
    """Return what a metric is, in a few words."""
    unit = "FCT, µs" if metric["metric"] == "fct_us" else metric["metric"]
    flows = metric["flows"] or {}
    some = "large, " if flows.get("from_bytes") else "small, " if flows.get("below_bytes") else ""
    return f"{some}{unit}, p{100 * metric['quantile']:g}"


def interval(metric: Row) -> str:
    """Return an estimate and its interval."""
    return f"{digits(metric['estimate'])} [{end(metric['low'])}, {end(metric['high'])}]"


def one_percent(metric: Row) -> str:
    """Return the trials that 1 % took or takes, and what was forecast."""
    row = next(row for row in metric["by_accuracy"] if row["percent"] == 1)
    needed = f"{row['needed']:,}" if row["needed"] else f"~{number(row['forecast_last'])}"
    return f"{needed} ({number(row['forecast'])}: {row['forecast_low']:,}–{row['forecast_high']:,})"


def end(value: float | None) -> str:
    """Return an end of an interval."""
    return "–" if value is None else digits(value)


def digits(value: float, sign: str = "") -> str:
    """Return a number with four digits, or all those before the point."""
    return f"{value:{sign},.0f}" if abs(value) >= 1000 else f"{value:{sign}.4g}"


def number(value: float | None) -> str:
    """Return a number of trials."""
    return "–" if value is None else f"{max(value, 1):,.0f}"
