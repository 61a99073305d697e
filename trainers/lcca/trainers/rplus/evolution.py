"""A natural evolution strategy with separable coordinates, mirrored perturbations and Adam's step sizes.

The objective is smoothed by a Gaussian: J(z) = E f(z + σ·s), s standard normal, whose gradient is E f(z + σ·s)·s / σ
(Wierstra et al., "Natural evolution strategies", JMLR 2014, section 2; for a separable Gaussian the natural gradient of
the mean is that times σ²). Pairs ±s make the estimate exact for even parts of f (Salimans et al., "Evolution strategies
as a scalable alternative to reinforcement learning", 2017). Each coordinate's step is normalised as Adam does (Kingma &
Ba, ICLR 2015): rules are used at very different rates, so that their gradients differ by orders of magnitude.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FIRST_DECAY = 0.9
SECOND_DECAY = 0.99
"""Of the running means of the gradient and of its square."""

OUTLIERS = 3.0
"""Half differences beyond so many medians are cut: one starved flow must not outweigh all other pairs."""


@dataclass
class Evolution:
    """A search point and the running means that its steps are made of; arrays of one shape.

    Attributes:
        point: the mean of the Gaussian.
        slope: running mean of the gradient.
        square: running mean of its square.
        steps: taken so far.
        total: sum of the points that count for the average.
        counted: how many these are.
    """

    point: Floats
    slope: Floats
    square: Floats
    total: Floats
    steps: int = 0
    counted: int = 0

    @classmethod
    def at(cls, point: Floats) -> Evolution:
        """Return a search that begins at a point."""
        return cls(point, np.zeros_like(point), np.zeros_like(point), np.zeros_like(point))

    def climb(self, gradient: Floats, step: float) -> Floats:
        """Move along the gradient: about `step` in each coordinate whose gradient is clear of noise."""
        self.steps += 1
        self.slope = FIRST_DECAY * self.slope + (1 - FIRST_DECAY) * gradient
        self.square = SECOND_DECAY * self.square + (1 - SECOND_DECAY) * gradient**2
        slope = self.slope / (1 - FIRST_DECAY**self.steps)
        size = np.sqrt(self.square / (1 - SECOND_DECAY**self.steps))
        self.point = self.point + step * np.divide(slope, size, out=np.zeros_like(slope), where=size > 0)
        return self.point

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


def half_differences(above: Floats, below: Floats) -> Floats:
    """Return (pairs,) half differences between mirrored scores, outliers cut."""
    halves = (above - below) / 2
    most = OUTLIERS * float(np.median(np.abs(halves)))
    return np.clip(halves, -most, most)


def gradient(halves: Floats, used: NDArray[np.bool_], directions: Floats, sigma: float) -> Floats:
    """Estimate the gradient of the smoothed score.

    A rule that neither trial of a pair looked up cannot have made their difference: its share of that pair is noise of
    mean zero and left out.

    Args:
        halves: (pairs,) half differences f(z + σ·s) − f(z − σ·s) over 2.
        used: (pairs, rules) whether either trial looked a rule up.
        directions: (pairs, rules, fields) s.
        sigma: σ.
    """
    found: Floats = np.einsum("p,pr,prf->rf", halves, used.astype(float), directions) / (len(halves) * sigma)
    return found
