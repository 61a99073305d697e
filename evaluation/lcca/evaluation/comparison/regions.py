"""Verdicts by region of the network space: few or many senders, short or long on-time, low or high load.

The unit is a test network on which both policies ran; differences are averaged over training seeds where
there are several. A region is half of the networks, cut at the median of one parameter, independent of the
results.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lcca.evaluation.settling.false_discovery import Sequential, sequential
from lcca.evaluation.settling.units import means_of

CUTS = (
    ("senders", "few senders", "many senders"),
    ("mean_on", "short on-time", "long on-time"),
    ("load", "low load", "high load"),
)
UNITS = {"senders": "", "load": " per packet/µs"}


@dataclass(frozen=True)
class Region:
    """Networks on one side of a cut, such as few senders, ≤ 8.

    Attributes:
        name: in words.
        parameter: of a network, or `load`.
        cut: in the parameter's unit.
        above: whether the region lies above the cut, or at and below it.
        unit: of the cut, with a space in front; may be empty.
    """

    name: str
    parameter: str
    cut: float
    above: bool
    unit: str

    @property
    def bound(self) -> str:
        """Return such as "≤ 8"."""
        return f"{'>' if self.above else '≤'} {self.cut:,.4g}{self.unit}"

    def of(self, networks: pd.DataFrame) -> frozenset[int]:
        """Return the numbers of those networks that lie in the region."""
        inside = (with_load(networks)[self.parameter] > self.cut) == self.above
        return frozenset(networks.loc[inside, "network"].tolist())


def with_load(networks: pd.DataFrame) -> pd.DataFrame:
    """Return the networks with their `load`: senders per packet/µs of link rate."""
    return networks.assign(load=networks["senders"] / networks["link_rate"]) if len(networks) else networks


def regions_of(networks: pd.DataFrame) -> list[Region]:
    """Return two regions for each parameter of `CUTS` that varies."""
    return [region for cut in CUTS for region in _halves(with_load(networks), *cut)] if len(networks) else []


def _halves(networks: pd.DataFrame, parameter: str, low: str, high: str) -> list[Region]:
    values = networks[parameter].to_numpy(dtype=np.float64)
    if np.ptp(values) == 0:
        return []
    cut = values[values <= np.median(values)].max()
    if cut == values.max():  # more than half of the networks have the largest value
        cut = values[values < cut].max()
    unit = UNITS.get(parameter, " packets" if (networks["switched"] == "bytes").all() else " µs")
    return [Region(low, parameter, float(cut), False, unit), Region(high, parameter, float(cut), True, unit)]


def inside(differences: pd.DataFrame, networks: frozenset[int], margin: float, block: int) -> Sequential:
    """Return what the differences on some networks say, by the blocks that these belong to."""
    rows = differences[differences["network"].isin(networks)]
    return sequential(means_of(rows["difference"], rows["network"], block), margin)
