"""A section of the report: a plain answer, a figure with its caption, tables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from lcca.evaluation.trials.tables import RunTables


@dataclass(frozen=True)
class Table:
    """A table of text under a caption; the first `left` columns are set to the left."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1


@dataclass(frozen=True)
class Content:
    """What a section shows.

    Attributes:
        caption: what the figure shows, with units and n; or why there is none.
        figure: what was drawn, or None.
        answer: one plain sentence that comes first, or nothing.
        tables: what comes below.
    """

    caption: str
    figure: Figure | None = None
    answer: str = ""
    tables: tuple[Table, ...] = ()


Maker = Callable[[RunTables], Content | None]
"""Returns the content of a section, or None if a run has no such section."""


@dataclass(frozen=True)
class Plate:
    """A section as the page has it: its name, its title, and its SVG, or None with the reason as caption."""

    name: str
    title: str
    caption: str
    svg: str | None = None
    answer: str = ""
    tables: tuple[Table, ...] = ()
