"""An upper bound on the score of any policy with time-switched senders, by the dual of the clairvoyant's program.

A policy can beat the clairvoyant allocation in one way only: a sender that goes off may leave packets in the queue,
which are served while others are on. They wait. Let x be what is served of a sender while it is on and v what it leaves
behind, over its m times of going off. What is left at one of them waits until those before are served, so that all
delays together are at least R·(x + v) + max(0, v²/m − v)/(2C) (v²/m by convexity; the packet in service does not wait).
With prices p(t) >= 0 of what the link serves, λ the least while a sender is on and q the least after it first went off,
weak duality gives, in nats,

    Σ u <= Σ p(t)·C·dt + Σ max over x, v of  c_t·ln((x + v)/s) − c_d·ln(D/100) − λ·x − q·v.

It holds for any prices; those of the clairvoyant's dual make it tight. Random losses take their share of everything:
with them the bound is one on the expected score, and a trial may be luckier by −c_t·log2(1 − loss) at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.bounds.allocation import Activity
from lcca.evaluation.bounds.bottleneck import Bottleneck
from lcca.evaluation.trials.throughput_delay import FLOOR_THROUGHPUT, REFERENCE_DELAY_US, ThroughputDelay
from lcca.remy_plus.core.elementary import log

Floats = NDArray[np.float64]

GRID = 129
ZOOMS = 6


@dataclass(frozen=True, eq=False)
class Prices:
    """What the link's time costs, in nats.

    Attributes:
        total: of all that the link can serve.
        on: (senders,) of a packet at the cheapest time at which its sender is on.
        after: (senders,) of a packet at the cheapest time after its sender first went off.
        departures: (senders,) how often it goes off.
    """

    total: float
    on: Floats
    after: Floats
    departures: NDArray[np.int64]


def prices(activity: Activity, packets: Floats, rate: float, weight: float) -> Prices:
    """Return the prices at which senders would buy these packets: weight / packets of the poorest that is on."""
    on = activity.on
    price = weight * np.where(on, 1 / packets, 0.0).max(axis=1)
    least = np.where(on, price[:, None], np.inf).min(axis=0)
    leaves = on[:-1] & ~on[1:]
    off_before = np.vstack([np.zeros((1, on.shape[1]), dtype=bool), np.logical_or.accumulate(leaves, axis=0)])
    after = np.where(off_before, price[:, None], np.inf).min(axis=0)
    return Prices(float((price * activity.length_us).sum()) * rate, least, after, leaves.sum(axis=0))


def upper_bound(
    activity: Activity, share_us: Floats, packets: Floats, link: Bottleneck, utility: ThroughputDelay
) -> float:
    """Return what a trial's score cannot exceed, in bits.

    Args:
        activity: of the senders that count.
        share_us: (senders,) by which their throughput is judged.
        packets: (senders,) an allocation, from which prices are made.
        link: what they share.
        utility: throughput and delay.
    """
    c_t, c_d = utility.throughput_weight, utility.delay_weight
    alone = -c_d * math.log2(link.round_trip_us / REFERENCE_DELAY_US)
    if c_t == 0:
        return float(alone)
    paid = prices(activity, packets, link.rate, c_t)
    total = float(activity.length_us.sum()) / link.service_us
    most = np.minimum(np.where(paid.departures > 0, np.maximum(paid.departures, 1) * link.waiting, 0.0), total)
    best = _most_gained(paid, most, c_t, c_d, 2 * link.round_trip_us / link.service_us)
    each = np.maximum(best - c_t * log(share_us), c_t * math.log(FLOOR_THROUGHPUT))
    return float((paid.total + each.sum()) / len(each) / math.log(2) + alone)


def _most_gained(paid: Prices, most: Floats, c_t: float, c_d: float, wait: float) -> Floats:
    """Return each sender's maximum of c_t·ln(x + v) − c_d·ln(D/R) − λ·x − q·v over x and v <= `most`, nats.

    `wait` is 2CR. The maximum over x has a closed form; that over v is searched on grids, finer and finer.
    """
    after = np.where(np.isfinite(paid.after), paid.after, 0.0)[:, None]
    times, price = np.maximum(paid.departures, 1)[:, None], paid.on[:, None]

    def gain(v: Floats) -> Floats:
        waits = np.maximum(v * v / times - v, 0) / wait
        half = c_t - price * waits
        y = (half + np.sqrt(half * half + 4 * price * (c_t + c_d) * waits)) / (2 * price)
        y = np.maximum(y, v)
        found: Floats = (c_t + c_d) * log(y) - c_d * log(y + waits) - price * (y - v) - after * v
        return found

    low, high = np.zeros_like(most), most
    best = gain(np.minimum(times, most[:, None]))[:, 0]  # the kink, where nothing waits yet
    for zoom in range(ZOOMS):
        along = np.linspace(0, 1, GRID)
        v = low[:, None] + (high - low)[:, None] * (along * along * along if zoom == 0 else along)
        found = gain(v)
        at = found.argmax(axis=1)
        rows = np.arange(len(at))
        best = np.maximum(best, found[rows, at])
        low, high = v[rows, np.maximum(at - 1, 0)], v[rows, np.minimum(at + 1, GRID - 1)]
    return best
