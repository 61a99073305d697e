"""From what the engine returns to scores and to the rows of the trials table."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.trials.throughput_delay import mean_trials, sender_totals
from lcca.evaluation.trials.utility import Utility
from lcca.remy_plus.engine import Batch

Floats = NDArray[np.float64]

PERCENTILES = ("rtt_p50_us", "rtt_p90_us", "rtt_p95_us", "rtt_p99_us", "rtt_p999_us")


def trial_scores(batch: Batch, utility: Utility) -> Floats:
    """Return (trials,) scores in bits for a search.

    A trial in which nobody sends counts 0 for every policy alike: it changes no difference between policies.
    """
    return np.nan_to_num(utility.score(batch).score_bits, nan=0.0)


def trial_rows(batch: Batch, utility: Utility) -> pd.DataFrame:
    """Return the measured columns of the trials table, one row per trial (see `docs/reference/formats.md` for units).

    Percentiles need a batch that kept its delays; without, they are NaN.
    """
    senders = sender_totals(batch)
    scores = utility.score(batch)
    networks, index = batch.networks, batch.network_index
    means = mean_trials(senders, networks.link_rate[index])
    sent, rtt = batch.floats("trial_sent"), networks.rtt[index]
    failed = batch.floats("sender_lost") + batch.floats("sender_dropped")
    lost = np.bincount(batch.sender_trial, weights=failed, minlength=batch.trials)
    stalled = np.bincount(batch.sender_trial, weights=batch.floats("sender_stalled"), minlength=batch.trials).astype(
        np.int64
    )
    columns: dict[str, NDArray[np.generic]] = {
        "score_bits": scores.score_bits,
        "throughput_share": means.throughput_share,
        "throughput_over_link": means.throughput_share / networks.link_rate[index],
        "delay_us": means.delay_us,
        "delay_over_rtt": np.divide(means.delay_us, rtt, out=np.full(batch.trials, np.nan), where=rtt > 0),
        "fairness": means.fairness,
        "starved": scores.starved,
        "senders_counted": scores.senders_counted,
        "stalled_flows": stalled,
        "loss_fraction": lost / np.maximum(sent, 1),
        "utilisation": batch.floats("trial_utilisation"),
        "queue_mean_packets": batch.floats("trial_queue_mean_packets"),
        "packets_delivered": batch["trial_delivered"],
    }
    for name in PERCENTILES:
        found = batch.columns.get(f"trial_{name}")
        columns[name] = np.full(batch.trials, np.nan) if found is None else found
    return pd.DataFrame(columns)
