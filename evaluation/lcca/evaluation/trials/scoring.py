"""From what the engine returns to scores and to the rows of the trials table."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.trials.throughput_delay import mean_trials, sender_totals
from lcca.evaluation.trials.utility import Utility
from lcca.remy_plus.record import RTTS, Record

Floats = NDArray[np.float64]


def trial_scores(record: Record, utility: Utility) -> Floats:
    """Return (trials,) scores in bits for a search.

    A trial in which nobody sends counts 0 for every policy alike: it changes no difference between policies.
    """
    return np.nan_to_num(utility.score(record).score_bits, nan=0.0)


def trial_rows(record: Record, utility: Utility) -> pd.DataFrame:
    """Return the measured columns of the trials table, one row per trial (see `docs/reference/formats.md` for units).

    Percentiles need a record that kept its delays; without, they are NaN.
    """
    senders = sender_totals(record)
    scores = utility.score(record)
    networks, index = record.networks, record.network_index
    means = mean_trials(senders, networks.link_rate[index])
    sent, rtt = record.floats("trial_sent"), networks.rtt[index]
    failed = record.floats("sender_lost") + record.floats("sender_dropped")
    lost = np.bincount(record.sender_trial, weights=failed, minlength=record.trials)
    stalled = np.bincount(record.sender_trial, weights=record.floats("sender_stalled"), minlength=record.trials).astype(
        np.int64
    )
    columns: dict[str, NDArray[np.generic]] = {
        "score_bits": scores.score_bits,
        "throughput_share": means.throughput_share,
        "throughput_over_link": means.throughput_share / networks.link_rate[index],
        "delay_us": means.delay_us,
        "delay_over_rtt": np.divide(means.delay_us, rtt, out=np.full(record.trials, np.nan), where=rtt > 0),
        "fairness": means.fairness,
        "starved": scores.starved,
        "senders_counted": scores.senders_counted,
        "stalled_flows": stalled,
        "loss_fraction": lost / np.maximum(sent, 1),
        "utilisation": record.floats("trial_utilisation"),
        "queue_mean_packets": record.floats("trial_queue_mean_packets"),
        "packets_delivered": record["trial_delivered"],
    }
    for name in RTTS:
        found = record.columns.get(f"trial_{name}")
        columns[name] = np.full(record.trials, np.nan) if found is None else found
    return pd.DataFrame(columns)
