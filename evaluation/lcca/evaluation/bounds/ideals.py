"""What is possible on networks: ideals without a queue, and a bound that no policy exceeds, a row per trial."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.bounds import byte_switched
from lcca.evaluation.bounds.allocation import activity, least_served_first, most_even
from lcca.evaluation.bounds.bottleneck import Bottleneck, bottleneck
from lcca.evaluation.bounds.certified import upper_bound
from lcca.evaluation.trials.throughput_delay import ThroughputDelay
from lcca.evaluation.trials.utility import Utility
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Model, planned_flows
from lcca.remy_plus.network import Network

IDEALS = ("fair_bits", "causal_bits", "clairvoyant_bits", "upper_bits")
"""What is better and better in the mean: see `ideal_scores`."""

SCORES = (*IDEALS[:3], "gap_bits", IDEALS[3])


def ideal_scores(
    networks: Sequence[Network],
    seeds: Sequence[int],
    utility: Utility,
    duration: float,
    ack_size: float = Model().ack_size,
) -> pd.DataFrame:
    """Return what is possible in the trials of every network with every seed, a row each, in that order.

    On and off times are those of the trials, from the engine's streams. Nothing waits in a queue but in the upper
    bound, and what is under way at a trial's end counts as received, which is worth (rtt / duration) of throughput.
    Columns, in bits, NaN where no sender counts: network, seed, senders_counted,

    - fair_bits: the link is shared equally at every instant;
    - causal_bits: of those that are on, the least served comes first;
    - clairvoyant_bits: the best allocation by someone who knows all times;
    - gap_bits: by how much the best may be better than that, for want of precision;
    - upper_bits: no policy has an expected score above it (`lcca.evaluation.bounds.certified`).

    With byte-switched senders causal, clairvoyant and gap are NaN, and the bound is far
    (`lcca.evaluation.bounds.byte_switched`).

    Args:
        networks: with senders that come and go.
        seeds: of trials.
        utility: throughput and delay with any weights.
        duration: of a trial, µs.
        ack_size: of an acknowledgement, in packets, where they cross links.

    Raises:
        InputError: another utility, or networks for which there is no bound.
    """
    wanted = bounded_utility(utility)
    rows = []
    for network in networks:
        link = bottleneck(network, ack_size)
        for seed in seeds:
            ideals = _ideals(network, int(seed), link, wanted, duration)
            rows.append({"network": network.id, "seed": int(seed)} | ideals)
    return pd.DataFrame(rows)


def bounded_utility(utility: Utility) -> ThroughputDelay:
    """Return a utility that has ideals.

    Raises:
        InputError: it is another one than throughput and delay.
    """
    if isinstance(utility, ThroughputDelay):
        return utility
    raise InputError(f"utility {utility.name}: there are bounds for utilities of throughput and delay only")


def _ideals(
    network: Network, seed: int, link: Bottleneck, utility: ThroughputDelay, duration: float
) -> dict[str, float]:
    plan = planned_flows(network, seed, duration)
    first = np.full(network.senders, np.inf)
    np.minimum.at(first, plan.sender, plan.start_us)
    counted = first <= duration - link.round_trip_us
    found: dict[str, float] = {"senders_counted": int(counted.sum())} | dict.fromkeys(SCORES, np.nan)
    if not counted.any():
        return found

    def mean_bits(throughput: NDArray[np.float64]) -> float:
        return float(utility.of(throughput, link.round_trip_us).mean())

    if network.switched == "bytes":
        shared = byte_switched.ProcessorSharing(plan, network.senders, link, duration)
        throughput = link.rate * link.service_us * shared.packets[counted] / shared.share_us[counted]
        most = byte_switched.upper_bound(int(counted.sum()), network.senders, link, utility)
        return found | {"fair_bits": mean_bits(throughput), "upper_bits": most}
    everyone = activity(plan, network.senders, duration, link.lead_us)
    on, share = everyone.only(counted), activity(plan, network.senders, duration).share_us[counted]
    best, gap = most_even(on)
    return found | {
        "fair_bits": mean_bits(link.rate * share / share),
        "causal_bits": mean_bits(link.rate * least_served_first(everyone)[counted] / share),
        "clairvoyant_bits": mean_bits(link.rate * best / share),
        "gap_bits": utility.throughput_weight * gap / len(best) / math.log(2),
        "upper_bits": upper_bound(on, share, best * link.rate, link, utility),
    }
