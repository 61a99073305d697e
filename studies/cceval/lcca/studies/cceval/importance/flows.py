"""Flows of open-loop trials, many trials at a time, and what a simulator must offer."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from lcca.remy_plus.workload import FlowSizes

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]


class Sizes(Protocol):
    """A distribution of flow sizes, given by its mean and quantiles."""

    @property
    def mean(self) -> float:
        """Mean size."""
        ...

    def beyond(self, chance: Floats) -> Floats:
        """Return the sizes that a flow surpasses with this chance, each in (0, 1)."""
        ...


@dataclass(frozen=True)
class TableSizes:
    """Sizes from a table, rounded up to whole packets as the engine does."""

    table: FlowSizes

    @property
    def mean(self) -> float:
        """Mean size in packets."""
        return self.table.mean_packets

    def beyond(self, chance: Floats) -> Floats:
        """Return the sizes in packets that a flow surpasses with this chance."""
        sizes = np.interp(1 - chance, self.table.cumulative, self.table.packets)
        return np.maximum(np.ceil(sizes), 1.0)


@dataclass(frozen=True)
class LognormalSizes:
    """Sizes whose logarithm is normal with mean `mu` and standard deviation `sigma`; not rounded."""

    mu: float
    sigma: float

    @property
    def mean(self) -> float:
        """Mean size."""
        return math.exp(self.mu + self.sigma**2 / 2)

    def beyond(self, chance: Floats) -> Floats:
        """Return the sizes that a flow surpasses with this chance."""
        return np.asarray(np.exp(self.mu - self.sigma * ndtri(chance)), dtype=np.float64)


@dataclass(frozen=True)
class OpenLoop:
    """Trials of a fixed length in which flows arrive whatever the network does, and all run to their end.

    Attributes:
        rate: flows per unit of time (flows/µs with the engine), Poisson.
        horizon: time in which flows arrive.
        sizes: of the flows.

    Raises:
        ValueError: if rate or horizon is not > 0 and finite.
    """

    rate: float
    horizon: float
    sizes: Sizes

    def __post_init__(self) -> None:
        """Check both numbers."""
        for name, value in (("rate", self.rate), ("horizon", self.horizon)):
            if not 0 < value < math.inf:
                raise ValueError(f"{name} must be > 0 and finite, got {value}")

    @property
    def mean_flows(self) -> float:
        """Expected flows of a trial, λT, exactly."""
        return self.rate * self.horizon

    @property
    def mean_work(self) -> float:
        """Expected sum of the sizes of a trial's flows."""
        return self.mean_flows * self.sizes.mean


@dataclass(frozen=True, eq=False)
class Flows:
    """The flows of a batch of trials, one trial after the other, by time of arrival within each.

    Attributes:
        begin: (trials + 1,) where each trial's flows begin.
        arrival: (flows,) times of arrival since the start of the trial.
        size: (flows,) sizes.
    """

    begin: Ints
    arrival: Floats
    size: Floats

    @property
    def trials(self) -> int:
        """Number of trials."""
        return len(self.begin) - 1

    @property
    def trial(self) -> Ints:
        """(flows,) the trial that each flow belongs to."""
        return np.repeat(np.arange(self.trials), np.diff(self.begin))

    def sums(self, values: Floats) -> Floats:
        """Return (trials,) sums over the flows of each trial."""
        return np.bincount(self.trial, weights=values, minlength=self.trials).astype(np.float64)

    def joined(self, more: "Flows") -> "Flows":
        """Return the trials of both."""
        begin = np.concatenate([self.begin, self.begin[-1] + more.begin[1:]])
        arrival, size = np.concatenate([self.arrival, more.arrival]), np.concatenate([self.size, more.size])
        return Flows(begin, arrival, size)

    def part(self, first: int, last: int) -> "Flows":
        """Return the trials from `first` to before `last`."""
        cut = slice(self.begin[first], self.begin[last])
        return Flows(self.begin[first : last + 1] - self.begin[first], self.arrival[cut], self.size[cut])

    def some(self, chosen: Bools) -> "Flows":
        """Return the chosen trials alone, in order; `chosen` is (trials,)."""
        keep = chosen[self.trial]
        begin = np.concatenate([[0], np.cumsum(np.diff(self.begin)[chosen])])
        return Flows(begin.astype(np.int64), self.arrival[keep], self.size[keep])


Simulator: TypeAlias = Callable[[Flows], Floats]
"""Takes the flows of many trials, returns (flows,) flow completion times: from arrival to the last packet.

It must be causal: what happened until a time must not depend on flows that arrive later.
"""

Metric: TypeAlias = Callable[[Floats, Floats], Floats]
"""Takes (flows,) FCTs and sizes, returns (flows,) values whose quantile is wanted, such as slowdowns."""


def completion_time(fct: Floats, size: Floats) -> Floats:
    """Return the FCTs themselves: the metric unless told otherwise."""
    return fct
