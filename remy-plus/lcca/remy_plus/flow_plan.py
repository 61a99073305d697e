"""The flows that a trial's senders have in store, whatever policy they run: from the engine's own random streams."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.engine import compile_network
from lcca.remy_plus.network import Network

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FlowPlan:
    """Flows of the senders that count, sender by sender, in order: an entry per flow.

    Attributes:
        sender: index of its sender.
        pause_us: time off before it, since the trial began or since the sender's previous flow ended.
        start_us: when it begins, if time ends flows; else the earliest, if its sender had the link to itself.
        end_us: when it ends; infinite if its length ends it.
        length: packets; 0 if its time ends it.
    """

    sender: NDArray[np.int64]
    pause_us: Floats
    start_us: Floats
    end_us: Floats
    length: NDArray[np.int64]


def planned_flows(network: Network, seed: int, duration: float) -> FlowPlan:
    """Return the flows that a trial of this duration (µs) can see begin.

    Raises:
        InputError: the network has open flows, which belong to no sender.
    """
    try:
        return FlowPlan(**_core.planned_flows(compile_network(network), seed, duration))
    except ValueError as error:
        raise InputError(f"network {network.id}: {error}") from None
