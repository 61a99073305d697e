"""A ranking as a forest plot: every policy's mean score with its interval, best on top, tie groups beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from lcca.evaluation.comparison.ranking import TOO_FEW_TO_RANK, Standing, rank_words
from lcca.evaluation.report.figures.style import HUES, INK, drawing, letters, new_figure


@drawing
def draw_ranking(standings: Sequence[Standing], title: str) -> Figure:
    """Draw the ranking.

    Args:
        standings: best first.
        title: of the figure: the utility, and where the scores come from.
    """
    figure = new_figure(1.3 + 0.34 * len(standings))
    ax = figure.subplots()
    for y, each in enumerate(standings):
        hue = HUES[1 + (ord(each.ties[:1] or "a") - ord("a")) % (len(HUES) - 1)]
        if math.isfinite(each.low):
            ax.plot([each.low, each.high], [y, y], color=hue, linewidth=2.2, solid_capstyle="butt")
        ax.plot([each.score_bits], [y], marker="o", color=hue, markersize=6.5)
        ax.annotate(
            f"{each.ties}   rank {rank_words(each)}" if each.best_rank else TOO_FEW_TO_RANK,
            (1.01, y),
            xycoords=("axes fraction", "data"),
            va="center",
            color=INK,
            fontsize=letters(9),
        )
    ax.set_yticks(range(len(standings)), [each.policy for each in standings])
    ax.set_ylim(len(standings) - 0.4, -0.6)
    ax.grid(visible=False, axis="y")
    ax.set_title(title, loc="left")
    ax.set_xlabel("score, bits; a letter in common: not distinguished, or not by more than the margin")
    return figure
