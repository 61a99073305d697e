"""Score over the number of rules: a line per signal set or header."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from lcca.evaluation.report.figures.style import drawing, mark_of, panels

Json = dict[str, Any]


@drawing
def draw_capacity(rows: Sequence[Json], groups: Sequence[str]) -> Figure:
    """Draw one panel per utility; bars are one standard deviation between training seeds."""
    utilities = list(dict.fromkeys(row["utility"] for row in rows))
    figure, axes = panels(len(utilities), 3.4, columns=1)
    for ax, utility in zip(axes, utilities, strict=True):
        for name in dict.fromkeys(row["name"] for row in rows):
            own = [row for row in rows if (row["name"], row["utility"]) == (name, utility)]
            x, y = [row["rules"] for row in own], [row["score_bits"] for row in own]
            spread, mark = [row["score_bits_sd"] or 0.0 for row in own], mark_of(name, groups)
            look: Any = {"color": mark.hue, "marker": mark.marker, "linestyle": mark.dashes}
            ax.errorbar(x, y, spread, **look, markersize=4, linewidth=1.4, label=name)
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.set_xlabel("rules")
        ax.set_ylabel("score, bits")
        ax.legend()
        if len(utilities) > 1:
            ax.set_title(f"utility {utility}", loc="left")
    return figure
