"""How single trials are spread, per policy and number of trials: violins as in CCEval's Fig. 3.

The shape is the density of the trials' values (Hintze & Nelson 1998). CCEval's bars are standard deviations, which say
nothing of how well the mean is known; here they are 95 % Student's t intervals of the mean.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from lcca.evaluation.report.figures.style import HUES, INK, drawing, letters, new_figure
from lcca.evaluation.settling.intervals import t_interval

MOST_COUNTS = 4
"""Violins of one policy in the figure of an estimate."""


@dataclass(frozen=True, eq=False)
class Violin:
    """The first trials of one policy.

    Attributes:
        policy: its name.
        trials: how many trials.
        values: a value per trial, in the metric's unit.
        mean: of them.
        low: lower end of the 95 % Student's t interval of the mean; NaN with one trial.
        high: upper end.
    """

    policy: str
    trials: int
    values: NDArray[np.float64]
    mean: float
    low: float
    high: float


def violin_data(values: Mapping[str, ArrayLike], counts: Sequence[int]) -> list[Violin]:
    """Return a violin per number of trials and policy: of its first so many trials, as far as it has them.

    Args:
        values: per policy, a value for each trial, in the order in which they were run.
        counts: numbers of trials.
    """
    found = []
    for count in counts:
        for policy, whole in values.items():
            first = np.asarray(whole, dtype=np.float64)[:count]
            found.append(Violin(policy, first.size, first, *t_interval(first)))
    return found


def trial_counts(trials: int, first: int) -> list[int]:
    """Return the numbers of trials to show: from the first look to all of them, by equal factors."""
    if trials <= first:
        return [trials]
    several = min(MOST_COUNTS, 2 + int(np.log2(trials / first) / 2))
    return sorted({round(n) for n in np.geomspace(first, trials, several)})


@drawing
def draw_violins(
    violins: Sequence[Violin], ylabel: str, title: str = "", line: tuple[str, float] | None = None, note: str = ""
) -> Figure:
    """Draw violins side by side; the bar is the interval of the mean.

    Args:
        violins: in the order in which they stand.
        ylabel: the metric and its unit.
        title: above all.
        line: a level to draw across, with its name.
        note: small print below, which goes wherever the figure goes.
    """
    figure = new_figure(3.6 + 0.17 * note.count("\n"))
    ax = figure.subplots()
    policies = list(dict.fromkeys(each.policy for each in violins))
    for at, each in enumerate(violins):
        _draw_violin(ax, at, each, HUES[(1 + policies.index(each.policy)) % len(HUES)])
    if line is not None:
        ax.axhline(line[1], color=INK, linewidth=0.9, linestyle="--", label=line[0])
        ax.legend()
    ax.set_xticks(range(len(violins)), [f"{each.policy}\n({each.trials:,})" for each in violins])
    ax.set_xlim(-0.6, len(violins) - 0.4)
    ax.grid(visible=False, axis="x")
    ax.set_ylabel(ylabel)
    ax.set_title(title, loc="left")
    ax.set_xlabel(note, fontsize=letters(8), loc="left")
    return figure


def _draw_violin(ax: Axes, at: int, violin: Violin, hue: str) -> None:
    if violin.trials > 1 and np.ptp(violin.values) > 0:  # a density needs a spread
        parts: Any = ax.violinplot([violin.values], positions=[at], widths=0.8, showextrema=False)
        for shape in parts["bodies"]:
            shape.set(facecolor=hue, edgecolor=hue, alpha=0.45)
    if np.isfinite(violin.low):
        ax.plot([at, at], [violin.low, violin.high], color=INK, linewidth=2.4, solid_capstyle="butt")
    ax.plot([at], [violin.mean], marker="D", color=hue, markeredgecolor=INK, markersize=6)
