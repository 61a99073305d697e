"""Ideals as a few numbers: means with standard errors, the population's fair share, and shares of a gap closed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from lcca.evaluation.bounds.bottleneck import bottleneck
from lcca.evaluation.bounds.ideals import IDEALS, bounded_utility
from lcca.evaluation.scenarios.networks import DrawnNetworks, NetworkSpace
from lcca.evaluation.scenarios.spaces import NetworkSpaces
from lcca.evaluation.trials.utility import Utility
from lcca.inputs.json_values import finite
from lcca.remy_plus.engine import Model
from lcca.remy_plus.network import Network

WORDS = {
    "fair_bits": "equal shares at every instant, no queue",
    "causal_bits": "the least-served sender first, no queue",
    "clairvoyant_bits": "best allocation, all times known, no queue",
    "upper_bits": "upper bound: no policy is better",
}
"""What ideals are, for tables."""


def ideal_summary(scores: pd.DataFrame, block: int = 1) -> dict[str, Any]:
    """Return the means of `ideal_scores` in bits, `…_se` their standard errors, and how much they rest on.

    Args:
        scores: rows in the order of the networks.
        block: networks of a stratified draw that make one unit; standard errors are those of the units' means.
    """
    units = scores[list(IDEALS)].groupby(np.arange(len(scores)) // block).mean()
    found: dict[str, Any] = {"networks": len(scores), "counted": int((scores["senders_counted"] > 0).sum())}
    for name in IDEALS:
        known = units[name].dropna()
        found[name] = float(known.mean()) if len(known) else None
        found[f"{name}_se"] = float(known.std(ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else None
    return found | {"gap_bits": finite(float(scores["gap_bits"].max()))}


def population_fair_bits(space: DrawnNetworks, utility: Utility) -> float | None:
    """Return the mean score of the fair share over all networks of a space of time-switched senders, in bits.

    In closed form: each sender gets link_rate·(1 − loss) of its share of time, and packets take rtt + 1/link_rate. None
    for byte-switched senders, where the share depends on how long flows take, and for lists among several spaces.
    """
    wanted = bounded_utility(utility)
    if isinstance(space, NetworkSpaces):
        sources = [each.source for each in space.parts]
        parts = [population_fair_bits(each, utility) if isinstance(each, NetworkSpace) else None for each in sources]
        known = [bits for bits in parts if bits is not None]
        weights = [each.weight for each in space.parts]
        return float(np.average(known, weights=weights)) if len(known) == len(weights) else None
    if not isinstance(space, NetworkSpace) or space.switched != "time":
        return None
    names = ("link_rate", "rtt", "loss") + (() if space.topology.plain else ("senders",))
    scores = []
    for levels in product(*(space.levels_of(name) for name in names)):
        drawn: dict[str, Any] = dict(zip(names, levels, strict=True))
        senders = int(drawn.pop("senders", 1))
        network = Network(0, senders=senders, buffer=1, mean_on=1, mean_off=1, topology=space.topology, **drawn)
        link = bottleneck(network, Model().ack_size)
        scores.append(float(wanted.of(link.rate, link.round_trip_us)))
    return float(np.mean(scores))


def gap_closed(score: float, baseline: float, ideal: float | None) -> float | None:
    """Return which share of the way from a baseline's score to an ideal's another score goes; None if there is none."""
    if ideal is None or not ideal > baseline or math.isnan(score):
        return None
    return (score - baseline) / (ideal - baseline)


def beside_ideals(ideals: Mapping[str, Any], scores: Mapping[str, float], baseline: str) -> dict[str, Any]:
    """Return ideals with policies beside them.

    Args:
        ideals: of `ideal_summary`.
        scores: mean score in bits by policy, on the networks of the ideals.
        baseline: the policy from which the gap is counted.
    """
    rows = beside_fair_share("policy", ideals["fair_bits"], scores, baseline)
    return dict(ideals) | {"baseline": baseline, "policies": rows}


def beside_fair_share(
    what: str, fair: float | None, scores: Mapping[str, float], baseline: str
) -> list[dict[str, Any]]:
    """Return a row per score: how far it is below the fair share, and which share of the baseline's gap it closes.

    Args:
        what: key of the names.
        fair: score of the fair share in bits; None where it is not known.
        scores: mean scores in bits by name.
        baseline: the name from which the gap is counted.
    """
    return [
        {
            what: name,
            "score_bits": finite(score),
            "below_fair_bits": None if fair is None else finite(fair - score),
            "gap_closed": None if name == baseline else gap_closed(score, scores[baseline], fair),
        }
        for name, score in scores.items()
    ]
