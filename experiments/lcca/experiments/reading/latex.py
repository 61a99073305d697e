"""The tables of a run as a paper prints them, and its numbers as commands: LaTeX with booktabs and siunitx."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from textwrap import wrap
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from lcca.evaluation.comparison.ranking import rank_words
from lcca.evaluation.report.words.headline import ESTIMATES, Json, estimated
from lcca.evaluation.report.words.results import costs_table, measured, standing
from lcca.evaluation.report.words.statements import MINUS, Number, capital, coverages, interval, with_interval
from lcca.evaluation.report.words.table import Columns, Table, flat
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.trials.loaded_run import LoadedRun, read_costs
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

NARROWER = r"  \footnotesize\setlength{\tabcolsep}{3pt}"

WIDEST_HEAD = 16
"""Letters in a line of the head of a column."""

LEVELS = {"set": "Signal sets, mean over trainings", "policy": "Selected policies"}
DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def _column(title: str, cells: Sequence[str], better: str) -> tuple[list[str], str, list[str]]:
    """Return the columns of the `tabular` that one takes, its head, and its cells, with an & where it takes two."""
    words = r" \\ ".join(map(escaped, wrap(title, WIDEST_HEAD, break_long_words=False)))
    head = rf"{{\shortstack{{{words}}}}}" if r" \\ " in words else f"{{{words}}}"
    ends = [cell.ends for cell in cells if isinstance(cell, Number)]
    if len(ends) < len(cells):
        return ["l"], head, [escaped(flat(cell)) for cell in cells]
    values, low, high = np.array(ends, dtype=np.float64).T
    below, above = values - low, high - values
    halves, known = (below + above) / 2, np.isfinite(below + above)
    if not halves[known].any():
        numbers = [cell.split(" ")[0].replace(",", "").replace(MINUS, "-").lstrip("+") for cell in cells]
        return [f"S[table-format={_format(numbers)}]"], head, _best(values, numbers, better)
    digits = _digits(halves[known])
    numbers = [f"{value:.{digits}f}" for value in values]
    if (np.abs(above - below)[known] <= 0.1 * halves[known] + 1e-12).all():
        errors = [round(half * 10**digits) if np.isfinite(half) else 0 for half in halves]
        places = max(len(str(error)) for error in errors)
        marked = [number + (f"({error})" if error else "") for number, error in zip(numbers, errors, strict=True)]
        return [f"S[table-format={_format(numbers)}({places})]"], head, _best(values, marked, better)
    brackets = [
        rf"[\num{{{low[i]:.{digits}f}}}, \num{{{high[i]:.{digits}f}}}]" if known[i] else "" for i in range(len(cells))
    ]
    double = [f"{cell} & {end}" for cell, end in zip(_best(values, numbers, better), brackets, strict=True)]
    return [f"S[table-format={_format(numbers)}]", "@{\\ }l"], rf"\multicolumn{{2}}{{c}}{head}", double


def _best(values: np.ndarray[Any, np.dtype[np.float64]], cells: Sequence[str], better: str) -> list[str]:
    """Return cells with the best in bold, and those that are unknown as text."""
    known = set(values[np.isfinite(values)])
    best = (max if better == "more" else min)(known) if better and len(known) > 1 else math.nan
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


def table(of: Table, label: str, better: Mapping[str, str] = MappingProxyType({}), parts: Sequence[str] = ()) -> str:
    """Return a `table` with caption and label.

    Args:
        of: what it shows.
        label: after ``tab:``.
        better: by the head of a column "more" or "less": its best number is bold.
        parts: of each row the part of the table that it belongs to, rows of a part together; each part has a heading.
    """
    cells_of = zip(*of.rows, strict=True)
    drawn = [_column(head, cells, better.get(head, "")) for head, cells in zip(of.head, cells_of, strict=True)]
    spec = [each for specs, _, _ in drawn for each in specs]
    rows = [" & ".join(cells) + r" \\" for cells in zip(*(cells for _, _, cells in drawn), strict=True)]
    left_out = f"% {len(rows) - MOST_ROWS} rows more are in its CSV" if len(rows) > MOST_ROWS else ""
    body: list[str] = []
    for i, row in enumerate(rows[:MOST_ROWS]):
        if len(set(parts)) > 1 and (i == 0 or parts[i] != parts[i - 1]):
            heading = rf"\multicolumn{{{len(spec)}}}{{l}}{{\emph{{{escaped(parts[i])}}}}} \\"
            body += [*([r"\addlinespace"] if i else []), heading]
        body.append(row)
    lines = [
        *(r"\begin{table}", r"  \centering", f"  \\caption{{{escaped(of.caption)}}}", f"  \\label{{tab:{label}}}"),
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
    better = {capital(each.head): each.better for each in metrics}
    rows = [row | row.get("trained", {}) for row in run.result["policies"]]
    over_seeds = "training_seed" in whole and whole["training_seed"].nunique() > 1
    keys = ["candidate" if over_seeds else "id"]
    keys += [key for key in ("condition", "network", "utility") if key in whole and whole[key].nunique() > 1]
    caption = "Means over trials, with their intervals." + " Ranks are simultaneous." * ("best_rank" in whole)
    if over_seeds:
        rows = [_over_seeds(group, keys, metrics) for _, group in whole.groupby(keys, sort=False, dropna=False)]
        caption = "Means over training seeds, with 95 % intervals."
    columns: Columns = {
        **{capital("policy" if key == "id" else key): key for key in keys},
        **({"Rank": lambda row: rank_words(standing(row))} if "best_rank" in whole else {}),
        **{capital(each.head): partial(measured, metric=each) for each in metrics},
        **({"Seeds": ("seeds", 0)} if over_seeds else {"Trials": ("trials", 0)} if "trials" in whole else {}),
    }
    apart = whole["id"].duplicated().any()  # the best of several conditions is no answer
    return table(Table.of(caption, rows, columns), label, {} if apart else better)


def _over_seeds(trainings: pd.DataFrame, keys: Iterable[str], metrics: Iterable[Metric]) -> Json:
    """Return the record of trainings that differ in their seeds."""
    ends = ("mean", "low", "high")
    found: Json = {each.name: dict(zip(ends, t_interval(trainings[each.name]), strict=True)) for each in metrics}
    return found | {key: trainings[key].iloc[0] for key in keys} | {"seeds": trainings["training_seed"].nunique()}


def _estimates(run: LoadedRun, label: str) -> str:
    rows: list[Json] = run.result.get("estimates", [])
    return table(Table.of("Estimates with their intervals.", rows, ESTIMATES), label) if rows else ""


def _verdicts(run: LoadedRun, label: str) -> str:
    whole = run.verdicts
    if whole.empty:
        return ""
    baselines, gain = whole["baseline"].unique(), "throughput_equivalent_percent"
    alone = "Policies" if "set" not in set(whole["level"]) else ""
    parts: dict[str, list[Any]] = {}
    for row in whole.to_dict("records"):
        parts.setdefault(", ".join(filter(None, (alone or LEVELS[row["level"]], row["condition"]))), []).append(row)
    columns: Columns = {
        "Candidate": "candidate",
        **({"Against": "baseline"} if len(baselines) > 1 else {}),
        **({"Utility": "utility"} if whole["utility"].nunique() > 1 else {}),
        "Difference, bits": with_interval,
        "As throughput, %": lambda row: interval(row[gain], row[f"{gain}_low"], row[f"{gain}_high"], "{:.1f}"),
        **{"Verdict": "verdict", "n": ("n", 0)},
    }
    against = f" from {baselines[0]}" if len(baselines) == 1 else ""
    caption = (
        f"Differences of the mean score{against}, with their intervals ({coverages(run.comparisons)}), and as the "
        "change of throughput at equal delay, or of the inverse of what else is scored, that is worth as much. n: "
        "training seeds of sets, pairs of policies."
    )
    found = Table.of(caption, chain(*parts.values()), columns)
    return table(found, label, parts=[part for part, rows in parts.items() for _ in rows])


def _costs(run: LoadedRun, label: str) -> str:
    phases = (read_costs(run.path) or {}).get("phases")
    return table(replace(costs_table(phases), caption="What the phases took."), label) if phases else ""


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
