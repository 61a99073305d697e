"""Net benefit of headers against their bytes, with the Pareto front."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcca.evaluation.report.figures.style import (
    FAINT,
    INK,
    PAPER,
    VERDICT_HUES,
    VERDICT_MARKERS,
    drawing,
    is_narrow,
    letters,
    panels,
)

TICKS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class Point:
    """One header: bytes on a data packet, and its net benefit in bits with its interval (None where unknown)."""

    header: str
    utility: str
    wire_bytes: int
    net: float
    low: float | None
    high: float | None
    verdict: str
    on_front: bool
    margin: float


@drawing
def draw_pareto(points: Sequence[Point], baseline: str) -> Figure:
    """Draw one panel per utility: up is better, left is smaller."""
    utilities = list(dict.fromkeys(point.utility for point in points))
    figure, axes = panels(len(utilities), 3.9, columns=1)
    for ax, utility in zip(axes, utilities, strict=True):
        _draw(ax, [point for point in points if point.utility == utility], baseline)
        if len(utilities) > 1:
            ax.set_title(f"utility {utility}", loc="left")
    return figure


def _draw(ax: Axes, points: Sequence[Point], baseline: str) -> None:
    most = max(point.wire_bytes for point in points)
    ax.set_xscale("symlog", base=2, linthresh=1)
    ax.axhspan(-points[0].margin, points[0].margin, color=FAINT, alpha=0.45, linewidth=0)
    ax.axhline(0, color=INK, linewidth=0.8)
    _draw_front(ax, [point for point in points if point.on_front], most)
    ax.plot(0, 0, marker="D", color=INK, markersize=6)
    ax.annotate(baseline, (0, 0), xytext=(6, -12), textcoords="offset points", fontsize=letters(9))
    count: dict[int, int] = {}
    for point in sorted(points, key=lambda point: (point.wire_bytes, -point.net)):
        count[point.wire_bytes] = count.get(point.wire_bytes, 0) + 1
        _draw_point(ax, point, count[point.wire_bytes] - 1)
    ax.set_xlim(-0.35, 1.9 * max(most, 1))
    ax.set_xticks([tick for tick in TICKS if tick <= 1.9 * max(most, 1)])
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.minorticks_off()
    ax.set_xlabel("bytes that the header adds to a data packet")
    ax.set_ylabel(f"net benefit over {baseline}, bits")


def _draw_point(ax: Axes, point: Point, number: int) -> None:
    """Draw a header; headers of equal size side by side, their names one below the other."""
    x = point.wire_bytes * 1.07**number if point.wire_bytes else 0.12 * (number + 1)
    hue, marker = VERDICT_HUES[point.verdict], VERDICT_MARKERS[point.verdict]
    if point.low is not None and point.high is not None:
        ax.plot([x, x], [point.low, point.high], color=hue, linewidth=2, solid_capstyle="butt")
    face = PAPER if point.verdict == "not settled" else hue
    ax.plot(x, point.net, marker=marker, color=hue, markerfacecolor=face, markersize=7, linestyle="none")
    side: Literal[-1, 1] = -1 if is_narrow() and point.wire_bytes > 1 else 1
    ax.annotate(
        point.header,
        (x, point.net),
        xytext=(8 * side, 3 - 12 * number),
        textcoords="offset points",
        ha="right" if side < 0 else "left",
        fontsize=letters(8.5),
    )


def _draw_front(ax: Axes, front: Sequence[Point], most: int) -> None:
    """Draw the stairs of the front, from the baseline on."""
    xs, ys = [0.0], [0.0]
    for point in sorted(front, key=lambda point: point.wire_bytes):
        xs += [float(point.wire_bytes)] * 2
        ys += [ys[-1], point.net]
    ax.plot([*xs, 1.9 * max(most, 1)], [*ys, ys[-1]], color=INK, linewidth=1, linestyle="--", alpha=0.6)
