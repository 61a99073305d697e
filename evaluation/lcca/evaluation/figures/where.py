"""Where a signal helps: correlation of the paired difference with each network parameter (paper Fig. 9).

The paper correlates its significance s(p); here it is the difference itself, in bits, averaged per
network over seeds (and training seeds), and every correlation comes with its 95 % interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from lcca.evaluation.figures.style import INK, drawing, hue_of, panels
from lcca.evaluation.networks import PARAMETERS
from lcca.evaluation.tables import RunTables

FEWEST_NETWORKS = 5
Z95 = 1.959964  # standard normal quantile


@dataclass(frozen=True)
class WhereRow:
    """Pearson's correlation of the difference B − A with one parameter, over n networks."""

    comparison: str
    group: str
    utility: str
    parameter: str
    correlation: float
    low: float
    high: float
    n: int


def fisher_interval(x: ArrayLike, y: ArrayLike) -> tuple[float, float, float]:
    """Return (correlation, low, high) with a 95 % interval by Fisher's transformation."""
    r = float(np.corrcoef(np.asarray(x), np.asarray(y))[0, 1])
    z, reach = math.atanh(min(max(r, -1 + 1e-12), 1 - 1e-12)), Z95 / math.sqrt(np.size(x) - 3)
    return r, math.tanh(z - reach), math.tanh(z + reach)


def where_data(tables: RunTables) -> list[WhereRow]:
    """Return a row per comparison and varying parameter; signal sets if there are any, else policies."""
    levels = {each["level"] for each in tables.comparisons}
    wanted = "set" if "set" in levels else "artifact"
    rows = [_rows(tables, each) for each in tables.comparisons if each["level"] == wanted]
    return [row for some in rows for row in some]


def _rows(tables: RunTables, comparison: dict[str, Any]) -> list[WhereRow]:
    differences = tables.differences(comparison)
    if tables.networks.empty or len(differences) < FEWEST_NETWORKS:
        return []
    table = differences.merge(tables.networks, on="network")
    rows = []
    for parameter in PARAMETERS:
        values = table[parameter].to_numpy(dtype=np.float64)
        if not np.isfinite(values).all() or np.ptp(values) == 0 or np.ptp(table["difference"]) == 0:
            continue
        r, low, high = fisher_interval(values, table["difference"])
        name = f"{comparison['B']} against {comparison['A']}"
        rows.append(WhereRow(name, comparison["B"], comparison["utility"], parameter, r, low, high, len(table)))
    return rows


@drawing
def draw_where(rows: Sequence[WhereRow], groups: Sequence[str]) -> Figure:
    """Draw one panel per utility: for each parameter, the correlations side by side."""
    utilities = list(dict.fromkeys(row.utility for row in rows))
    compared = len({row.comparison for row in rows})
    parameters = [name for name in PARAMETERS if any(row.parameter == name for row in rows)]
    height = 1.0 + len(parameters) * (0.22 + 0.14 * compared)
    figure, axes = panels(len(utilities), height, columns=1)
    for ax, utility in zip(axes, utilities, strict=True):
        _draw_utility(ax, utility, [row for row in rows if row.utility == utility], parameters, groups)
    return figure


def _draw_utility(
    ax: Axes, utility: str, rows: Sequence[WhereRow], parameters: Sequence[str], groups: Sequence[str]
) -> None:
    names = list(dict.fromkeys(row.comparison for row in rows))
    offsets = np.linspace(-0.3, 0.3, len(names)) if len(names) > 1 else [0.0]
    ax.axvline(0, color=INK, linewidth=0.8)
    for offset, name in zip(offsets, names, strict=True):
        own = [row for row in rows if row.comparison == name]
        hue = hue_of(own[0].group, groups) if own[0].group in groups else hue_of(name, names)
        y = [parameters.index(row.parameter) + offset for row in own]
        ax.hlines(y, [row.low for row in own], [row.high for row in own], color=hue, linewidth=1.8)
        spots = [row.correlation for row in own]
        ax.plot(spots, y, marker="o", markersize=4.5, linestyle="none", color=hue, label=name)
    ax.set_yticks(range(len(parameters)), parameters)
    ax.set_ylim(len(parameters) - 0.5, -0.5)
    ax.set_xlim(-1, 1)
    ax.grid(visible=False, axis="y")
    ax.set_xlabel("correlation with the difference (right: better where the parameter is larger)")
    ax.set_title(f"utility {utility}", loc="left")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
