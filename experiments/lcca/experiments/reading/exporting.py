"""The tables of a run as files for other programs: CSV, Parquet, and LaTeX with booktabs."""

from __future__ import annotations

import io
from collections.abc import Callable
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd

from lcca.evaluation.trials.loaded_run import TABLES, LoadedRun
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, NETWORK_TRIALS, shown
from lcca.inputs.errors import InputError
from lcca.inputs.files import write_atomically

MOST_ROWS = 200
"""Of a table in LaTeX."""

METRICS = "metrics"
"""Stands for those that a campaign's table of policies shows."""

IN_LATEX = {
    "policies": (
        *("id", "candidate", "condition", "utility", "training_seed", "rules", "score_bits", "score_bits_se"),
        *("score_bits_low", "score_bits_high", METRICS),
        *("best_rank", "worst_rank", "ties", "trials", "training_trials"),
    ),
    "estimates": ("metric", "quantile", "duration_us", "estimate", "low", "high", "trials"),
    "verdicts": (
        *("phase", "condition", "level", "B", "A", "utility", "difference", "low", "high"),
        *("throughput_equivalent_percent", "verdict", "n"),
    ),
    "costs": ("name", "cpu_s", "wall_s", "trials", "packets"),
}
"""Tables that a paper may have, and their columns: those that a run has of them."""


def export_tables(run: LoadedRun, folder: Path, form: str) -> list[Path]:
    """Write the tables that a run has into a folder, which is made; return the files.

    Args:
        run: whose tables.
        folder: where they go, named after the tables; files of these names are replaced.
        form: a key of `FORMS`. LaTeX has `IN_LATEX` only.

    Raises:
        InputError: the run has no table yet, or a file cannot be written.
    """
    ending, write = FORMS[form]
    tables = {name: getattr(run, name) for name in (IN_LATEX if form == "latex" else TABLES)}
    tables = {name: table for name, table in tables.items() if len(table)}
    if not tables:
        raise InputError(f"{run.path}: nothing to export yet; the run is {run.manifest['state']}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from None
    files = {name: folder / f"{name}.{ending}" for name in tables}
    for name, table in tables.items():
        write_atomically(files[name], write(_columns(name, table) if form == "latex" else table))
    return list(files.values())


def _columns(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that a paper may show, without those that are the same word or nothing in all rows."""
    metrics = [*shown(NETWORK_TRIALS, "campaign"), *shown(FABRIC_TRIALS, "campaign")]
    measured = {each.name: table[each.name] / each.scale for each in metrics if each.name in table}
    wanted = [column for part in IN_LATEX[name] for column in (measured if part == METRICS else [part])]
    found = table.assign(**measured)[[column for column in wanted if column in table]]
    found = found.dropna(axis="columns", how="all")
    dull = [c for c in found if c in ("phase", "condition", "utility", "level") and found[c].nunique() == 1]
    heads = {each.name: each.head for each in metrics}
    return found.drop(columns=dull).rename(columns=heads)


def csv(table: pd.DataFrame) -> bytes:
    """Return a table as CSV; floats read back exactly."""
    return table.to_csv(index=False, lineterminator="\n").encode()


def _parquet(table: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False)
    return buffer.getvalue()


def latex(table: pd.DataFrame) -> bytes:
    """Return a table as a `tabular` with the rules of booktabs; its first `MOST_ROWS` rows."""
    cut = table.head(MOST_ROWS)
    numbers = cut.select_dtypes("number").columns
    style = cut.rename(columns=_head).style.hide(axis="index").format(_cell, na_rep="--")
    columns = "".join("r" if name in numbers else "l" for name in cut)
    left_out = f"% {len(table) - len(cut)} rows more: export --csv has them\n" if len(table) > len(cut) else ""
    return f"% \\usepackage{{booktabs}}\n{left_out}{style.to_latex(hrules=True, column_format=columns)}".encode()


def _head(name: str) -> str:
    return name.replace("_", " ")


def _cell(value: object) -> str:
    """Return a value in LaTeX: numbers in math mode, so that a minus is one, text with its special letters escaped."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if not isinstance(value, Real):
        return "".join(_ESCAPED.get(letter, letter) for letter in str(value))
    number = float(value)
    digits = 0 if number.is_integer() or abs(number) >= 1000 else 3
    return f"${number:.{digits}f}$"


_ESCAPED = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "µ": r"\textmu{}",
}

FORMS: dict[str, tuple[str, Callable[[pd.DataFrame], bytes]]] = {
    "csv": ("csv", csv),
    "parquet": ("parquet", _parquet),
    "latex": ("tex", latex),
}
"""How a table is written: the ending of its file, and its bytes."""
