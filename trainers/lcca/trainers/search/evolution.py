"""A natural evolution strategy with a separable Gaussian (SNES), mirrored.

Wierstra et al., "Natural evolution strategies", JMLR 2014, section 3.5 and Table 1: candidates z + σ·s with s standard
normal, ranked, of utilities u; then z ← z + σ·Σ u_i s_i and σ ← σ·exp(η/2 · Σ u_i (s_i² − 1)), per coordinate, with
η = (3 + ln d) / (5 √d). Utilities depend on ranks alone, so neither the scale of the scores nor an outlier matters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.remy_plus.core.elementary import exp, log

Floats = NDArray[np.float64]


@dataclass
class Evolution:
    """A separable Gaussian that moves; arrays of one shape.

    Attributes:
        point: its mean.
        sigma: its standard deviations.
        total: sum of the points that count for the average.
        counted: how many these are.
    """

    point: Floats
    sigma: Floats
    total: Floats
    counted: int = 0

    @classmethod
    def at(cls, point: Floats, sigma: ArrayLike) -> Evolution:
        """Return a search that begins at a point, so wide (broadcast); a coordinate of width 0 keeps its value."""
        return cls(point, np.broadcast_to(np.asarray(sigma, dtype=float), point.shape).copy(), np.zeros_like(point))

    def candidates(self, directions: Floats) -> Floats:
        """Return (candidates, …) points along the directions, standard normal."""
        return self.point + self.sigma * directions

    def move(self, directions: Floats, scores: Floats) -> None:
        """Move towards the candidates with the better scores, (candidates,), and widen or narrow with them."""
        utility = utilities(scores)
        rate = (3 + math.log(self.point.size)) / (5 * math.sqrt(self.point.size))
        self.point = self.point + self.sigma * _weighed(utility, directions)
        self.sigma = self.sigma * exp(rate / 2 * _weighed(utility, directions * directions - 1))

    def count(self) -> None:
        """Let the point count for the average."""
        self.total, self.counted = self.total + self.point, self.counted + 1

    @property
    def average(self) -> Floats:
        """Mean of the points that count, the point itself where none does."""
        return self.total / self.counted if self.counted else self.point

    def content(self) -> dict[str, Any]:
        """Return it as JSON values, exactly."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}

    @classmethod
    def of(cls, content: dict[str, Any]) -> Evolution:
        """Return what `content` was made of."""
        values: dict[str, Any] = {
            name: np.array(value, dtype=float) if isinstance(value, list) else value for name, value in content.items()
        }
        return cls(**values)


def usual_population(dimensions: int) -> int:
    """Return the even number of candidates next above the usual 4 + 3 ln d (Wierstra et al., Table 1)."""
    return 2 * math.ceil((4 + 3 * math.log(dimensions)) / 2)


def utilities(scores: Floats) -> Floats:
    """Return (candidates,) utilities of ranks, sum 0: max(0, ln(λ/2 + 1) − ln rank), normalised, less 1/λ."""
    count = len(scores)
    by_rank = np.maximum(0, log(count / 2 + 1) - log(np.arange(1, count + 1)))
    weights = np.empty(count)
    weights[np.argsort(-scores, kind="stable")] = by_rank / by_rank.sum() - 1 / count
    return weights


def _weighed(weights: Floats, values: Floats) -> Floats:
    """Return the sum of values, (candidates, …), by weights, (candidates,), in this order on every processor."""
    products: Floats = weights.reshape(-1, *[1] * (values.ndim - 1)) * values
    return np.asarray(products.sum(axis=0))
