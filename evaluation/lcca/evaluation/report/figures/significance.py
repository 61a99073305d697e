"""Distribution of the significance s(p) over networks (paper Figs. 5, 6): a step curve per candidate."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lcca.evaluation.comparison.per_network import LESS_IS_BETTER, METRICS, NetworkSignificance
from lcca.evaluation.report.figures.style import FAINT, INK, drawing, legend_below, mark_of, panels

NARROWEST, WIDEST = 2.5, 8.0  # reach of the axis; values beyond it are drawn at its end


def ecdf(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (values in order, share of values up to each); infinite values count, NaNs do not."""
    known = np.sort(values[~np.isnan(values)])
    return known, np.arange(1, known.size + 1) / max(known.size, 1)


@drawing
def draw_significance(sections: Sequence[NetworkSignificance], groups: Sequence[str]) -> Figure:
    """Draw one row of panels per utility: score, throughput, delay."""
    figure, axes = panels(len(METRICS) * len(sections), 2.6, columns=len(METRICS), sharey=True)
    for i, section in enumerate(sections):
        row = axes[len(METRICS) * i : len(METRICS) * (i + 1)]
        for ax, metric in zip(row, METRICS, strict=True):
            _draw_panel(ax, section, metric, groups)
        row[0].set_ylabel("share of networks")
        row[0].set_title(f"utility {section.utility}", loc="left")
    legend_below(figure, axes[0], 4)
    return figure


def _draw_panel(ax: Axes, section: NetworkSignificance, metric: str, groups: Sequence[str]) -> None:
    curves = [(pair, *ecdf(pair.s(metric, section.error))) for pair in section.pairs]
    reach = _reach([s for _, s, _ in curves])
    ax.axvspan(-1, 1, color=FAINT, alpha=0.45, linewidth=0)
    ax.axvline(0, color=INK, linewidth=0.8)
    for pair, s, share in curves:
        x = np.concatenate([[-reach], np.clip(s, -reach, reach), [reach]])
        y = np.concatenate([[0], share, share[-1:] if share.size else [0]])
        mark = mark_of(pair.B, groups)
        ax.plot(x, y, drawstyle="steps-post", color=mark.hue, linestyle=mark.dashes, label=pair.name)
    ax.set_xlim(-reach, reach)
    ax.set_yticks((0, 0.25, 0.5, 0.75, 1))
    ax.set_ylim(0, 1)
    name = f"s({METRICS[metric]})"
    ax.set_xlabel(f"better ← {name}" if metric in LESS_IS_BETTER else f"{name} → better")


def _reach(curves: Sequence[NDArray[np.float64]]) -> float:
    sizes = np.abs(np.concatenate([s[np.isfinite(s)] for s in curves]))
    return float(np.clip(1.05 * sizes.max(), NARROWEST, WIDEST)) if sizes.size else NARROWEST
