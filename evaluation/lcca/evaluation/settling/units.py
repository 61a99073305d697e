"""The units of every rule: means over blocks of networks, in the order in which these were planned."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

BLOCK = 16
"""Networks in a block where no space says it: consecutive ones of a list."""


def block_means(values: ArrayLike, block: int = BLOCK) -> Floats:
    """Return the mean of every whole block; what is left over at the end is no unit.

    Args:
        values: one per network, in order; NaN where there is none.
        block: networks in a block.

    Returns:
        (values // block,) means over what is there; NaN for a block without any value.
    """
    x = np.asarray(values, dtype=np.float64)
    rows = x[: x.size // block * block].reshape(-1, block)
    there = np.isfinite(rows)
    count = there.sum(axis=1)
    sums: Floats = np.where(there, rows, 0.0).sum(axis=1)
    return np.where(count > 0, sums / np.maximum(count, 1), np.nan)


def mean_of_blocks(values: ArrayLike, block: int = BLOCK) -> float:
    """Return the mean of all whole blocks, or of all values where there are fewer than one; NaN without any."""
    x = np.asarray(values, dtype=np.float64)
    units = block_means(x, block) if x.size >= block else x
    units = units[np.isfinite(units)]
    return float(units.mean()) if units.size else float("nan")


def means_of(values: ArrayLike, networks: ArrayLike, block: int = BLOCK) -> Floats:
    """Return the means of some networks' values over the blocks that these belong to, blocks without any left out.

    Args:
        values: one per network.
        networks: their numbers.
        block: networks in a block.
    """
    x, of = np.asarray(values, dtype=np.float64), np.asarray(networks, dtype=np.int64) // block
    numbers, place = np.unique(of[np.isfinite(x)], return_inverse=True)
    return np.bincount(place, weights=x[np.isfinite(x)], minlength=numbers.size) / np.bincount(place)
