"""How a switch marks: settings of RED, and the grid that ACC chooses from."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from lcca.inputs.errors import InputError

MIN_K = (2.0, 4.0, 8.0, 16.0)
MAX_K = (20.0, 50.0, 100.0)
MAX_P = (0.01, *(j / 20 for j in range(1, 21)))
"""ACC's grid, packets and shares: section VI-C.3 of PRED's paper."""


@dataclass(frozen=True)
class MarkSetting:
    """What share of packets is marked, by how many packets wait when they arrive.

    None up to `min_k`, all from `max_k` on, and between them a share that rises in a line to `max_p`. With both
    thresholds equal, a step.

    Attributes:
        min_k: packets.
        max_k: packets.
        max_p: share just below `max_k`.

    Raises:
        InputError: thresholds out of order, or no share.
    """

    min_k: float
    max_k: float
    max_p: float = 1.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not (0 <= self.min_k <= self.max_k <= 1e9 and 0 <= self.max_p <= 1):
            raise InputError(
                f"marking must have 0 <= min_k <= max_k packets and max_p in [0, 1], got "
                f"min_k={self.min_k:g}, max_k={self.max_k:g}, max_p={self.max_p:g}"
            )


GRID: tuple[MarkSetting, ...] = tuple(MarkSetting(*values) for values in product(MIN_K, MAX_K, MAX_P))
"""ACC's 4 × 3 × 21 = 252 settings; `max_p` varies fastest."""

GRID_SHAPE = (len(MIN_K), len(MAX_K), len(MAX_P))
