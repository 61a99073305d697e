"""Saving figures: the same bytes for the same data."""

import io
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from lcca.evaluation.report.figures.style import FAINT, INK, LOOK, PAPER
from lcca.inputs.files import write_atomically

NO_METADATA: Any = {"Date": None, "Creator": None, "Format": None, "Type": None}
_CANVASES: Any = {
    "pdf": (FigureCanvasPdf, {"CreationDate": None, "Creator": None, "Producer": None}),
    "png": (FigureCanvasAgg, {"Software": None}),
    "svg": (FigureCanvasSVG, NO_METADATA),
}


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write `name.png` and `name.svg` into a folder, on white."""
    (folder / f"{name}.svg").write_text(_svg(figure), encoding="utf-8")
    save_png(figure, folder, name)


def save_png(figure: Figure, folder: Path, name: str) -> None:
    """Write `name.png` into a folder, on white."""
    save_as(figure, folder / f"{name}.png")


def save_as(figure: Figure, file: Path, dpi: int = LOOK["savefig.dpi"]) -> None:
    """Write a figure on white as the file's ending says, one of `FORMATS`, to the same bytes for the same figure.

    Letters of a PDF are embedded as TrueType, those of an SVG are outlines: they look the same everywhere.

    Raises:
        InputError: the file cannot be written.
    """
    canvas, metadata = _CANVASES[file.suffix.removeprefix(".")]
    data = io.BytesIO()
    with mpl.rc_context(LOOK | {"svg.fonttype": "path"}):
        figure.patch.set_facecolor("white")
        figure.set_dpi(dpi)
        getattr(canvas(figure), f"print_{file.suffix.removeprefix('.')}")(data, metadata=metadata)
    write_atomically(file, data.getvalue())


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
