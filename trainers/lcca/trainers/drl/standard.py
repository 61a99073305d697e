"""Inputs brought to mean 0 and deviation 1: what a flow sees varies little about values near 1."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lcca.remy_plus.policies.mlp import Floats, Layer, Lstm

SLOWEST = 0.05
"""Least weight of a new sample in the running mean."""

FINEST = 1e-2
"""Least deviation: inputs that vary less, such as the loss on a clean path, are not blown up."""


@dataclass
class Standard:
    """Running means and variances of columns.

    Attributes:
        width: how many columns.
        samples: taken in so far.
        mean: (width,).
        variance: (width,).
    """

    width: int
    samples: int = 0
    mean: NDArray[np.float64] = field(init=False)
    variance: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with what changes nothing."""
        self.mean, self.variance = np.zeros(self.width), np.ones(self.width)

    def take_in(self, rows: Floats) -> None:
        """Move towards the mean and variance of a sample's rows."""
        self.samples += 1
        weight = max(1 / self.samples, SLOWEST)
        mean = rows.mean(axis=0, dtype=np.float64)
        second = (1 - weight) * (self.variance + self.mean**2) + weight * (rows.var(axis=0, dtype=np.float64) + mean**2)
        self.mean = (1 - weight) * self.mean + weight * mean
        self.variance = np.maximum(second - self.mean**2, 0)

    @property
    def deviation(self) -> NDArray[np.float64]:
        """(width,) what is divided by."""
        return np.maximum(np.sqrt(self.variance), FINEST)

    def __call__(self, rows: Floats) -> Floats:
        """Return rows with mean 0 and deviation 1, about."""
        return ((rows - self.mean) / self.deviation).astype(np.float32)

    def folded(self, weights: Floats, biases: Floats) -> tuple[Floats, Floats]:
        """Return the weights and biases that do the same to rows as they are."""
        scaled = weights.astype(np.float64) / self.deviation
        return scaled.astype(np.float32), (biases - scaled @ self.mean).astype(np.float32)

    def before_layer(self, layer: Layer) -> Layer:
        """Return a layer that takes rows as they are."""
        weights, biases = self.folded(layer.weights, layer.biases)
        return replace(layer, weights=weights, biases=biases)

    def before_memory(self, memory: Lstm) -> Lstm:
        """Return a memory that takes rows as they are."""
        weights, biases = self.folded(memory.from_input, memory.biases)
        return replace(memory, from_input=weights, biases=biases)

    def first(self, width: int) -> Standard:
        """Return the same for the first columns alone."""
        own = Standard(width, self.samples)
        own.mean, own.variance = self.mean[:width], self.variance[:width]
        return own

    def state(self) -> dict[str, Any]:
        """Return all that `load` needs."""
        return {"samples": self.samples, "mean": torch.tensor(self.mean), "variance": torch.tensor(self.variance)}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.samples = int(state["samples"])
        self.mean, self.variance = state["mean"].numpy().copy(), state["variance"].numpy().copy()
