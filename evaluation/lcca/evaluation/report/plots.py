"""The figures of a run one by one: those of its report, drawn for a paper, and what they show as tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from lcca.evaluation.report.figures.style import Page, drawn_for
from lcca.evaluation.report.sections.contents import sections
from lcca.evaluation.report.sections.section import Maker
from lcca.evaluation.report.sections.which_header import PARETO_TITLE, pareto
from lcca.evaluation.trials.tables import RunTables
from lcca.inputs.errors import InputError, did_you_mean

FIGURES: dict[str, tuple[str, Maker]] = {
    "pareto": (PARETO_TITLE, pareto),
    **{name: (title, make) for name, title, make in sections()},
}
"""Title of every section, and what makes it, by the name of its figure."""


@dataclass(frozen=True, eq=False)
class Plot:
    """A figure.

    Attributes:
        name: in the run.
        title: what it shows, in words.
        figure: as drawn.
        data: what it shows.
    """

    name: str
    title: str
    figure: Figure
    data: pd.DataFrame


def plot(folder: Path, name: str, page: Page) -> Plot:
    """Draw one figure of a run.

    Args:
        folder: of the run.
        name: of the figure.
        page: what it is drawn for.

    Raises:
        InputError: there is no such figure, the run is not finished, or a file of it is damaged.
    """
    tables = RunTables.load(folder)
    if name not in FIGURES:
        there = f"a run may have {', '.join(FIGURES)}"
        raise InputError(f"{folder}: no figure {name}{did_you_mean(name, FIGURES)}; {there}")
    drawn = _drawn(tables, name, page)
    if drawn is None:
        raise InputError(f"{folder}: no figure {name}: the run lacks what it shows; --figure list names those it has")
    return drawn


def plots(folder: Path, page: Page) -> Iterator[Plot]:
    """Draw the figures of a run one after another.

    Raises:
        InputError: the run is not finished, or a file of it is damaged.
    """
    tables = RunTables.load(folder)
    return (drawn for name in FIGURES if (drawn := _drawn(tables, name, page)) is not None)


def _drawn(tables: RunTables, name: str, page: Page) -> Plot | None:
    title, make = FIGURES[name]
    with drawn_for(page):
        content = make(tables)
    if content is None or content.figure is None:
        return None
    return Plot(name, title, content.figure, pd.DataFrame() if content.data is None else content.data)
