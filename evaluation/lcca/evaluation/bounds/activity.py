"""Who is on when: a trial's on-times cut into pieces of time in which nobody comes or goes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus.engine import FlowPlan

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Activity:
    """Pieces of time, in order, in each of which the same senders are on.

    Attributes:
        length_us: (pieces,) each above 0.
        on: (pieces, senders) who is.
    """

    length_us: Floats
    on: NDArray[np.bool_]

    @property
    def share_us(self) -> Floats:
        """(senders,) µs of fair share: the integral of dt / (senders that are on) while on."""
        each = self.length_us / np.maximum(self.on.sum(axis=1), 1)
        return np.asarray((each[:, None] * self.on).sum(axis=0), dtype=np.float64)

    def only(self, senders: NDArray[np.bool_]) -> Activity:
        """Return the same of some senders alone."""
        return Activity(self.length_us, self.on[:, senders])


def activity(plan: FlowPlan, senders: int, duration: float, late_us: Floats | float = 0.0) -> Activity:
    """Return who is on within a trial, `late_us` (one number, or one per sender) later than flows begin and end."""
    late = np.broadcast_to(late_us, senders)[plan.sender]
    start = np.minimum(plan.start_us + late, duration)
    end = np.minimum(plan.end_us + late, duration)
    times = np.unique(np.concatenate([[0.0, duration], start, end]))
    change = np.zeros((len(times), senders), dtype=np.int64)
    np.add.at(change, (np.searchsorted(times, start), plan.sender), 1)
    np.add.at(change, (np.searchsorted(times, end), plan.sender), -1)
    return Activity(np.diff(times), np.cumsum(change, axis=0)[:-1] > 0)
