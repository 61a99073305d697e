"""The common style of all figures: colours, markers and dashes, sizes, panels.

Figures are drawn in three neutral colours that an inlined SVG replaces by those of the page, so that they follow a dark
theme; the others have enough contrast on light and dark, and stay apart where somebody sees no red, green or blue. What
a legend names differs by marker or dashes too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lcca.evaluation.report.figures import NARROW
from lcca.evaluation.report.figures.fitting import fit_labels, fit_ticks

P = ParamSpec("P")

INK = "#232d38"  # text, axes: becomes the colour of the page's text
FAINT = "#cbd2da"  # grid, bands' edges: becomes the page's faint colour
PAPER = "#fdfdfe"  # inside of hollow markers: becomes the colour of the card
HUES = ("#7b8794", "#2f86cf", "#e08a1e", "#8418fc", "#9c5400", "#006c90", "#cc6054", "#3ca8fc", "#c00c6c")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (4, 1.2, 1, 1.2)),
    (0, (2, 1)),
    (0, (8, 1.5, 2, 1.5)),
    (0, (4, 1, 1, 1, 1, 1)),
    (0, (8, 2)),
    (0, (3, 3)),
    (0, (6, 1, 3, 1)),
)
VERDICT_HUES = {"better": "#1a9e78", "worse": "#dd5a3a", "equivalent": "#2f86cf", "not settled": "#7b8794"}
VERDICT_MARKERS = {"better": "^", "worse": "v", "equivalent": "s", "not settled": "o"}
WIDTH = 6.6  # inches
LETTERS = 10.0  # points


@dataclass(frozen=True)
class Page:
    """What a figure is drawn for: its width in inches, and the size of its letters in points."""

    width: float = WIDTH
    letters: float = LETTERS


REPORT = Page()
_PAGE: ContextVar[Page] = ContextVar("page", default=REPORT)


@contextmanager
def drawn_for(page: Page) -> Iterator[None]:
    """Draw all figures meanwhile for another page than the report's."""
    token = _PAGE.set(page)
    try:
        yield
    finally:
        _PAGE.reset(token)


def letters(size: float) -> float:
    """Return a size of letters on this page that is so many points in the report."""
    return size * _PAGE.get().letters / LETTERS


LOOK: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "figure.facecolor": "none",
    "figure.constrained_layout.use": True,
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.6,
    "savefig.dpi": 160,
    "pdf.fonttype": 42,  # letters as TrueType, embedded
    "svg.fonttype": "none",
    "svg.hashsalt": "lcca",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": INK,
    "xtick.labelsize": 9,
    "ytick.color": INK,
    "ytick.labelsize": 9,
}

LETTER_SIZES = ("axes.titlesize", "font.size", "legend.fontsize", "xtick.labelsize", "ytick.labelsize")

PASSES = 3


def drawing(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Decorate a function that draws, so that it uses the project's style and all labels have room."""

    @wraps(draw)
    def in_look(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with mpl.rc_context(LOOK | {name: letters(LOOK[name]) for name in LETTER_SIZES}):
            figure = draw(*args, **kwargs)
            _keep_letters(figure)
            _lay_out(figure)
            figure.set_layout_engine("none")  # laid out once, not again for every file
            return figure

    return in_look


def _keep_letters(figure: Figure) -> None:
    """Set the size of numbers at ticks: else files would be drawn with other ticks than were laid out."""
    for ax in (each for own in figure.axes for each in (own, *own.child_axes)):
        for axis, size in ((ax.xaxis, "xtick.labelsize"), (ax.yaxis, "ytick.labelsize")):
            if "labelsize" not in axis.get_tick_params():
                axis.set_tick_params(labelsize=mpl.rcParams[size])


def _lay_out(figure: Figure) -> None:
    """Draw until nothing moves: labels take other lines, and panels that shrank other ticks."""
    figure.draw_without_rendering()
    moves = any([fit_labels(figure), fit_ticks(figure), len(figure.axes) > 1])
    for _ in range(PASSES if moves else 0):
        before = [ax.get_position().bounds for ax in figure.axes]
        figure.draw_without_rendering()
        if np.allclose(before, [ax.get_position().bounds for ax in figure.axes], atol=1e-3):
            return


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """Return an empty figure that belongs to no window; its size in inches is that in the report, else the page's."""
    page = _PAGE.get()
    figure = Figure(figsize=(width * page.width / WIDTH, letters(height)))
    FigureCanvasAgg(figure)
    return figure


def panels(count: int, height: float, columns: int, **kwargs: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure with `count` panels, `height` inches each, in at most `columns`, fewer on a narrow page."""
    columns = max(int(columns * min(_PAGE.get().width / WIDTH, 1)), 1)
    columns = min(columns, max(count, 1))
    rows = max(-(-count // columns), 1)
    figure = new_figure(height * rows)
    grid = figure.subplots(rows, columns, squeeze=False, **kwargs).ravel()
    for unused in grid[count:]:
        unused.set_visible(False)
    return figure, list(grid[:count])


def panels_by_utility(utilities: Iterable[str], height: float, columns: int = 2) -> tuple[Figure, dict[str, Axes]]:
    """Return a figure with a panel for every utility that occurs, under its name."""
    names = list(dict.fromkeys(utilities))
    figure, axes = panels(len(names), height, columns)
    for ax, name in zip(axes, names, strict=True):
        ax.set_title(f"utility {name}", loc="left")
    return figure, dict(zip(names, axes, strict=True))


def panel_of(row: Mapping[str, Any]) -> str:
    """Return the panel of `panels_by_utility` for a record: its utility, with its trainer where there are several."""
    return ", ".join(str(row[key]) for key in ("utility", "trainer") if key in row)


@dataclass(frozen=True)
class Mark:
    """How something that a legend names is drawn: its colour, and marker and dashes that do without it."""

    hue: str
    marker: str
    dashes: Any


def mark(number: int) -> Mark:
    """Return the mark of the first (0), the second, …; from the tenth on they come again."""
    return Mark(*(each[number % len(each)] for each in (HUES, MARKERS, DASHES)))


def mark_of(name: str, names: Sequence[str]) -> Mark:
    """Return the mark of a name among all names; the first, the baseline, is grey."""
    return mark(names.index(name) if name in names else 0)


def hue_of(name: str, names: Sequence[str]) -> str:
    """Return the colour of a name among all names; the first, the baseline, is grey."""
    return mark_of(name, names).hue


def is_narrow() -> bool:
    """Tell whether the page is a column."""
    return _PAGE.get().width < NARROW


def legend_below(figure: Figure, ax: Axes, columns: int, **how: Any) -> None:
    """Put what a panel names below all panels, in so many columns at most."""
    handles, names = ax.get_legend_handles_labels()
    columns = 1 if is_narrow() else min(len(names), columns)
    figure.legend(handles, names, loc="outside lower center", ncols=columns, **how)
