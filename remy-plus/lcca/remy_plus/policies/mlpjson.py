"""Trained networks as JSON values, for ``policy.json``: single-precision numbers in their shortest exact form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lcca.inputs.errors import InputError, about
from lcca.inputs.model import Model
from lcca.remy_plus.policies.layers import Activation, Floats, Layer, Lstm

if TYPE_CHECKING:
    from lcca.remy_plus.policies.agents import MlpPolicy

_MEMORY = ("from_input", "from_hidden", "biases")

Row = tuple[float, ...]


class LayerContent(Model):
    """A `Layer` in a file."""

    weights: tuple[Row, ...]
    biases: Row
    activation: Activation

    def build(self, key: str) -> Layer:
        """Return the layer that stands at a key of the file."""
        with about(key):
            return Layer(_floats(self.weights, "weights"), _floats(self.biases, "biases"), self.activation)


class MemoryContent(Model):
    """An `Lstm` in a file."""

    from_input: tuple[Row, ...]
    from_hidden: tuple[Row, ...]
    biases: Row

    def build(self) -> Lstm:
        """Return the memory."""
        with about("memory"):
            return Lstm(**{name: _floats(getattr(self, name), name) for name in _MEMORY})


def mlp_to_json(policy: MlpPolicy) -> dict[str, Any]:
    """Return the keys of a policy file that are its own; the signals stand beside them."""
    agent = policy.agent.as_json()
    del agent["signals"]
    content = {"agent": agent, "layers": [layer_to_json(layer) for layer in policy.layers]}
    memory = policy.memory
    if memory is not None:
        content["memory"] = {name: shortest(getattr(memory, name)) for name in _MEMORY}
    return content


def shortest(array: Floats) -> list[Any]:
    """Return nested lists of the doubles that have the fewest digits among those that round to these floats."""
    texts = array.astype(str)  # NumPy writes the fewest digits that tell a float32 from its neighbours
    doubles = texts.astype(np.float64)
    exact = array.astype(np.float64)
    listed: list[Any] = np.where(doubles.astype(np.float32) == array, doubles, exact).tolist()
    return listed


def layer_to_json(layer: Layer) -> dict[str, Any]:
    """Return the keys of a `LayerContent`."""
    return {
        "weights": shortest(layer.weights),
        "biases": shortest(layer.biases),
        "activation": layer.activation,
    }


def _floats(values: tuple[Any, ...], key: str) -> Floats:
    try:
        array = np.array(values, dtype=np.float64)
    except ValueError as error:
        raise InputError(f"{key}: rows must be equally long") from error
    with np.errstate(over="ignore"):  # too large a number is refused as one that is not finite
        return array.astype(np.float32)
