"""A replay memory: the latest transitions, drawn uniformly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Batch:
    """Transitions.

    Attributes:
        seen: (n, inputs) before the action.
        action: (n,) index.
        reward: (n,).
        after: (n, inputs) after it.
        ended: (n,) 1 where nothing can be earned afterwards.
    """

    seen: NDArray[np.float32]
    action: NDArray[np.int64]
    reward: NDArray[np.float32]
    after: NDArray[np.float32]
    ended: NDArray[np.float32]


class Replay:
    """The latest `size` transitions of states of `inputs` numbers."""

    def __init__(self, size: int, inputs: int) -> None:
        self._columns: dict[str, NDArray[Any]] = {
            "seen": np.zeros((size, inputs), dtype=np.float32),
            "action": np.zeros(size, dtype=np.int64),
            "reward": np.zeros(size, dtype=np.float32),
            "after": np.zeros((size, inputs), dtype=np.float32),
            "ended": np.zeros(size, dtype=np.float32),
        }
        self._size = size
        self._added = 0

    def __len__(self) -> int:
        return min(self._added, self._size)

    def add(self, **transition: Any) -> None:
        """Remember a transition, in the place of the oldest; keys as in `Batch`."""
        at = self._added % self._size
        for name, column in self._columns.items():
            column[at] = transition[name]
        self._added += 1

    @property
    def rewards(self) -> NDArray[np.float32]:
        """(n,) the remembered rewards."""
        return self._columns["reward"][: len(self)]

    @property
    def any_ended(self) -> bool:
        """Whether any remembered transition was the last of its episode."""
        return bool(self._columns["ended"][: len(self)].any())

    def sample(self, draws: np.random.Generator, count: int) -> Batch:
        """Return `count` transitions, drawn with replacement."""
        rows = draws.integers(len(self), size=count)
        return Batch(**{name: column[rows] for name, column in self._columns.items()})

    def state(self) -> dict[str, Any]:
        """Return everything in it, as plain values and arrays."""
        return {"added": self._added} | {name: column[: len(self)].copy() for name, column in self._columns.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Take on what `state` returned."""
        self._added = int(state["added"])
        for name, column in self._columns.items():
            column[: len(self)] = state[name]
