"""How right a tuner's monitor is about the sizes of flows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lcca.remy_plus.fabric.engine import Record


def monitor_metrics(record: Record, size_bytes: NDArray[np.integer[Any]]) -> dict[str, float]:
    """Return `sizes_accuracy` of one trial; nothing where no tuner has told a share of elephants.

    The accuracy of an interval is 1 less the total variation between the distribution of flows over mice and elephants
    that the monitor knows and that of the flows that were under way in it, by their whole payload: with two classes,
    the difference of the shares. That of a trial is the mean over intervals in which any flow was under way, NaN
    without one.

    Args:
        record: of the trial.
        size_bytes: (flows,) payload.
    """
    if "told_elephant_share" not in record:
        return {}
    elephants = size_bytes >= record["told_elephant_bytes"][0]
    counts = _under_way(record, np.ones(len(size_bytes), dtype=bool))
    shares = _under_way(record, elephants) / np.maximum(counts, 1)
    right = 1 - np.abs(record["told_elephant_share"] - shares)
    return {"sizes_accuracy": float(right[counts > 0].mean()) if (counts > 0).any() else np.nan}


def _under_way(record: Record, those: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how many of some flows were under way, interval by interval."""
    start, took = record["flow_start_ns"][those], record["flow_fct_ns"][those]
    end = np.where(np.isnan(took), np.inf, start + took)
    until = record["told_ns"]
    begun = np.searchsorted(np.sort(start), until, side="left")  # those that did not start come last
    ended = np.searchsorted(np.sort(end), np.concatenate([[0.0], until[:-1]]), side="right")
    return np.asarray(begun - ended, dtype=np.int64)
