"""How much better decisions turned out than the critic had thought (generalised advantage estimation)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lcca.trainers.drl.collector import Experience

Floats = NDArray[np.float32]

FEWEST = 32
"""Decisions on a network, from which on its advantages are scaled by themselves."""


def advantages(
    experience: Experience, reward: Floats, value: Floats, value_after: Floats, discount: Floats, gae: float
) -> Floats:
    """Return (n,) advantages (Schulman et al., 2016), flow by flow.

    Where a flow or its trial ended, or the outcome of the next decision is not yet known, the critic's value of what
    was seen last stands for the rest. That holds for flows that went off too: what ends them does not depend on what
    they do, and a learner to whom an end were worth nothing would, all rewards being losses, learn to hasten it.

    Args:
        experience: n decisions.
        reward: (n,) their rewards.
        value: (n,) the critic's values of what was seen.
        value_after: (n,) of what was seen afterwards.
        discount: (n,) γ over the time of each.
        gae: λ.
    """
    surprise = reward + discount * value_after - value
    goes_on = np.where(experience.ended != 0, 0, discount * gae).astype(np.float32)
    found = np.empty(len(experience), dtype=np.float32)
    carried = np.zeros(int(experience.slot.max(initial=0)) + 1, dtype=np.float32)
    cuts = np.flatnonzero(np.diff(experience.step)) + 1
    bounds = [0, *cuts.tolist(), len(experience)]
    for begin, end in zip(reversed(bounds[:-1]), reversed(bounds[1:]), strict=True):
        slot = experience.slot[begin:end]  # each at most once in a step
        found[begin:end] = carried[slot] = surprise[begin:end] + goes_on[begin:end] * carried[slot]
    return found


def by_network(values: Floats, network: NDArray[np.int64]) -> Floats:
    """Centre and scale values within each network; where a network has few, scale them as all are.

    Networks differ in how much a decision can gain; without this the learner would look at some alone.
    """
    count = np.bincount(network)
    many = np.maximum(count, 1)
    mean = np.bincount(network, weights=values) / many
    centred = values - np.where(count >= FEWEST, mean, values.mean())[network]
    spread = np.sqrt(np.bincount(network, weights=centred**2) / many)
    scale = np.where(count >= FEWEST, spread, values.std())
    scaled: Floats = (centred / (scale[network] + 1e-8)).astype(np.float32)
    return scaled
