"""The figure of runs over time: a panel for each measure and for each parameter that anybody changed."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from lcca.evaluation.fabric.figures.series import MEASURES
from lcca.evaluation.report.figures.style import drawing, letters, mark, new_figure

COLUMNS = 3
LARGE = EngFormatter(sep="")


@drawing
def draw_series(tables: Sequence[pd.DataFrame], title: str) -> Figure:
    """Draw runs over time.

    Args:
        tables: of the transports, as `series` returns them.
        title: of the figure: the scenario and the seed.
    """
    panels = {**MEASURES, **{name: name for name in changed(tables)}}
    rows = -(-len(panels) // COLUMNS)
    figure = new_figure(2.0 * rows + 0.3 + 0.2 * -(-len(tables) // COLUMNS), width=9.0)
    axes = list(figure.subplots(rows, COLUMNS, sharex=True, squeeze=False).ravel())
    for ax, (name, words) in zip(axes, panels.items(), strict=False):
        _draw_panel(ax, tables, name)
        ax.set_title(words, loc="left", fontsize=letters(9))
    for ax in axes[len(panels) - COLUMNS : len(panels)]:
        ax.set_xlabel("time, ms")
        ax.tick_params(labelbottom=True)
    for unused in axes[len(panels) :]:
        unused.set_visible(False)
    names = [str(each["policy"].iloc[0]) if len(each) else "" for each in tables]
    figure.legend(axes[0].get_lines(), names, loc="outside lower center", ncols=COLUMNS, title=title)
    return figure


def changed(tables: Sequence[pd.DataFrame]) -> list[str]:
    """Return the parameters that changed during a run, in their order."""
    found = [
        name
        for each in tables
        for name in each.columns
        if name not in ("policy", "time_us", *MEASURES) and each[name].nunique(dropna=False) > 1
    ]
    return list(dict.fromkeys(found))


def _draw_panel(ax: Axes, tables: Sequence[pd.DataFrame], name: str) -> None:
    for number, each in enumerate(tables):
        values = each[name] if name in each else pd.Series(float("nan"), index=each.index)
        look = mark(number)
        ax.plot(
            *(each["time_us"] / 1000, values), color=look.hue, linestyle=look.dashes, linewidth=1, drawstyle="steps-pre"
        )
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.4g}" if abs(value) < 1000 else LARGE(value))
    ax.yaxis.set_major_locator(MaxNLocator(4))
