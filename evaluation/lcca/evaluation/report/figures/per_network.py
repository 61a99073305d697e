"""Correlation of differences with each network parameter (paper Fig. 9).

Of two things: the paired difference itself, in bits, averaged per network over seeds and training seeds;
and, where networks have several seeds, the paper's significance s(score). Every correlation has
its 95 % interval, and the false-discovery rate is controlled over all of one figure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lcca.evaluation.comparison.correlation import Correlation, correlate
from lcca.evaluation.comparison.per_network import NetworkSignificance
from lcca.evaluation.comparison.regions import with_load
from lcca.evaluation.report.figures.style import INK, PAPER, drawing, legend_beside, mark_of, panels_by_utility
from lcca.evaluation.scenarios.networks import PARAMETERS
from lcca.evaluation.settling.false_discovery import LEVEL, q_values
from lcca.evaluation.trials.tables import RunTables

TRAITS = (*PARAMETERS, "load")


@dataclass(frozen=True)
class CorrelationRow:
    """Correlation of B − A, or of its s, with one parameter, over n networks.

    Attributes:
        comparison: its name.
        group: the candidate, as in the run's groups.
        utility: name.
        parameter: of the network, or `load`: senders per packet/µs.
        correlation: Pearson's.
        low: lower end of its 95 % interval, not adjusted for the number of rows.
        high: upper end.
        n: networks.
        q: p-value adjusted by Benjamini and Hochberg over all rows of the figure.
    """

    comparison: str
    group: str
    utility: str
    parameter: str
    correlation: float
    low: float
    high: float
    n: int
    q: float

    @property
    def found(self) -> bool:
        """Whether it is significant at the false-discovery rate."""
        return bool(self.q <= LEVEL)


@dataclass(frozen=True, eq=False)
class _Cloud:
    comparison: str
    group: str
    utility: str
    networks: pd.DataFrame
    values: NDArray[np.float64]


def correlation_data(tables: RunTables) -> list[CorrelationRow]:
    """Return a row per leading comparison and varying parameter, of the difference in bits."""
    clouds = []
    for each in tables.leading_comparisons:
        networks = tables.networks_of(each)
        if networks.empty:
            continue
        table = tables.differences(each).merge(networks, on="network")
        name, group = f"{each['B']} against {each['A']}", tables.group_named(each["B"])
        clouds.append(_Cloud(name, group, each["utility"], table, table["difference"].to_numpy(dtype=np.float64)))
    return _rows(clouds)


def significance_data(sections: Sequence[NetworkSignificance]) -> list[CorrelationRow]:
    """Return a row per comparison with the baseline and varying parameter, of s(score)."""
    clouds = []
    for section in sections:
        for pair in section.pairs if len(section.networks) else ():
            values = pd.DataFrame({"network": pair.table["network"], "s": pair.s("score_bits", section.error)})
            table = values.merge(section.networks, on="network")
            s = table["s"].to_numpy(dtype=np.float64)
            clouds.append(_Cloud(pair.name, pair.B, section.utility, table, s))
    return _rows(clouds)


def _rows(clouds: Sequence[_Cloud]) -> list[CorrelationRow]:
    found = [(cloud, name, _correlation(cloud, name)) for cloud in clouds for name in TRAITS]
    known = [(cloud, name, each) for cloud, name, each in found if each]
    adjusted = q_values([each.p for _, _, each in known])
    return [
        CorrelationRow(
            cloud.comparison, cloud.group, cloud.utility, name, each.r, each.low, each.high, each.n, float(q)
        )
        for (cloud, name, each), q in zip(known, adjusted, strict=True)
    ]


def _correlation(cloud: _Cloud, parameter: str) -> Correlation | None:
    values = with_load(cloud.networks)[parameter].to_numpy(dtype=np.float64)
    return correlate(values, cloud.values) if np.isfinite(values).all() else None


@drawing
def draw_correlations(rows: Sequence[CorrelationRow], groups: Sequence[str], of: str = "the difference") -> Figure:
    """Draw one panel per utility: for each parameter, the correlations side by side, filled if found."""
    compared = len({row.comparison for row in rows})
    parameters = [name for name in TRAITS if any(row.parameter == name for row in rows)]
    height = 1.0 + len(parameters) * (0.22 + 0.14 * compared)
    figure, by_utility = panels_by_utility(rows, height, columns=1)
    for ax, own in by_utility:
        _draw_utility(ax, own, parameters, groups)
        ax.set_xlabel(f"correlation with {of} (right: better where the parameter is larger)")
    return figure


def _draw_utility(ax: Axes, rows: Sequence[CorrelationRow], parameters: Sequence[str], groups: Sequence[str]) -> None:
    names = list(dict.fromkeys(row.comparison for row in rows))
    offsets = np.linspace(-0.3, 0.3, len(names)) if len(names) > 1 else [0.0]
    ax.axvline(0, color=INK, linewidth=0.8)
    for offset, name in zip(offsets, names, strict=True):
        own = [row for row in rows if row.comparison == name]
        mark = mark_of(own[0].group, groups) if own[0].group in groups else mark_of(name, names)
        y = [parameters.index(row.parameter) + offset for row in own]
        ax.hlines(y, [row.low for row in own], [row.high for row in own], color=mark.hue, linestyle=mark.dashes)
        look: Any = {"color": mark.hue, "marker": mark.marker, "markersize": 5, "linestyle": mark.dashes}
        ax.plot([], [], **look, label=name)
        for spot, row in zip(y, own, strict=True):
            ax.plot([row.correlation], [spot], **look, markerfacecolor=mark.hue if row.found else PAPER)
    ax.set_yticks(range(len(parameters)), parameters)
    ax.set_ylim(len(parameters) - 0.5, -0.5)
    ax.set_xlim(-1, 1)
    ax.grid(visible=False, axis="y")
    legend_beside(ax)
