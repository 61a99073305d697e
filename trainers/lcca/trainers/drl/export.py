"""From PyTorch's modules to policies of the engine."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from torch import nn

from lcca.remy_plus.policies.mlp import Activation, Floats, Layer, Lstm

ACTIVATIONS: dict[type[nn.Module], Activation] = {nn.Tanh: "tanh", nn.ReLU: "relu", nn.Identity: "linear"}


def array(tensor: torch.Tensor) -> Floats:
    """Return a tensor's numbers."""
    return np.array(tensor.detach().cpu().numpy(), dtype=np.float32)


def layers_of(modules: Iterable[nn.Module], end: Activation = "linear") -> tuple[Layer, ...]:
    """Return the dense layers of linear modules and activations in their order.

    Args:
        modules: those of a network, one after another.
        end: activation of the last layer where none follows it.
    """
    layers: list[Layer] = []
    for module in modules:
        if isinstance(module, nn.Linear):
            layers.append(Layer(array(module.weight), array(module.bias)))
        else:
            layers[-1] = Layer(layers[-1].weights, layers[-1].biases, ACTIVATIONS[type(module)])
    last = layers[-1]
    return (*layers[:-1], Layer(last.weights, last.biases, end if last.activation == "linear" else last.activation))


def lstm_of(module: nn.LSTM) -> Lstm:
    """Return a memory of one layer; PyTorch's two biases are added up."""
    found = {name: array(tensor) for name, tensor in module.state_dict().items()}
    return Lstm(found["weight_ih_l0"], found["weight_hh_l0"], found["bias_ih_l0"] + found["bias_hh_l0"])
