"""`lcca plot`: the figures of a run, as files for a paper, with what they show as CSV."""

from __future__ import annotations

import argparse
import re
from dataclasses import KW_ONLY
from pathlib import Path
from typing import TYPE_CHECKING

from lcca.cli.options.common import print_answer
from lcca.evaluation.report.figures import FORMATS, NARROW
from lcca.inputs.errors import InputError
from lcca.inputs.numbers import real_or_nan
from lcca.inputs.options import argument, frozen, option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lcca.evaluation.report.plots import Plot

EXAMPLES = """\
  lcca plot results/quickstart/0123456789ab --figure list
  lcca plot results/quickstart/0123456789ab --figure forest --format pdf --width 3.33in
  lcca plot results/quickstart/0123456789ab --figure all --format svg --width 178mm --out figures"""

INCHES = {"in": 1.0, "mm": 1 / 25.4, "cm": 1 / 2.54, "pt": 1 / 72.27}
"""A unit of lengths in inches; a point is TeX's, as in \\\\the\\\\columnwidth."""

DPI = 300


def inches(text: str) -> float:
    """Parse a width with its unit."""
    found = re.fullmatch(r"(\d{1,4}(?:\.\d{1,6})?)(in|mm|cm|pt)", text, re.ASCII)
    width = float(found[1]) * INCHES[found[2]] if found else 0
    if not 1 <= width <= 40:
        raise InputError(f"{text[:40]}: must be a width with its unit, from 1in to 40in, as in 3.33in or 85mm")
    return width


def _letters(text: str) -> float:
    size = real_or_nan(text)
    if not 3 <= size <= 30:
        raise InputError(f"{text[:40]}: must be a size of 3 to 30 points")
    return size


@frozen
class Figures:
    run_folder: Path = argument("a run's folder", name="RUN")
    _: KW_ONLY
    figure: str = argument(
        "of the figure; `list` names them, `all` draws them; on a fabric also of the first trial rates:3,17 (ids of "
        "flows), series:100 (µs) and, of training jobs, steps",
        metavar="NAME",
    )
    format: str = option("of the file (default: pdf)", "pdf", choices=FORMATS)
    width: float = option("of the figure, as in 3.33in, 85mm, 8.5cm or 241pt (default: 6.6in)", 6.6, read=inches)
    letters: float | None = option(
        f"size of letters in points (default: 8, below {NARROW:g}in 7)", metavar="PT", read=_letters
    )
    out: Path = option("folder of the files (default: here)", Path())


def run(verb: Figures, options: argparse.Namespace) -> int:
    from lcca.evaluation.report.figures.style import Page
    from lcca.evaluation.report.plots import plot, plots
    from lcca.evaluation.trials.loaded_run import LoadedRun
    from lcca.experiments.reading.fabric_runs import FabricRun, fabric_plots

    page = Page(verb.width, verb.letters or (8 if verb.width >= NARROW else 7))
    if (fabric := FabricRun.of(LoadedRun(verb.run_folder))) is not None:
        found: Iterable[Plot] = fabric_plots(fabric, verb.figure, page)
    elif verb.figure in ("all", "list"):
        found = plots(verb.run_folder, page)
    else:
        found = [plot(verb.run_folder, verb.figure, page)]
    if verb.figure == "list":
        titles = {each.name: each.title for each in found}
        words = [f"{name:26}{title}" for name, title in titles.items()] or "this run has no figures"
        return print_answer(options, {"figures": titles}, words)
    files = [file for each in found for file in _write(verb, each)]
    if not files:
        raise InputError(f"{verb.run_folder}: this run has no figures")
    return print_answer(options, {"files": [str(file) for file in files]}, (f"wrote {file}" for file in files))


def _write(verb: Figures, plot: Plot) -> list[Path]:
    """Write a figure, and beside it what it shows."""
    from lcca.evaluation.report.figures.saving import save_as
    from lcca.experiments.reading.exporting import csv
    from lcca.inputs.files import write_atomically

    try:
        verb.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{verb.out}: cannot be made: {error.strerror}") from None
    figure, data = (verb.out / f"{plot.name}.{ending}" for ending in (verb.format, "csv"))
    save_as(plot.figure, figure, DPI)
    write_atomically(data, csv(plot.data))
    return [figure, data]
