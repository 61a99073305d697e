"""Trained networks as policies: what deep reinforcement learning brings forth (`lcca.trainers.drl`).

The engine runs them as the environments did in which they were trained (``mlp.hpp``): same observations, decisions and
actions. They say the network's output without noise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from lcca.inputs.errors import InputError, about
from lcca.remy_plus import _core
from lcca.remy_plus.policies.agents import Agent, TableSteering
from lcca.remy_plus.policies.layers import Floats, Layer, Lstm


@dataclass(frozen=True, eq=False)
class MlpPolicy:
    """A trained network that sees and steers a flow as its agent says.

    Two policies are equal when all their content is; the arrays are read-only, in single precision.

    Attributes:
        agent: what it sees, when it decides, and what its outputs mean. Where it picks from a table, there is an output
            for each action, and the largest counts.
        layers: from the agent's inputs (or from the memory) to the outputs.
        memory: a long short-term memory before the layers.

    Raises:
        InputError: layers that do not fit each other or the agent.
    """

    agent: Agent
    layers: tuple[Layer, ...]
    memory: Lstm | None = None

    def __post_init__(self) -> None:
        """Check that everything fits by compiling it."""
        object.__setattr__(self, "layers", tuple(self.layers))
        self.compile()

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals that it sees."""
        return self.agent.signals

    @property
    def parameters(self) -> int:
        """How many numbers were trained."""
        return sum(array.size for array in self.arrays())

    def arrays(self) -> Iterator[Floats]:
        """Yield all arrays, the memory's first."""
        if self.memory is not None:
            yield from (self.memory.from_input, self.memory.from_hidden, self.memory.biases)
        for layer in self.layers:
            yield from (layer.weights, layer.biases)

    def __eq__(self, other: object) -> bool:
        """Tell whether both policies have the same content."""
        return isinstance(other, MlpPolicy) and self.digest == other.digest

    def __hash__(self) -> int:
        """Hash the content."""
        return hash(self.digest)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content (hex); the same on every machine."""
        shapes = [array.shape for array in self.arrays()]
        kinds = [layer.activation for layer in self.layers]
        sha = hashlib.sha256(repr((self.agent, kinds, self.memory is None, shapes)).encode())
        for array in self.arrays():
            sha.update(array.astype("<f4").tobytes())
        return sha.hexdigest()

    def compile(self) -> _core.Policy:
        """Return the engine's form.

        Raises:
            InputError: layers that do not fit each other or the agent.
        """
        memory = self.memory
        try:
            return _core.Policy.mlp(
                self.agent.compile(),
                [(_by_input(x.weights), x.biases, x.activation) for x in self.layers],
                None
                if memory is None
                else (_by_input(memory.from_input), _by_input(memory.from_hidden), memory.biases),
            )
        except ValueError as error:
            raise InputError(f"network: {error}") from None

    def outputs(self, views: ArrayLike, states: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Return what the network says, computed by the engine.

        Args:
            views: (n, inputs) what it sees, each row on its own.
            states: (n, 2 · cells) of the memory, hidden first; zeros if left out.

        Returns:
            (n, outputs), and the states afterwards.
        """
        seen = np.ascontiguousarray(views, dtype=np.float32)
        size = 0 if self.memory is None else 2 * self.memory.cells
        before = np.zeros((len(seen), size), np.float32) if states is None else states
        with about("network"):
            try:
                said, after = self.compile().outputs(seen, np.ascontiguousarray(before, dtype=np.float32))
            except (ValueError, TypeError) as error:
                raise InputError(str(error).splitlines()[0]) from None
        return np.asarray(said), np.asarray(after)

    def actions(self, outputs: Floats) -> Floats:
        """Return (n, numbers) what outputs mean to agents: the numbers themselves, or the index of the largest."""
        if isinstance(self.agent.steering, TableSteering):
            return np.asarray(outputs.argmax(axis=1, keepdims=True), dtype=np.float32)
        return outputs


def _by_input(matrix: Floats) -> Floats:
    return np.ascontiguousarray(matrix.T)
