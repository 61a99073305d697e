"""The columns of a record from what trials in other processes returned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lcca.remy_plus.record import COUNTS, FLOWS, RTTS, SENDERS, TIMES, TRIALS, Columns
from lcca.workers.pool import Failure

SUMS = (*COUNTS, *TIMES, "stalled")
"""What a sender has of all its flows together."""


def _blank(senders: int, reason: str) -> dict[str, Any]:
    """Return the record of a trial that could not be run: nothing sent, nothing received, and the reason."""
    return {
        "events": 0,
        "hops": 0,
        "sent": 0,
        "delivered": 0,
        "utilisation": 0.0,
        "queue_mean_packets": 0.0,
        "queue_p99_packets": 0.0,
        "rtt_us": [np.nan] * 5,
        "first_on_us": [np.inf] * senders,
        "flows": {name: [] for name in FLOWS},
        "error": reason,
    }


def columns(results: Sequence[Any], senders: Sequence[int], delays: bool, flows: bool) -> Columns:
    """Return the columns of a record for trials in order.

    Args:
        results: per trial what the ns-3 module returned, or a `Failure`.
        senders: per trial how many senders are measured.
        delays: whether percentiles were kept.
        flows: whether to return a row per flow.
    """
    records = [_blank(n, r.reason) if isinstance(r, Failure) else r for r, n in zip(results, senders, strict=True)]
    found = {
        name: np.array([value for r in records for value in r["flows"][name]], dtype=kind)
        for name, kind in FLOWS.items()
    }
    counts = [len(r["flows"]["sender"]) for r in records]
    begin = np.concatenate([[0], np.cumsum(senders)]).astype(np.int64)
    out: dict[str, Any] = {"sender_begin": begin, "rule_hits": []}
    row_of_flow = np.repeat(begin[:-1], counts) + found["sender"]
    for name in SUMS:
        sums = np.bincount(row_of_flow, weights=found[name].astype(np.float64), minlength=begin[-1])
        out[f"sender_{name}"] = (sums if SENDERS[name] is np.float64 else np.rint(sums)).astype(SENDERS[name])
    out["sender_flows"] = np.bincount(row_of_flow, minlength=begin[-1]).astype(np.int32)
    out["sender_first_on_us"] = np.array([x for r in records for x in r["first_on_us"]], dtype=np.float64)
    for name, kind in TRIALS.items():
        out[f"trial_{name}"] = np.array([r[name] for r in records], dtype=kind)
    if delays:
        out["trial_queue_p99_packets"] = np.array([r["queue_p99_packets"] for r in records], dtype=np.float64)
        for i, name in enumerate(RTTS):
            out[f"trial_{name}"] = np.array([r["rtt_us"][i] for r in records], dtype=np.float64)
    if flows:
        out["flow_begin"] = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        out |= {f"flow_{name}": values for name, values in found.items()}
    errors = np.array([r.get("error", "") for r in records], dtype=object)
    return out | ({"trial_error": errors} if (errors != "").any() else {})
