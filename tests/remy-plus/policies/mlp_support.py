"""Random networks, and a reference for them in double precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus.policies.agents import Agent, MlpPolicy
from lcca.remy_plus.policies.layers import ACTIVATIONS, Layer, Lstm

SIGNALS = ("send_ewma", "receive_ewma", "rtt_ratio", "queue")
FUNCTIONS = {"linear": lambda x: x, "tanh": np.tanh, "relu": lambda x: np.maximum(x, 0)}


def random_layer(random: np.random.Generator, inputs: int, outputs: int, activation: str, gain: float = 1.0) -> Layer:
    """A layer whose outputs are about as large as its inputs, times the gain."""
    weights = random.normal(0, gain / np.sqrt(inputs), (outputs, inputs))
    return Layer(weights.astype(np.float32), random.normal(0, 0.3, outputs).astype(np.float32), activation)  # type: ignore[arg-type]


def random_network(
    seed: int, agent: Agent, outputs: int, hidden: tuple[int, ...] = (64, 64), cells: int = 0, gain: float = 1.0
) -> MlpPolicy:
    """A network of random weights."""
    random = np.random.default_rng(seed)
    width, layers, memory = agent.inputs, [], None
    if cells:
        bound = 1 / np.sqrt(cells)
        shapes = ((4 * cells, width), (4 * cells, cells), (4 * cells,))
        memory = Lstm(*(random.uniform(-bound, bound, shape).astype(np.float32) for shape in shapes))
        width = cells
    for size in hidden:
        layers.append(random_layer(random, width, size, str(random.choice(ACTIVATIONS[1:])), gain))
        width = size
    layers.append(random_layer(random, width, outputs, "linear", gain))
    return MlpPolicy(agent, tuple(layers), memory)


def reference(
    policy: MlpPolicy, views: NDArray[np.float32], states: NDArray[np.float32] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Outputs and states in double precision."""
    x = views.astype(np.float64)
    after = np.zeros((len(x), 0))
    if policy.memory is not None:
        n = policy.memory.cells
        before = np.zeros((len(x), 2 * n)) if states is None else states.astype(np.float64)
        gates = (
            x @ policy.memory.from_input.T.astype(np.float64)
            + before[:, :n] @ policy.memory.from_hidden.T.astype(np.float64)
            + policy.memory.biases
        )
        let_in, keep, new, out = np.split(gates, 4, axis=1)
        logistic = lambda g: 1 / (1 + np.exp(-g))  # noqa: E731
        cell = logistic(keep) * before[:, n:] + logistic(let_in) * np.tanh(new)
        x = logistic(out) * np.tanh(cell)
        after = np.concatenate([x, cell], axis=1)
    for layer in policy.layers:
        x = FUNCTIONS[layer.activation](x @ layer.weights.T.astype(np.float64) + layer.biases)
    return x, after
