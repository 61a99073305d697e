"""The common style of all figures, and saving them: the same bytes for the same data.

Figures are drawn in three neutral colours that an inlined SVG replaces by those of the page, so that
they follow a dark theme; the others have enough contrast on light and dark.
"""

import io
import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

P = ParamSpec("P")


class OfUtility(Protocol):
    """A row of a figure that has a panel for every utility."""

    @property
    def utility(self) -> str:
        """Its name."""


R = TypeVar("R", bound=OfUtility)

INK = "#232d38"  # text, axes: becomes the colour of the page's text
FAINT = "#cbd2da"  # grid, bands' edges: becomes the page's faint colour
PAPER = "#fdfdfe"  # inside of hollow markers: becomes the colour of the card
HUES = ("#7b8794", "#2f86cf", "#e08a1e", "#1a9e78", "#c25fa3", "#dd5a3a", "#8a6fd1", "#48b2c9", "#a08a2c")
VERDICT_HUES = {"better": "#1a9e78", "worse": "#dd5a3a", "equivalent": "#2f86cf", "not settled": "#7b8794"}
VERDICT_MARKERS = {"better": "^", "worse": "v", "equivalent": "s", "not settled": "o"}
WIDTH = 6.6  # inches

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
    "svg.fonttype": "none",
    "svg.hashsalt": "lcca",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": INK,
    "xtick.labelsize": 9,
    "ytick.color": INK,
    "ytick.labelsize": 9,
}


def drawing(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Decorate a function that draws, so that it uses the project's style."""

    @wraps(draw)
    def in_look(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with mpl.rc_context(LOOK):
            figure = draw(*args, **kwargs)
            figure.draw_without_rendering()
            figure.set_layout_engine("none")  # laid out once, not again for every file
            return figure

    return in_look


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """Return an empty figure (inches) that belongs to no window."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def panels(count: int, height: float, columns: int, **kwargs: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure with `count` panels in rows of at most `columns`, `height` inches a row."""
    columns = min(columns, max(count, 1))
    rows = max(-(-count // columns), 1)
    figure = new_figure(height * rows)
    grid = figure.subplots(rows, columns, squeeze=False, **kwargs).ravel()
    for unused in grid[count:]:
        unused.set_visible(False)
    return figure, list(grid[:count])


def panels_by_utility(rows: Sequence[R], height: float, columns: int = 2) -> tuple[Figure, list[tuple[Axes, list[R]]]]:
    """Return a figure with a panel for every utility, under its name, and the rows that belong there."""
    utilities = list(dict.fromkeys(row.utility for row in rows))
    figure, axes = panels(len(utilities), height, columns)
    for ax, utility in zip(axes, utilities, strict=True):
        ax.set_title(f"utility {utility}", loc="left")
    return figure, [(ax, [r for r in rows if r.utility == u]) for ax, u in zip(axes, utilities, strict=True)]


def draw_means(ax: Axes, rows: Sequence[Any], groups: Sequence[str], floor: float = -math.inf) -> None:
    """Draw the mean of every row (◆) with its interval, from `floor` up, and small dots for several policies."""
    for x, row in enumerate(rows):
        hue = hue_of(row.group, groups)
        if math.isfinite(row.low):
            ax.plot([x, x], [max(row.low, floor), row.high], color=hue, linewidth=2.4, solid_capstyle="butt")
        spots = np.linspace(-0.22, 0.22, len(row.policies)) if len(row.policies) > 1 else np.array([])
        ax.scatter(x + spots, row.policies[: spots.size], s=14, color=hue, alpha=0.55, linewidths=0)
        ax.plot([x], [row.mean], marker="D", color=hue, markersize=7)
    ax.set_xticks(range(len(rows)), [row.group for row in rows])
    if max(len(row.group) for row in rows) * len(rows) > 40:
        ax.tick_params(axis="x", rotation=30)
    ax.set_xlim(-0.6, len(rows) - 0.4)
    ax.grid(visible=False, axis="x")


def hue_of(name: str, names: Sequence[str]) -> str:
    """Return the colour of a name among all names; the first, the baseline, is grey."""
    return HUES[names.index(name) % len(HUES)] if name in names else HUES[0]


NO_METADATA: Any = {"Date": None, "Creator": None, "Format": None, "Type": None}


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write `name.png` and `name.svg` into a folder, on white."""
    (folder / f"{name}.svg").write_text(_svg(figure), encoding="utf-8")
    save_png(figure, folder, name)


def save_png(figure: Figure, folder: Path, name: str) -> None:
    """Write `name.png` into a folder, on white."""
    with mpl.rc_context(LOOK):
        figure.patch.set_facecolor("white")
        figure.set_dpi(LOOK["savefig.dpi"])
        FigureCanvasAgg(figure).print_png(str(folder / f"{name}.png"), metadata={"Software": None})  # type: ignore[no-untyped-call]


@lru_cache(maxsize=1)
def _svg(figure: Figure) -> str:
    """Return the figure as SVG, on white. Printing it directly takes half the drawing of `savefig`."""
    text = io.StringIO()
    with mpl.rc_context(LOOK):
        figure.patch.set_facecolor("white")
        FigureCanvasSVG(figure).print_svg(text, metadata=NO_METADATA)  # type: ignore[no-untyped-call]
    return text.getvalue()


def inline_svg(figure: Figure, name: str, label: str) -> str:
    """Return the figure as an `<svg>` element for a page.

    It uses the page's font and colours, has no outside references, and its ids start with `name`.

    Args:
        figure: what was drawn.
        name: of the figure, letters and hyphens.
        label: text for screen readers, already escaped for an attribute.
    """
    svg = _svg(figure)
    svg = re.sub(r'<g id="patch_1">.*?</g>', "", svg, count=1, flags=re.DOTALL)  # the white background
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = svg.replace("xlink:href", "href").replace(INK, "currentColor").replace(FAINT, "var(--faint)")
    svg = svg.replace(PAPER, "var(--card)")
    svg = re.sub(r"'DejaVu Sans'[^;\"]*", "system-ui, sans-serif", svg)
    box = re.search(r'viewBox="[^"]*"', svg)
    opening = f'<svg class="figure" {box.group() if box else ""} role="img" aria-label="{label}">'
    return opening + svg[svg.index(">") + 1 :].strip()
