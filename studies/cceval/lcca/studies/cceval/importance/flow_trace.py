"""Trials of an open network with given flows in place of random ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lcca.remy_plus import _core
from lcca.remy_plus.engine import Engine, refusals
from lcca.remy_plus.network import Network, compile_network
from lcca.studies.cceval.importance.flows import Floats


def flow_trace(
    engine: Engine, policy: _core.Policy, network: Network, begin: ArrayLike, arrival: ArrayLike, size: ArrayLike
) -> Floats:
    """Run trials of an open network with given flows in place of random ones, in this process.

    Args:
        engine: says how long trials are, and by which model.
        policy: a compiled policy.
        network: with open flows; their load and sizes do not matter.
        begin: (trials + 1,) where the flows of each trial begin, from 0 to the number of flows.
        arrival: (flows,) µs since the start of the trial, not falling, none after the duration.
        size: (flows,) whole packets.

    Returns:
        (flows,) µs from each flow's arrival to that of its last packet; NaN where it never came.

    Raises:
        InputError: flows that are impossible, or a network without open flows.
    """
    with refusals():
        times = _core.run_flow_trace(
            policy,
            compile_network(network),
            np.ascontiguousarray(begin, dtype=np.int64),
            np.ascontiguousarray(arrival, dtype=np.float64),
            np.ascontiguousarray(size, dtype=np.uint64),
            duration=engine.duration,
            model=engine.model.parts(),
            jobs=engine.jobs,
        )
    return np.asarray(times)
