"""A section of the report: whose results it shows, a plain answer, a figure with its caption, tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.tables import RunTables

SELECTED = (
    "This section is about selected policies: for each signal set, the policy of the training with the best validation "
    "score. All of them run on the same test networks."
)
TRAININGS = (
    "Values are means over all trainings of a signal set. Each training is tested on the test networks of its training "
    "seed."
)
BOTH = (
    "Values of a signal set are means over all its trainings. The selected policy of a signal set is that of the "
    "training with the best validation score."
)
REPEATED = (
    "This section is about selected policies: for each signal set, the policy of the training with the best validation "
    "score. Each network is run with several seeds."
)
REPEATED_TOO = f"{REPEATED} The last table is about all trainings."
"""Whose results a section shows. What holds of one need not hold of another."""


@dataclass(frozen=True)
class Content:
    """What a section shows.

    Attributes:
        caption: what the figure shows, with units and n; or why there is none.
        figure: what was drawn, or None.
        answer: one plain sentence that comes first, or nothing.
        tables: what comes below.
        population: a sentence on the policies that the section is about, or nothing.
        data: what the figure shows; None where there is none.
        unfolded: whether tables are shown at once.
    """

    caption: str
    figure: Figure | None = None
    answer: str = ""
    tables: tuple[Table, ...] = ()
    population: str = ""
    data: pd.DataFrame | None = None
    unfolded: bool = False


Maker = Callable[[RunTables], Content | None]
"""Returns the content of a section, or None if a run has no such section."""


@dataclass(frozen=True)
class Section:
    """A section as the page has it: its name, its title, its content, and its figure as SVG if it has one."""

    name: str
    title: str
    content: Content
    svg: str | None = None


def data_table(rows: Iterable[Any]) -> pd.DataFrame:
    """Return what a figure shows as a table, to be written beside it.

    Args:
        rows: mappings, or instances of dataclasses. Records in them become columns of their own, and tuples numbered
            columns.
    """
    return pd.DataFrame([_flat(row if isinstance(row, Mapping) else asdict(row)) for row in rows])


def _flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{prefix}{key}_")
        elif isinstance(value, list | tuple):
            found |= {f"{prefix}{key}_{number}": each for number, each in enumerate(value, 1)}
        else:
            found[f"{prefix}{key}"] = value
    return found
