"""A short trial that a congestion control in Python has to pass before it runs anywhere: twice, alike."""

from __future__ import annotations

import numpy as np

from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.python_control import PythonControl

NETWORK = Network(
    id=0, link_rate=1.0, rtt=50.0, senders=2, mean_on=500.0, mean_off=100.0, buffer=40.0, loss=0.01, switched="time"
)
DURATION_US = 1000.0
SEEN = ("sender_sent", "sender_delay_sum_us")


def rehearse(control: PythonControl) -> None:
    """Check that a class runs, and does the same again with the same seed.

    Raises:
        InputError: it fails, says what is no window or no gap, or does otherwise the second time.
    """
    engine = Engine(DURATION_US, jobs=1)
    record = engine.run([engine.compile(control)], NetworkList([NETWORK]), [0, 0], [0, 0], [1, 1])
    if any(len(np.unique(part, axis=0)) > 1 for part in (record[name].reshape(2, -1) for name in SEEN)):
        raise InputError(
            f"{control.source.line_of()}: {control.source.name} does otherwise with the same seed: keep what it "
            "remembers in the instance, which is made anew for every flow, and draw random numbers from a "
            "random.Random with a seed of your own"
        )
