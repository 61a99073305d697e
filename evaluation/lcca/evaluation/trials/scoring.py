"""From what the engine returns to scores and to the rows of the trials table."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.trials.utility import SenderTotals, Utility, latest_start_us, mean_trials, score_trials
from lcca.remy_plus.engine import Batch

Floats = NDArray[np.float64]

PERCENTILES = ("rtt_p50_us", "rtt_p90_us", "rtt_p95_us", "rtt_p99_us", "rtt_p999_us")


def sender_totals(batch: Batch) -> SenderTotals:
    """Return the batch's senders in the form that utilities are computed from.

    Packets whose acknowledgement was dropped count as delivered, with the mean delay of the sender's other ones; a
    sender that never heard of any counts as one that received nothing.
    """
    networks, index = batch.networks, batch.network_index
    delivered = batch.floats("sender_delivered")
    heard = delivered - batch.floats("sender_acks_dropped") if "sender_acks_dropped" in batch.columns else delivered
    unheard = np.divide(delivered, heard, out=np.ones_like(heard), where=heard > 0)  # 1 on a plain dumbbell
    return SenderTotals(
        delivered=np.where(heard > 0, delivered, 0.0),
        delay_sum_us=batch.floats("sender_delay_sum_us") * unheard,
        share_us=batch.floats("sender_share_us"),
        first_on_us=batch.floats("sender_first_on_us"),
        trial=batch.sender_trial,
        latest_start_us=latest_start_us(
            batch.duration, networks.rtt[index] + batch.further_service_us, networks.link_rate[index]
        ),
    )


def trial_scores(batch: Batch, utility: Utility) -> Floats:
    """Return (trials,) scores in bits for a search.

    A trial in which nobody sends counts 0 for every policy alike: it changes no difference between policies.
    """
    return np.nan_to_num(score_trials(utility, sender_totals(batch)).score_bits, nan=0.0)


def trial_rows(batch: Batch, utility: Utility) -> pd.DataFrame:
    """Return the measured columns of the trials table, one row per trial (see `docs/formats.md` for units).

    Percentiles need a batch that kept its delays; without, they are NaN.
    """
    senders = sender_totals(batch)
    scores = score_trials(utility, senders)
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
