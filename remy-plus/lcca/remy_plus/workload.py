"""Open-loop traffic: flows of a Poisson process, each a sender of its own until its last packet has arrived."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lcca.inputs.errors import InputError


@dataclass(frozen=True)
class FlowSizes:
    """A distribution of flow sizes: cumulative probabilities at sizes in packets, linear between the points.

    A flow has its size rounded up to whole packets, at least one.

    Raises:
        InputError: points that fall, or probabilities that do not go from 0 to 1.
    """

    name: str
    packets: tuple[float, ...]
    cumulative: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check the table."""
        sizes, shares = np.array(self.packets), np.array(self.cumulative)
        if len(sizes) != len(shares) or len(sizes) < 2:
            raise InputError(f"flow sizes {self.name}: needs two or more points, as many sizes as probabilities")
        if not (np.diff(sizes) >= 0).all() or not (np.diff(shares) >= 0).all():
            raise InputError(f"flow sizes {self.name}: sizes and probabilities must not fall")
        if not 0 <= sizes[0] <= sizes[-1] < 1e12:
            raise InputError(f"flow sizes {self.name}: sizes are from 0 to below 1e12 packets")
        if shares[0] != 0 or shares[-1] != 1:
            raise InputError(f"flow sizes {self.name}: probabilities must go from 0 to 1")

    @cached_property
    def mean_packets(self) -> float:
        """Mean size of a flow in whole packets."""
        sizes, shares = np.array(self.packets), np.array(self.cumulative)
        return float(sum(_mean_of_piece(a, b) * p for a, b, p in zip(sizes, sizes[1:], np.diff(shares), strict=False)))


def _mean_of_piece(low: float, high: float) -> float:
    """Mean of max(1, ceil(x)) for x uniform between low and high."""
    if high <= low:
        return max(1.0, math.ceil(low))
    if high - low > 1e4:  # the ceiling adds half a packet on average
        return (low + high) / 2 + 0.5
    edges = np.concatenate([[low], np.arange(math.floor(low) + 1, math.ceil(high)), [high]])
    values = np.maximum(np.ceil(edges[1:]), 1)
    return float((values * np.diff(edges)).sum() / (high - low))


@dataclass(frozen=True)
class OpenFlows:
    """Flows that arrive whatever the network does.

    Attributes:
        load: mean traffic offered, as a share of the link rate.
        sizes: of the flows.

    Raises:
        InputError: a load that is not between 0 and 1.
    """

    load: float
    sizes: FlowSizes

    def __post_init__(self) -> None:
        """Check the load."""
        if not 0 < self.load < 1:
            raise InputError(f"load must be between 0 and 1, got {self.load:g}: at 1 the queue grows without end")

    def arrival_rate(self, link_rate: float) -> float:
        """Return flows/µs on a link of `link_rate` packets/µs."""
        return self.load * link_rate / self.sizes.mean_packets
