"""Shares of senders or hops that follow from a trial alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus import _core


def chosen(seed: int, network: int, what: str, first: int, last: int, share: float) -> NDArray[np.bool_]:
    """Return which of numbers first … last − 1 are of a share: (last − first,).

    Args:
        seed: of the trial.
        network: its number; 0 on a fabric.
        what: "adoption", of senders; or "deployment", of links and switches that write into what packets carry.
        first: number.
        last: the one after the last.
        share: from 0 to 1.
    """
    return np.asarray(_core.chosen(seed, network, what, first, last, share), dtype=np.bool_)
