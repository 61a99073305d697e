"""How a switch marks: settings of RED, the grid that ACC chooses from, and static ones to hold it against."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from lcca.inputs.errors import InputError, did_you_mean
from lcca.inputs.units import PACKET_BYTES

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


def _bytes(min_k: float, max_k: float, max_p: float) -> MarkSetting:
    return MarkSetting(min_k / PACKET_BYTES, max_k / PACKET_BYTES, max_p)


def sloped(slope: float) -> MarkSetting:
    """Return static RED with a slope λ (per MB), between the thresholds of PRED's example, 5 KB and 200 KB.

    λ = max_p / (max_k − min_k), PRED's section II-A. The paper names static RED by λ alone.
    """
    return _bytes(5e3, 200e3, slope * (0.2 - 0.005))


STATIC: dict[str, MarkSetting] = {
    "red-0.2": sloped(0.2),
    "red-0.65": sloped(0.65),
    "red-1.65": sloped(1.65),
    "red-2": sloped(2.0),
    "dcqcn": _bytes(5e3, 200e3, 0.01),
    "hpcc": _bytes(40e3, 160e3, 0.2),
    "step-70": MarkSetting(70, 70),
    "step-20": MarkSetting(20, 20),
}
"""Static settings for 10 Gb/s, by name. ``red-λ``: PRED's figures 3 (0.65, 1.65) and 24 (0.2, 2). ``dcqcn``: DCQCN's
(SIGCOMM 2015). ``hpcc``: those of HPCC's code, 100 KB, 400 KB and 0.2 at 25 Gb/s, in proportion. ``step-70``: PRED's
ECN. ``step-20``: 30 KB at 10 Gb/s, of HPCC's code."""


def static(name: str) -> MarkSetting:
    """Return a static setting by name.

    Raises:
        InputError: there is none of this name.
    """
    if name not in STATIC:
        raise InputError(f"unknown setting {name[:60]!r}{did_you_mean(name, STATIC)}")
    return STATIC[name]
