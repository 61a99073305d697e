"""The tables of a run as a paper prints them, and its numbers as commands: LaTeX with booktabs and siunitx."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from lcca.evaluation.comparison.ranking import TOO_FEW_TO_RANK
from lcca.evaluation.report.words.headline import estimated
from lcca.evaluation.report.words.statements import capital, coverage
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.trials.loaded_run import LoadedRun
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, NETWORK_TRIALS, SCORE, Metric, shown

PREAMBLE = r"""% \usepackage{booktabs,siunitx}
% \sisetup{separate-uncertainty, detect-weight, table-align-uncertainty=false}
"""
NUMBERS = "numbers"
"""The file of commands."""

MOST_ROWS = 200
"""Of a table."""

MOST_COLUMNS = 6
"""Of a table in letters of full size: more are wider than the text of an article."""

NARROWER = r"  \small\setlength{\tabcolsep}{4pt}"

UNITS = {"µs": r"\si{\micro\second}", "ms": r"\si{\milli\second}", "packets/µs": r"packets/\si{\micro\second}"}
LEVELS = {"set": "Signal sets, mean over trainings", "policy": "Selected policies"}
DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        head: above it, with no unit.
        values: numbers, or text.
        low: lower ends of the intervals of numbers, if they have any.
        high: upper ends.
        unit: of numbers.
        digits: after the point, where there are no intervals.
        better: "more" or "less"; the best number is bold.
    """

    head: str
    values: Sequence[Any]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    unit: str = ""
    digits: int = 0
    better: str = ""

    def latex(self) -> tuple[list[str], str, list[str]]:
        """Return the columns of the `tabular` that it takes, its head, and its cells, with an & where it takes two."""
        unit = f" ({UNITS.get(self.unit, escaped(self.unit))})" if self.unit else ""
        head = f"{{{escaped(self.head)}{unit}}}"
        if any(isinstance(value, str) for value in self.values):
            return ["l"], head, [escaped(value) for value in self.values]
        values = np.array([math.nan if value is None else value for value in self.values], dtype=np.float64)
        ends = [np.array(each if len(each) else values * math.nan, dtype=np.float64) for each in (self.low, self.high)]
        below, above = values - ends[0], ends[1] - values
        halves, known = (below + above) / 2, np.isfinite(below + above)
        if not halves[known].any():
            cells = [f"{value:.{self.digits}f}" for value in values]
            return [f"S[table-format={_format(cells)}]"], head, self._best(values, cells)
        digits = _digits(halves[known])
        numbers = [f"{value:.{digits}f}" for value in values]
        if (np.abs(above - below)[known] <= 0.1 * halves[known] + 1e-12).all():
            errors = [round(half * 10**digits) if np.isfinite(half) else 0 for half in halves]
            places = max(len(str(error)) for error in errors)
            cells = [number + (f"({error})" if error else "") for number, error in zip(numbers, errors, strict=True)]
            return [f"S[table-format={_format(numbers)}({places})]"], head, self._best(values, cells)
        brackets = [
            rf"[\num{{{low:.{digits}f}}}, \num{{{high:.{digits}f}}}]" if there else ""
            for low, high, there in zip(self.low, self.high, known, strict=True)
        ]
        cells = [f"{cell} & {end}" for cell, end in zip(self._best(values, numbers), brackets, strict=True)]
        return [f"S[table-format={_format(numbers)}]", "@{\\ }l"], rf"\multicolumn{{2}}{{c}}{head}", cells

    def _best(self, values: np.ndarray[Any, np.dtype[np.float64]], cells: Sequence[str]) -> list[str]:
        """Return cells with the best in bold, and those that are unknown as text."""
        known = set(values[np.isfinite(values)])
        best = (max if self.better == "more" else min)(known) if self.better and len(known) > 1 else math.nan
        return [
            "{--}" if not math.isfinite(value) else rf"\bfseries {cell}" if value == best else cell
            for value, cell in zip(values, cells, strict=True)
        ]


def _digits(halves: np.ndarray[Any, np.dtype[np.float64]]) -> int:
    """Return how many digits after the point show two of the middle half-width and one of the least, 6 at most."""
    wide = halves[halves > 0]
    places = (1 - math.floor(math.log10(np.median(wide))), -math.floor(math.log10(wide.min())))
    return int(np.clip(max(places), 0, 6))


def _format(cells: Iterable[str]) -> str:
    """Return siunitx's format of numbers: digits before and after the point, and room for a minus."""
    numbers = [cell for cell in cells if cell != "nan"] or ["0"]
    whole = max(len(number.lstrip("-").partition(".")[0]) for number in numbers)
    digits = max(len(number.partition(".")[2]) for number in numbers)
    sign = "-" if any(number.startswith("-") for number in numbers) else ""
    return f"{sign}{whole}" + (f".{digits}" if digits else "")


def table(columns: Sequence[Column], caption: str, label: str, parts: Sequence[str] = ()) -> str:
    """Return a `table` with caption and label.

    Args:
        columns: with equally many rows.
        caption: plain text.
        label: after ``tab:``.
        parts: of each row the part of the table that it belongs to, rows of a part together; each part has a heading.
    """
    drawn = [column.latex() for column in columns]
    spec = [each for specs, _, _ in drawn for each in specs]
    rows = [" & ".join(cells) + r" \\" for cells in zip(*(cells for _, _, cells in drawn), strict=True)]
    left_out = f"% {len(rows) - MOST_ROWS} rows more are in its CSV" if len(rows) > MOST_ROWS else ""
    body: list[str] = []
    for number, row in enumerate(rows[:MOST_ROWS]):
        if len(set(parts)) > 1 and (number == 0 or parts[number] != parts[number - 1]):
            heading = rf"\multicolumn{{{len(spec)}}}{{l}}{{\emph{{{escaped(parts[number])}}}}} \\"
            body += [*([r"\addlinespace"] if number else []), heading]
        body.append(row)
    lines = [
        *(r"\begin{table}", r"  \centering", f"  \\caption{{{escaped(caption)}}}", f"  \\label{{tab:{label}}}"),
        *((NARROWER,) if len(spec) > MOST_COLUMNS else ()),
        *(f"  \\begin{{tabular}}{{{' '.join(spec)}}}", r"    \toprule"),
        "    " + " & ".join(head for _, head, _ in drawn) + r" \\",
        *(f"    {line}" for line in (r"\midrule", *body, r"\bottomrule", left_out) if line),
        *(r"  \end{tabular}", r"\end{table}"),
    ]
    return PREAMBLE + "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Return text with LaTeX's special letters escaped."""
    return "".join(_ESCAPED.get(letter, letter) for letter in text)


_ESCAPED = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "µ": r"\textmu{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "\u00a0": "~",
}
_ESCAPED |= {
    letter: f"${name}$"
    for letter, name in {
        **{"−": "-", "±": r"\pm", "×": r"\times", "≤": r"\leq", "≥": r"\geq", "→": r"\to", "∞": r"\infty"},
        **{"Δ": r"\Delta", "α": r"\alpha", "β": r"\beta", "γ": r"\gamma"},
    }.items()
}
"""Of other letters LaTeX itself knows those of European languages; names in others need LuaLaTeX or XeLaTeX."""


# --- the tables of a run


def tables(run: LoadedRun) -> dict[str, str]:
    """Return the tables that a run has, by name, and its numbers as commands (`NUMBERS`); nothing of an empty run."""
    name = re.sub(r"[^A-Za-z0-9-]+", "-", str(run.manifest["name"]))
    makers = {"policies": _policies, "estimates": _estimates, "verdicts": _verdicts, "costs": _costs}
    found = {each: text for each, make in makers.items() if (text := make(run, f"{name}-{each}"))}
    return found | ({NUMBERS: commands(run)} if found else {})


def _policies(run: LoadedRun, label: str) -> str:
    """Return what policies measured: of trainings the mean over training seeds, with its 95 % interval."""
    whole = run.policies
    if whole.empty:
        return ""
    known = [SCORE, *shown(NETWORK_TRIALS, "campaign"), *shown(FABRIC_TRIALS, "campaign")]
    metrics = list({each.name: each for metric in known for each in (metric, metric.over_trials)}.values())
    metrics = [each for each in metrics if each.name in whole and whole[each.name].notna().any()]
    if "training_seed" in whole and whole["training_seed"].nunique() > 1:
        keys = [key for key in ("candidate", "utility") if key == "candidate" or whole[key].nunique() > 1]
        groups = [rows for _, rows in whole.groupby(keys, sort=False, dropna=False)]
        columns = [Column(capital(key), [str(rows[key].iloc[0]) for rows in groups]) for key in keys]
        for metric in metrics:
            found = [t_interval(rows[metric.name] / metric.scale) for rows in groups]
            columns.append(_column(metric, *zip(*found, strict=True)))
        columns.append(Column("Seeds", [rows["training_seed"].nunique() for rows in groups]))
        return table(columns, "Means over training seeds, with 95 % intervals.", label)
    words = ("id", *(key for key in ("condition", "network", "utility") if key in whole and whole[key].nunique() > 1))
    columns = [Column(capital(key.replace("id", "policy")), [str(value) for value in whole[key]]) for key in words]
    if "best_rank" in whole:
        columns.append(Column("Rank", [_rank(*row) for row in whole[["best_rank", "worst_rank"]].to_numpy()]))
    apart = whole["id"].duplicated().any()  # the best of several conditions is no answer
    columns += [_measured(replace(metric, better="" if apart else metric.better), whole) for metric in metrics]
    columns += [Column("Trials", list(whole["trials"]))] if "trials" in whole else []
    ranks = " Ranks are simultaneous." if "best_rank" in whole else ""
    return table(columns, f"Means over trials, with their intervals.{ranks}", label)


def _rank(best: float, worst: float) -> str:
    return TOO_FEW_TO_RANK if not best else f"{best:.0f}" if best == worst else f"{best:.0f} to {worst:.0f}"


def _measured(metric: Metric, rows: pd.DataFrame) -> Column:
    """Return a metric with its interval, or with that of one standard error; as it is without either."""
    value, none = rows[metric.name], pd.Series(math.nan, index=rows.index)
    error = rows.get(f"{metric.name}_se", none)
    ends = (rows.get(f"{metric.name}_{end}", value + sign * error) for end, sign in (("low", -1), ("high", 1)))
    scaled = ([float(each) / metric.scale for each in column] for column in (value, *ends))
    return _column(metric, *scaled)


def _column(metric: Metric, values: Sequence[float], low: Sequence[float], high: Sequence[float]) -> Column:
    ends = (low, high) if np.isfinite(low).any() else ((), ())
    return Column(capital(metric.label), values, *ends, metric.unit, metric.digits, metric.better)


def _estimates(run: LoadedRun, label: str) -> str:
    rows: list[dict[str, Any]] = run.result.get("estimates", [])
    if not rows:
        return ""
    named = [estimated(row) for row in rows]
    estimate, low, high = (
        [math.nan if row[key] is None else row[key] / scale for row, (_, _, scale) in zip(rows, named, strict=True)]
        for key in ("estimate", "low", "high")
    )
    metric = Column("Metric", [capital(name) + (f", {unit}" if unit else "") for name, unit, _ in named])
    columns = [metric, Column("Estimate", estimate, low, high), Column("Trials", [row["trials"] for row in rows])]
    return table(columns, "Estimates with their intervals.", label)


def _verdicts(run: LoadedRun, label: str) -> str:
    whole = run.verdicts
    if whole.empty:
        return ""
    alone = "Policies" if "set" not in set(whole["level"]) else ""
    parts = [
        ", ".join(filter(None, (alone or LEVELS[level], condition)))
        for level, condition in whole[["level", "condition"]].to_numpy()
    ]
    order = sorted(range(len(whole)), key=lambda i: list(dict.fromkeys(parts)).index(parts[i]))
    rows, parts = whole.iloc[order], [parts[i] for i in order]
    baselines, gain = rows["baseline"].unique(), "throughput_equivalent_percent"
    columns = [Column("Candidate", list(rows["candidate"]))]
    columns += [Column("Against", list(rows["baseline"]))] if len(baselines) > 1 else []
    columns += [Column("Utility", list(rows["utility"]))] if rows["utility"].nunique() > 1 else []
    columns += [
        Column("Difference", list(rows["difference"]), list(rows["low"]), list(rows["high"]), "bits", 3),
        Column("As throughput", list(rows[gain]), list(rows[f"{gain}_low"]), list(rows[f"{gain}_high"]), "%", 1),
        Column("Verdict", list(rows["verdict"])),
        Column("n", list(rows["n"])),
    ]
    against = f" from {baselines[0]}" if len(baselines) == 1 else ""
    sure = dict.fromkeys(
        f"{words} {coverage(own)}"
        for level, words in (("set", "signal sets"), ("policy", "policies"))
        if (own := [each for each in run.comparisons if each["level"] == level])
    )
    caption = (
        f"Differences of the mean score{against}, with their intervals ({'; '.join(sure)}), and as the change of "
        "throughput at equal delay, or of the inverse of what else is scored, that is worth as much. n: "
        "training seeds of sets, pairs of policies."
    )
    return table(columns, caption, label, parts)


def _costs(run: LoadedRun, label: str) -> str:
    rows = run.costs
    if rows.empty:
        return ""
    times = (Column(head, list(rows[key]), unit="s", digits=1) for key, head in (("cpu_s", "CPU"), ("wall_s", "Wall")))
    counted = (Column(key.capitalize(), list(rows[key])) for key in ("trials", "packets") if key in rows)
    return table([Column("Phase", list(rows["name"])), *times, *counted], "What the phases took.", label)


# --- numbers as commands


def commands(run: LoadedRun) -> str:
    r"""Return the numbers of a run as ``\newcommand``, so that a text takes them by name."""
    found: dict[str, str] = {}
    for name, value in _numbers(run):
        base = f"lcca{_letters(name)}"
        other = next(f"{base}{'x' * times}" for times in range(len(found) + 1) if f"{base}{'x' * times}" not in found)
        found[other] = value
    lines = [rf"\newcommand{{\{name}}}{{{value}}}" for name, value in found.items()]
    return PREAMBLE + "\n".join(lines) + "\n"


def _numbers(run: LoadedRun) -> Iterator[tuple[str, str]]:
    """Yield what a number is called, in words, and its value in LaTeX."""
    yield "version", escaped(str(run.manifest["version"]))
    yield "configuration", escaped(str(run.result.get("config_hash", "")))
    for key, name, scale in (("cpu_s", "CPU hours", 3600), ("trials", "trials", 1)):
        if key in run.costs:
            yield name, _num(run.costs[key].sum() / scale, 0 if key == "trials" else 2)
    records = run.verdicts.to_dict("records")
    varies = [key for key in ("level", "condition", "utility", "baseline") if len({row[key] for row in records}) > 1]
    for row in records:
        name = " ".join(
            [*(f"over {row[k]}" if k == "baseline" else str(row[k]) for k in varies), str(row["candidate"])]
        )
        for end in ("", "_low", "_high"):
            yield f"{name} difference{end}", _num(row[end[1:] or "difference"], 3)
            yield f"{name} percent{end}", _num(row[f"throughput_equivalent_percent{end}"], 2)
        yield f"{name} verdict", escaped(row["verdict"])
        yield f"{name} n", _num(row["n"], 0)
    if "score_bits" in run.policies:
        for row in run.policies.to_dict("records"):
            yield f"score {row['id']}", _num(row["score_bits"], 3)
    for each in run.result.get("estimates", []):
        name, _, unit = estimated(each)
        for key in ("estimate", "low", "high"):
            yield (
                f"{name} {key}",
                _num(None if each[key] is None else each[key] / unit, 3 if each["estimate"] >= unit else 6),
            )


def _num(value: float | None, digits: int) -> str:
    return "--" if value is None or not math.isfinite(value) else rf"\num{{{value:.{digits}f}}}"


def _letters(words: str) -> str:
    """Return words as one, each with a capital, and digits spelt out: names of commands are letters alone."""
    spelt = re.sub(r"\d", lambda digit: f" {DIGITS[int(digit[0])]} ", words)
    return "".join(word[:1].upper() + word[1:] for word in re.findall(r"[A-Za-z]+", spelt))
