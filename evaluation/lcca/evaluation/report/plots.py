"""The figures of a campaign one by one: those of its report, and what they show as tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from lcca.evaluation.report.sections.contents import SECTIONS
from lcca.evaluation.report.sections.section import Content, Maker
from lcca.evaluation.report.sections.which_header import PARETO_TITLE, pareto
from lcca.evaluation.trials.tables import RunTables

FIGURES: dict[str, tuple[str, Maker]] = {
    "pareto": (PARETO_TITLE, pareto),
    **{name: (title, make) for name, title, make in SECTIONS},
}
"""Title of every section, and what makes it, by the name of its figure."""


def makers(folder: Path) -> dict[str, tuple[str, Callable[[], Content | None]]]:
    """Return titles, and functions that draw, by the names that figures of campaigns have.

    A function returns None, or a content without figure, where the run lacks what the figure needs.

    Raises:
        InputError: the folder holds no finished campaign, or a file of it is damaged.
    """
    tables = RunTables.load(folder)
    return {name: (title, partial(make, tables)) for name, (title, make) in FIGURES.items()}
