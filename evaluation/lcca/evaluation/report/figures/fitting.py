"""Labels that have room: what is wider than its panel or leaves the figure goes on in another line."""

import textwrap
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import BboxBase

LINE = 1.3 / 72
"""Height of a line in inches, by the size of its letters in points."""

GAP = 6.0
"""Pixels between the numbers at ticks."""

STEPS = (1, 2, 2.5, 5, 10)
"""Of ticks, as matplotlib's own."""


def fit_labels(figure: Figure) -> bool:
    """Break labels of axes, and titles, that are longer than their panel, and make the figure higher by their lines.

    The figure must have been drawn once, so that all have their places.

    Returns:
        Whether there were any.
    """
    axes = [ax for ax in figure.axes if ax.get_visible()]
    more = [_fit(text, length, room) / _grid(ax)[1] for ax in axes for text, length, room in _labels(ax)]
    figure.set_figheight(figure.get_figheight() + sum(more))
    return any(more)


def fit_ticks(figure: Figure) -> bool:
    """Draw fewer ticks below panels where their numbers touch; the figure must have been drawn once.

    Returns:
        Whether there were any.
    """
    crowded = [(ax, most) for ax in figure.axes if ax.get_visible() and (most := _ticks_with_room(ax))]
    for ax, most in crowded:
        ax.xaxis.set_major_locator(MaxNLocator(most, steps=STEPS))
    return bool(crowded)


def _ticks_with_room(ax: Axes) -> int:
    """Return how many numbers have room below a panel; 0 if all have, or if they are not numbers."""
    if not isinstance(ax.xaxis.get_major_locator(), MaxNLocator):
        return 0
    boxes = [text.get_window_extent() for text in ax.get_xticklabels() if text.get_text()]
    shown = sorted((box.x0, box.x1) for box in boxes if box.width)
    if all(left[1] + GAP < right[0] for left, right in pairwise(shown)):
        return 0
    return max(int(ax.get_window_extent().width / (max(x1 - x0 for x0, x1 in shown) + 2 * GAP)), 2)


def _fit(text: Text, length: float, room: float) -> float:
    """Break a text that is longer than its room; return the inches that its new lines take."""
    if not length > room > 0:
        return 0.0
    before, whole = text.get_text(), len(max(text.get_text().split("\n"), key=len))
    letters = max(int(0.95 * whole * room / length), 8)  # not all letters are equally wide
    text.set_text("\n".join(textwrap.fill(line, letters) for line in before.split("\n")))
    return (text.get_text().count("\n") - before.count("\n")) * LINE * float(text.get_fontsize())


def _grid(ax: Axes) -> tuple[int, int]:
    """Return the rows and columns of the grid that a panel is in."""
    place = ax.get_subplotspec()
    return (1, 1) if place is None else (place.get_gridspec().nrows, place.get_gridspec().ncols)


def _labels(ax: Axes) -> list[tuple[Text, float, float]]:
    """Return the labels of a panel, and its titles, each with its length and its room in pixels."""
    whole, own = ax.figure.bbox, ax.get_window_extent()
    rows, columns = _grid(ax)
    wide = min(whole.width / columns, 2 * min(_middle(own) - whole.x0, whole.x1 - _middle(own)))
    found = [(ax.xaxis.label, ax.xaxis.label.get_window_extent().width, wide)]
    found.append((ax.yaxis.label, ax.yaxis.label.get_window_extent().height, whole.height / rows))
    room = float(whole.x1 - own.x0 if columns == 1 else min(own.width * 1.1, whole.x1 - own.x0))
    known = {ax.get_title(loc=loc) for loc in ("left", "center", "right")} - {""}
    titles = [each for each in ax.get_children() if isinstance(each, Text) and each.get_text() in known]
    return found + [(each, each.get_window_extent().width, room) for each in titles]


def _middle(box: BboxBase) -> float:
    return float(box.x0 + box.x1) / 2
