"""`lcca plot`: the figures of a run, as files for a paper, with what they show as CSV."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from lcca.cli.options.common import print_answer
from lcca.evaluation.report.figures import FORMATS, NARROW
from lcca.inputs.errors import InputError
from lcca.inputs.numbers import real_or_nan

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


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("run_folder", type=Path, metavar="RUN", help="a run's folder")
    parser.add_argument(
        "--figure",
        required=True,
        metavar="NAME",
        help="of the figure; `list` names them, `all` draws them; on a fabric also of the first trial "
        "rates:3,17 (ids of flows) and series:100 (µs)",
    )
    parser.add_argument("--format", choices=FORMATS, default="pdf", help="of the file (default: pdf)")
    parser.add_argument(
        "--width", type=inches, default=6.6, help="of the figure, as in 3.33in, 85mm, 8.5cm or 241pt (default: 6.6in)"
    )
    parser.add_argument(
        "--letters", type=_letters, metavar="PT", help=f"size of letters in points (default: 8, below {NARROW:g}in 7)"
    )
    parser.add_argument("--out", type=Path, default=Path(), help="folder of the files (default: here)")
    parser.set_defaults(run=run)


def inches(text: str) -> float:
    """Parse a width with its unit."""
    found = re.fullmatch(r"(\d{1,4}(?:\.\d{1,6})?)(in|mm|cm|pt)", text, re.ASCII)
    width = float(found[1]) * INCHES[found[2]] if found else 0
    if not 1 <= width <= 40:
        raise argparse.ArgumentTypeError(
            f"{text[:40]}: must be a width with its unit, from 1in to 40in, as in 3.33in or 85mm"
        )
    return width


def _letters(text: str) -> float:
    size = real_or_nan(text)
    if not 3 <= size <= 30:
        raise argparse.ArgumentTypeError(f"{text[:40]}: must be a size of 3 to 30 points")
    return size


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from lcca.evaluation.report.figures.style import Page
    from lcca.evaluation.report.plots import plot, plots
    from lcca.evaluation.trials.loaded_run import LoadedRun
    from lcca.experiments.reading.fabric_runs import FabricRun, fabric_plots

    page = Page(options.width, options.letters or (8 if options.width >= NARROW else 7))
    if (fabric := FabricRun.of(LoadedRun(options.run_folder))) is not None:
        found: Iterable[Plot] = fabric_plots(fabric, options.figure, page)
    elif options.figure in ("all", "list"):
        found = plots(options.run_folder, page)
    else:
        found = [plot(options.run_folder, options.figure, page)]
    if options.figure == "list":
        titles = {each.name: each.title for each in found}
        words = [f"{name:26}{title}" for name, title in titles.items()] or "this run has no figures"
        return print_answer(options, {"figures": titles}, words)
    files = [file for each in found for file in _write(options, each)]
    if not files:
        raise InputError(f"{options.run_folder}: this run has no figures")
    return print_answer(options, {"files": [str(file) for file in files]}, (f"wrote {file}" for file in files))


def _write(options: argparse.Namespace, plot: Plot) -> list[Path]:
    """Write a figure, and beside it what it shows."""
    from lcca.evaluation.report.figures.saving import save_as
    from lcca.experiments.reading.exporting import csv
    from lcca.inputs.files import write_atomically

    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{options.out}: cannot be made: {error.strerror}") from None
    figure, data = (options.out / f"{plot.name}.{ending}" for ending in (options.format, "csv"))
    save_as(plot.figure, figure, DPI)
    write_atomically(data, csv(plot.data))
    return [figure, data]
