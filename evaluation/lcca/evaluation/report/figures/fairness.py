"""Unfairness by signal set: the paper's Fig. 18, with 95 % intervals."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from lcca.evaluation.comparison.fairness import FairnessRow
from lcca.evaluation.report.figures.style import draw_means, drawing, panels_by_utility


@drawing
def draw_fairness(rows: Sequence[FairnessRow]) -> Figure:
    """Draw one panel per utility; small dots are single trainings."""
    groups = list(dict.fromkeys(row.group for row in rows))
    figure, by_utility = panels_by_utility(rows, 2.9)
    for ax, own in by_utility:
        draw_means(ax, own, groups, floor=0)
        ax.set_ylim(bottom=0)
        ax.set_ylabel("unfairness (0 is fair)")
    return figure
