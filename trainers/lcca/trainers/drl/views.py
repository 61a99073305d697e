"""What the learner sees of a decision: what the flow saw, and, for a privileged critic, what no flow could."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus.network import NetworkList

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

PRIVILEGES = ("link_rate", "rtt", "senders", "buffer", "mean_on", "mean_off", "loss")
"""Parameters of a network in the order in which the critic sees them."""


def privileges(networks: NetworkList) -> Floats:
    """Return (networks, 7) parameters, on scales on which usual ones are about 1: log₂ but for losses."""
    rows = [
        [
            np.log2(net.link_rate),
            np.log2(net.rtt) / 4,
            np.log2(net.senders) / 2,
            np.log2(min(net.buffer, 1e5)) / 8,
            np.log2(net.mean_on) / 12,
            np.log2(net.mean_off) / 10,
            net.loss * 100,
        ]
        for net in networks.networks
    ]
    return np.array(rows, dtype=np.float32)


def with_privileges(view: Floats, state: Floats, network: Ints, table: Floats | None) -> Floats:
    """Return (n, …) views with the state of their network and its parameters behind; the views alone without a table.

    Args:
        view: (n, inputs) what flows saw.
        state: (n, inputs + 1) of their networks; see `Experience`.
        network: (n,) rows of the table.
        table: (networks, 7) `privileges`.
    """
    return view if table is None else np.concatenate([view, state, table[network]], axis=1)
