"""The common style of all figures, and saving them: the same bytes for the same data.

Figures are drawn in three neutral colours that an inlined SVG replaces by those of the page, so that
they follow a dark theme; the others have enough contrast on light and dark.
"""

import io
import re
from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

P = ParamSpec("P")

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
