"""Maps of worth: heat maps over two parameters, and effect curves over each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from lcca.evaluation.report.figures.style import FAINT, INK, PAPER, VERDICT_HUES, drawing, letters, panels
from lcca.studies.maps.report.words import name

Json = Mapping[str, Any]

WORTH = LinearSegmentedColormap.from_list("worth", [VERDICT_HUES["worse"], PAPER, VERDICT_HUES["better"]])


@drawing
def draw_heat_maps(maps: Sequence[Json], over: Sequence[Json]) -> Figure:
    """Draw a panel per map over its two parameters: the difference in per cent, with a dot where it is not settled."""
    figure, axes = panels(len(maps), 2.9, 2)
    for ax, each in zip(axes, maps, strict=True):
        table = each["points"]
        sides = [sorted({row[axis["name"]] for row in table}) for axis in over]
        grid = np.array([row["percent"] for row in table]).reshape(*map(len, sides))
        most = max(float(np.abs(grid).max()), 0.1)
        shown = ax.pcolormesh(*sides, grid.T, cmap=WORTH, norm=TwoSlopeNorm(0, -most, most), shading="nearest")
        open_ = [[row[axis["name"]] for row in table if row["verdict"] == "not settled"] for axis in over]
        ax.plot(*open_, linestyle="", marker=".", markersize=letters(2.5), color=INK)
        ax.set(xlabel=_label(over[0]), ylabel=_label(over[1]))
        _scale(ax, "x", over[0])
        _scale(ax, "y", over[1])
        ax.grid(visible=False)
        ax.set_title(name(each), loc="left")
        bar = figure.colorbar(shown, ax=ax, label="%")
        if bar.solids is not None:
            bar.solids.set_rasterized(False)  # a page has no images inside of figures
    return figure


@drawing
def draw_effects(maps: Sequence[Json], over: Sequence[Json]) -> Figure:
    """Draw a panel per map and parameter: the mean difference by its value, with the band of the whole map."""
    figure, axes = panels(len(maps) * len(over), 2.4, len(over) if len(over) < 3 else 2)
    for number, ax in enumerate(axes):
        each, axis = maps[number // len(over)], over[number % len(over)]
        rows = [row for row in each["curves"] if row["parameter"] == axis["name"]]
        _draw_effect(ax, rows, axis)
        ax.set_title(name(each), loc="left")
    return figure


def _draw_effect(ax: Axes, rows: Sequence[Json], axis: Json) -> None:
    x = [(row["from"] + row["to"]) / 2 for row in rows]
    low, mean, high = ([row[key] for row in rows] for key in ("percent_low", "percent", "percent_high"))
    ax.axhline(0, color=INK, linewidth=0.7)
    ax.fill_between(x, low, high, color=FAINT, linewidth=0)
    ax.plot(x, mean, color=INK)
    for row, at in zip(rows, x, strict=True):
        ax.plot([at], [row["percent"]], marker="o", markersize=letters(4), color=VERDICT_HUES[row["verdict"]])
    ax.set(xlabel=_label(axis), ylabel="difference, %")
    _scale(ax, "x", axis)


def _label(axis: Json) -> str:
    return f"{axis['name']}, {axis['unit']}" if axis["unit"] else str(axis["name"])


def _scale(ax: Axes, side: str, axis: Json) -> None:
    if axis["logarithmic"]:
        (ax.set_xscale if side == "x" else ax.set_yscale)("log", base=2)
        getattr(ax, f"{side}axis").set_major_formatter(StrMethodFormatter("{x:,g}"))
