"""Where environments get their networks from.

A trainer passes ``space.draw`` of a network space, which draws `count` networks from a seed; a test passes one network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Model
from lcca.remy_plus.network import Network, NetworkList

NetworkSource: TypeAlias = Network | Sequence[Network] | Callable[[int, int], Sequence[Network]]
"""One network, a list of them, or a function of (seed, count) that draws some."""

DEFAULT_NETWORK = Network(0, 3.0, 25.0, 1, 175, 5000.0, 800.0, 0.001)
"""About the middle of the paper's default space, with one sender."""


def networks_from(source: NetworkSource, seed: int, count: int) -> list[Network]:
    """Return the listed networks, or `count` that are drawn.

    Raises:
        InputError: there are none.
    """
    if isinstance(source, Network):
        return [source]
    found = list(source(seed, count) if callable(source) else source)
    if not found:
        raise InputError("networks: at least one is needed")
    return found


def base_delay_us(networks: NetworkList, model: Model) -> NDArray[np.float64]:
    """Return (networks,) µs from sending a packet to its acknowledgement where neither meets a queue."""
    services = np.where(networks.plain, 1.0, networks.hops * (1 + model.ack_size))
    delay: NDArray[np.float64] = networks.rtt + services / networks.link_rate
    return delay
