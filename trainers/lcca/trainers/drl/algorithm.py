"""What a trainer needs of a learning algorithm."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lcca.inputs.extras import missing
from lcca.remy_plus.policies.mlp import MlpPolicy

if TYPE_CHECKING:
    from lcca.gym_envs.batch.agent_slots import AgentSlots

try:
    import torch
except ImportError as error:
    raise missing("torch", "trainers by reinforcement") from error


class Algorithm(Protocol):
    """Learns from agent slots. What it does follows from its state, the slots and the random seed that `seeded` set."""

    def learn(self, slots: AgentSlots, decisions: int, begin: float, end: float) -> int:
        """Learn from at least so many decisions, and return how many they were.

        Args:
            slots: without whole rows, just reset.
            decisions: to learn from.
            begin: share of all training that is done before.
            end: share that is done afterwards.
        """

    def policy(self) -> MlpPolicy:
        """Return what was learnt, without noise."""

    def state(self) -> dict[str, Any]:
        """Return all that `load` needs to go on from here."""

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""


def derived_seed(seed: int, *words: object) -> int:
    """Return a seed below 2³² that depends on all of these."""
    text = "/".join(str(word) for word in (seed, *words))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4, person=b"lcca-drl").digest(), "big")


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Within, PyTorch draws from this seed on one thread; afterwards all is as before.

    One thread: sums over threads would depend on their number.
    """
    threads, numpy_state = torch.get_num_threads(), np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        np.random.seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
            np.random.set_state(numpy_state)


def packed(state: dict[str, Any]) -> str:
    """Return a state as text."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    return base64.b64encode(buffer.getvalue()).decode()


def unpacked(text: str) -> dict[str, Any]:
    """Return the state in a text; it holds tensors and numbers alone."""
    found: dict[str, Any] = torch.load(io.BytesIO(base64.b64decode(text)), weights_only=True)
    return found
