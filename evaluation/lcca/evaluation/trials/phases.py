"""Where bits go by phase of a trial: round trips since a flow last came or went.

What a trial loses to utilisation is shared out in proportion to the packets that the link did not carry in each phase,
what it loses to delay in proportion to how long packets waited in each, sender by sender. So phases add up to the
trial's parts. They can be below 0, as where a phase serves what was queued in another one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.trials.outcome import Scored
from lcca.evaluation.trials.throughput_delay import REFERENCE_DELAY_US, ThroughputDelay, counted_senders, sender_totals
from lcca.evaluation.trials.utility import Floats
from lcca.remy_plus.record import PHASES

PARTS = ("time_share", "utilisation_bits", "delay_bits")
"""Of a phase: its share of the time in which anybody was on, and what the trial loses in it."""

SMALL = 1e-6
"""A part of its whole so small that the logarithm is taken as its series: there the error is less than rounding."""


def columns_by_phase(trials: Scored) -> dict[str, Floats]:
    """Return `PARTS` of every phase, ``phase_<name>_<part>``, (trials,) each, of a record with phases.

    NaN where the trial has no gap (see `lcca.evaluation.trials.throughput_delay.gap_to_fair_share`).
    """
    parts = np.full((len(PARTS), trials.record.trials, len(PHASES)), np.nan)
    if isinstance(trials.utility, ThroughputDelay):
        parts = _by_phase(trials, trials.utility)
        parts[:, np.isnan(trials.gap.total)] = np.nan
    return {f"phase_{phase}_{part}": parts[i, :, k] for k, phase in enumerate(PHASES) for i, part in enumerate(PARTS)}


def _by_phase(trials: Scored, wanted: ThroughputDelay) -> Floats:
    """Return the parts, (parts, trials, phases)."""
    record, senders = trials.record, sender_totals(trials.record)
    counted = senders.counted()
    trial, n = senders.trial[counted], np.maximum(np.bincount(senders.trial[counted], minlength=senders.trials), 1)
    share, heard, delays = (
        record.floats(f"sender_phase_{name}")[counted] for name in ("share_us", "delivered", "delay_sum_us")
    )
    received, known = senders.delivered[counted], heard.sum(axis=1)
    unheard = np.divide(received, known, out=np.zeros(len(trial)), where=known > 0)[:, None]

    index = record.network_index
    rate = np.array([each.link_rate * (1 - each.loss) for each in record.networks.networks])[index]
    on = _sums(share, trial, senders.trials)
    missing: Floats = rate[:, None] * on - _sums(heard * unheard, trial, senders.trials)
    carried = rate * on.sum(axis=1)
    lost = _shared_out(trials.gap.utilisation, missing, carried, -wanted.throughput_weight / math.log(2))

    round_trip = record.networks.round_trips_us(record.ack_size)[index][trial]
    waited = (delays - heard * round_trip[:, None]) * unheard
    own = -wanted.of(1.0, counted_senders(senders)[1] / round_trip * REFERENCE_DELAY_US) / n[trial]
    late = _shared_out(own, waited, received * round_trip, wanted.delay_weight / n[trial] / math.log(2))
    starved = received == 0
    late[starved] = (own / np.maximum(share.sum(axis=1), SMALL))[starved, None] * share[starved]
    whole = on.sum(axis=1, keepdims=True)
    time = np.divide(on, whole, out=np.full_like(on, np.nan), where=whole > 0)
    return np.stack([time, lost, _sums(late, trial, senders.trials)])


def _sums(values: Floats, trial: NDArray[np.integer[Any]], trials: int) -> Floats:
    """Return sums over the senders of each trial, (trials, phases)."""
    return np.stack([np.bincount(trial, weights=column, minlength=trials) for column in values.T], axis=1)


def _shared_out(bits: Floats, parts: Floats, whole: Floats, slope: Floats | float) -> Floats:
    """Return bits in proportion to parts, (…, phases), whose sum is a small share of the whole, or not.

    The bits are |slope|·ln(1 ± x) with x the share of the sum; as x goes to 0, a part has slope·(part / whole).
    """
    total = parts.sum(axis=-1)
    x = np.divide(total, whole, out=np.zeros_like(total), where=whole > 0)
    series = np.abs(slope) * (1 - np.sign(slope) * x / 2)
    each = np.where(np.abs(x) > SMALL, np.divide(bits, x, out=series.copy(), where=np.abs(x) > SMALL), series)
    return np.asarray(parts * np.divide(each, whole, out=np.zeros_like(total), where=whole > 0)[..., None])
