"""Share of networks where a candidate is significantly better or worse (paper Figs. 8, 10)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcca.evaluation.comparison.per_network import METRICS, NetworkPair, NetworkSignificance, Share
from lcca.evaluation.report.figures.style import INK, drawing, hue_of, panels_by_utility
from lcca.evaluation.trials.utility import Utility

OUTPUTS = ("throughput_share", "delay_us")


@dataclass(frozen=True)
class ShareRow:
    """One metric of one comparison: networks where B is significantly better than A, and worse.

    `role` is "primary" for the metric with the larger weight in the utility, "secondary" for the other,
    and empty where they weigh the same or the weights are not known.
    """

    comparison: str
    group: str
    utility: str
    metric: str
    role: str
    better: Share
    worse: Share


def share_data(
    sections: Sequence[NetworkSignificance], weights: Mapping[str, Utility], rivals: bool = False
) -> list[ShareRow]:
    """Return rows for score, throughput and delay: candidates against the baseline, or against each other."""
    rows = []
    for section in sections:
        for pair in section.rivals if rivals else section.pairs:
            rows += [_row(section, pair, metric, weights.get(section.utility)) for metric in METRICS]
    return rows


def _row(section: NetworkSignificance, pair: NetworkPair, metric: str, utility: Utility | None) -> ShareRow:
    better, worse = (pair.share(metric, side, section.error) for side in (True, False))
    return ShareRow(pair.name, pair.B, section.utility, metric, _role(metric, utility), better, worse)


def _role(metric: str, utility: Utility | None) -> str:
    if metric not in OUTPUTS or utility is None or not utility.emphasis:
        return ""
    return "primary" if metric == utility.emphasis else "secondary"


@drawing
def draw_shares(rows: Sequence[ShareRow], groups: Sequence[str]) -> Figure:
    """Draw one panel per utility: bars to the right where B is better, to the left where it is worse."""
    most = max(Counter(row.utility for row in rows).values())
    figure, by_utility = panels_by_utility(rows, 0.95 + 0.21 * most, columns=1)
    ends = [end for row in rows for end in (row.better.high, row.worse.high) if np.isfinite(end)]
    reach = min(max([*ends, 5.0]) * 1.05, 100)
    for ax, own in by_utility:
        _draw_utility(ax, own, groups)
        ax.set_xlim(-reach, reach)
    return figure


def _draw_utility(ax: Axes, rows: Sequence[ShareRow], groups: Sequence[str]) -> None:
    names = list(dict.fromkeys(row.comparison for row in rows))
    places = [0.45 * names.index(row.comparison) + y for y, row in enumerate(rows)]
    for y, row in zip(places, rows, strict=True):
        hue = hue_of(row.group, groups) if row.group in groups else hue_of(row.comparison, names)
        for side, share in ((1, row.better), (-1, row.worse)):
            ax.barh([y], [side * share.percent], 0.78, color=hue, alpha=0.9 if side > 0 else 0.45, linewidth=0)
            ax.plot([side * share.low, side * share.high], [y, y], color=INK, linewidth=0.9)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_yticks(places, [_tick(row) for row in rows])
    ax.set_ylim(places[-1] + 0.6, -0.6)
    ax.grid(visible=False, axis="y")
    ax.xaxis.set_major_formatter(lambda x, _: f"{abs(x):g}")
    ax.set_xlabel("% of networks (left: significantly worse, right: better)")


def _tick(row: ShareRow) -> str:
    metric = METRICS[row.metric] + (f" ({row.role})" if row.role else "")
    return f"{row.comparison}: {metric}" if row.metric == next(iter(METRICS)) else metric
