"""Layers of trained networks: their numbers, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError, did_you_mean, shown

Floats: TypeAlias = NDArray[np.float32]
Activation: TypeAlias = Literal["linear", "tanh", "relu"]

ACTIVATIONS: tuple[Activation, ...] = ("linear", "tanh", "relu")


@dataclass(frozen=True, eq=False)
class Layer:
    """A dense layer: activation(weights · x + biases).

    Attributes:
        weights: (outputs, inputs), as in PyTorch.
        biases: (outputs,).
        activation: ``linear``, ``tanh`` or ``relu``.

    Raises:
        InputError: shapes that do not fit, numbers that are not finite, or an unknown activation.
    """

    weights: Floats
    biases: Floats
    activation: Activation = "linear"

    def __post_init__(self) -> None:
        """Freeze the arrays and check them."""
        _freeze(self, "weights", 2)
        _freeze(self, "biases", 1)
        _rows_fit(self.weights, len(self.biases), "weights")
        if self.activation not in ACTIVATIONS:
            raise InputError(
                f"activation: unknown {shown(self.activation)}{did_you_mean(self.activation, ACTIVATIONS)}"
            )


@dataclass(frozen=True, eq=False)
class Lstm:
    """One long short-term memory of n cells; a flow begins with zeros.

    The four gates stand in the order input, forget, cell, output, as in PyTorch.

    Attributes:
        from_input: (4 n, inputs).
        from_hidden: (4 n, n).
        biases: (4 n,), the sum of PyTorch's two.

    Raises:
        InputError: shapes that do not fit, or numbers that are not finite.
    """

    from_input: Floats
    from_hidden: Floats
    biases: Floats

    def __post_init__(self) -> None:
        """Freeze the arrays and check them."""
        _freeze(self, "from_input", 2)
        _freeze(self, "from_hidden", 2)
        _freeze(self, "biases", 1)
        _rows_fit(self.from_input, len(self.biases), "from_input")
        _rows_fit(self.from_hidden, len(self.biases), "from_hidden")
        if self.from_hidden.shape[0] != 4 * self.cells:
            raise InputError(
                f"from_hidden: must have 4 rows for each of its columns, got shape {self.from_hidden.shape}"
            )

    @property
    def cells(self) -> int:
        """How many numbers its output has; its state has twice as many."""
        return int(self.from_hidden.shape[1])


def _freeze(owner: object, name: str, dimensions: int) -> None:
    try:
        array = np.array(getattr(owner, name), dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: must be numbers") from error
    if array.ndim != dimensions or 0 in array.shape:
        raise InputError(f"{name}: must have {dimensions} dimension{'s'[: dimensions - 1]}, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name}: must be finite numbers")
    array.setflags(write=False)
    object.__setattr__(owner, name, array)


def _rows_fit(matrix: Floats, rows: int, name: str) -> None:
    if len(matrix) != rows:
        raise InputError(f"{name}: {len(matrix)} rows, but there are {rows} biases")
