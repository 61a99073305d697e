"""Learning curves: the training score of every training against the packets simulated."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lcca.evaluation.report.figures.style import drawing, mark_of, panels_by_utility
from lcca.evaluation.trials.tables import RunTables


@dataclass(frozen=True, eq=False)
class Curve:
    """One training.

    Attributes:
        utility: name.
        group: signal set.
        training_seed: its seed.
        packets: simulated up to each step.
        score: training score after each step, bits.
    """

    utility: str
    group: str
    training_seed: int
    packets: NDArray[np.float64]
    score: NDArray[np.float64]


def learning_data(tables: RunTables) -> list[Curve]:
    """Return a curve per training, by utility and in the order of the signal sets."""
    if "signal_set" not in tables.learning:
        return []
    order = {name: i for i, name in enumerate(tables.groups)}
    curves = []
    by_training = tables.learning.groupby(["utility", "signal_set", "training_seed"])
    for (utility, group, seed), whole in by_training:
        steps = whole.sort_values("step", kind="stable")
        packets = steps["packets"].to_numpy(dtype=np.float64)
        score = steps["score_bits"].to_numpy(dtype=np.float64)
        curves.append(Curve(str(utility), str(group), int(str(seed)), packets, score))
    return sorted(curves, key=lambda curve: (curve.utility, order.get(curve.group, len(order))))


@drawing
def draw_learning(curves: Sequence[Curve], groups: Sequence[str]) -> Figure:
    """Draw one panel per utility; the colour is the signal set, a line is a training seed."""
    figure, by_utility = panels_by_utility(curves, 3.2)
    for ax, own in by_utility:
        _draw_utility(ax, own, groups)
    return figure


def _draw_utility(ax: Axes, curves: Sequence[Curve], groups: Sequence[str]) -> None:
    labelled: set[str] = set()
    for curve in curves:
        label = None if curve.group in labelled else curve.group
        labelled.add(curve.group)
        mark, x = mark_of(curve.group, groups), curve.packets / 1e6
        look: Any = {"color": mark.hue, "linestyle": mark.dashes, "marker": mark.marker, "markersize": 4}
        ax.plot(x, curve.score, **look, drawstyle="steps-post", markevery=[-1], alpha=0.85, label=label)
    scores = np.concatenate([curve.score for curve in curves])
    floor = float(np.nanpercentile(scores, 5))
    top = float(np.nanmax(scores))
    pad = max(0.1 * (top - floor), 0.02)
    ax.set_ylim(floor - pad, top + pad)
    ax.set_xlim(left=0)
    ax.set_xlabel("packets simulated in training, millions")
    ax.set_ylabel("training score, bits")
    ax.legend(loc="lower right")
