"""The confidence sequence of each comparison against the number of pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lcca.evaluation.report.figures.labels import labels
from lcca.evaluation.report.figures.style import FAINT, INK, VERDICT_HUES, VERDICT_MARKERS, drawing, letters, panels

MOST_PANELS = 24


@dataclass(frozen=True, eq=False)
class Track:
    """What each look at one comparison saw: n pairs, and mean, low and high in bits (NaN if infinite)."""

    label: str
    margin: float
    verdict: str
    n: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def settling_data(comparisons: Sequence[dict[str, Any]]) -> list[Track]:
    """Return a track per comparison whose history was recorded, at most `MOST_PANELS`."""
    shown = [each for each in comparisons if each.get("history")][:MOST_PANELS]
    return [_track(each, label) for each, label in zip(shown, labels(shown), strict=True)]


def _track(comparison: dict[str, Any], label: str) -> Track:
    history = comparison["history"]
    n, mean, low, high = (
        np.array([look[key] for look in history], dtype=np.float64) for key in ("n", "mean", "low", "high")
    )
    return Track(label, comparison["margin"], comparison["verdict"], n, mean, low, high)


@drawing
def draw_settling(tracks: Sequence[Track]) -> Figure:
    """Draw one panel per comparison."""
    figure, axes = panels(len(tracks), 2.3, columns=2 if len(tracks) > 1 else 1)
    for ax, track in zip(axes, tracks, strict=True):
        _draw_track(ax, track)
    return figure


def _draw_track(ax: Axes, track: Track) -> None:
    hue = VERDICT_HUES[track.verdict]
    ax.axhspan(-track.margin, track.margin, color=FAINT, alpha=0.45, linewidth=0)
    ax.axhline(0, color=INK, linewidth=0.8)
    ax.fill_between(track.n, track.low, track.high, color=hue, alpha=0.25, linewidth=0)
    for end in (track.low, track.high):
        ax.plot(track.n, end, color=hue, linewidth=1)
    ax.plot(track.n, track.mean, color=hue)
    ax.plot(track.n[-1:], track.mean[-1:], marker=VERDICT_MARKERS[track.verdict], color=hue, markersize=7)
    if track.n.size == 1:  # one look is a line, not an area
        ax.vlines(track.n, track.low, track.high, color=hue, linewidth=2.2)
    ax.set_xlim(0, 1.06 * track.n[-1])
    ax.set_title(f"{track.label}: {track.verdict}", loc="left", fontsize=letters(9))
    ax.set_xlabel("pairs")
    ax.set_ylabel("difference, bits")
