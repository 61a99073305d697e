"""Share of networks where a candidate is significantly better or worse (paper Fig. 8)."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcca.evaluation.comparison.per_network import NetworkShares
from lcca.evaluation.report.figures.style import INK, drawing, hue_of, panels_by_utility
from lcca.evaluation.trials.metrics import NETWORK_TRIALS, SCORE


@drawing
def draw_shares(rows: Sequence[NetworkShares], groups: Sequence[str]) -> Figure:
    """Draw one panel per utility: bars to the right where B is better, to the left where it is worse."""
    most = max(Counter(row.utility for row in rows).values())
    figure, by_utility = panels_by_utility(rows, 0.95 + 0.21 * most, columns=1)
    ends = [end for row in rows for end in (row.better.high, row.worse.high) if np.isfinite(end)]
    reach = min(max([*ends, 5.0]) * 1.05, 100)
    for ax, own in by_utility:
        _draw_utility(ax, own, groups)
        ax.set_xlim(-reach, reach)
    return figure


def _draw_utility(ax: Axes, rows: Sequence[NetworkShares], groups: Sequence[str]) -> None:
    names = list(dict.fromkeys(row.name for row in rows))
    places = [0.45 * names.index(row.name) + y for y, row in enumerate(rows)]
    for y, row in zip(places, rows, strict=True):
        hue = hue_of(row.B, groups) if row.B in groups else hue_of(row.name, names)
        for side, share in ((1, row.better), (-1, row.worse)):
            ax.barh([y], [side * share.percent], 0.78, color=hue, alpha=0.9 if side > 0 else 0.45, linewidth=0)
            ax.plot([side * share.low, side * share.high], [y, y], color=INK, linewidth=0.9)
    ax.axvline(0, color=INK, linewidth=0.8)
    labels = {row: NETWORK_TRIALS[row.metric].label for row in rows}
    ax.set_yticks(places, [(f"{row.name}: " if row.metric == SCORE.name else "") + labels[row] for row in rows])
    ax.set_ylim(places[-1] + 0.6, -0.6)
    ax.grid(visible=False, axis="y")
    ax.xaxis.set_major_formatter(lambda x, _: f"{abs(x):g}")
    ax.set_xlabel("% of networks (left: significantly worse, right: better)")
