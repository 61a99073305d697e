"""The figure of merit of contenders on a fabric: what flows of every size meet, in the middle and in the tail.

It is the mean of −log2 of the p50 and of the p99 of the slowdown over decades of sizes: up to eight numbers, each a
quantile of all flows of all trials of a contender. The many short flows have no more weight than the few long ones,
and one bit is a factor of two. Flows that did not finish count with what they take at least.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.fabric.trials import FabricTrial
from lcca.evaluation.settling.intervals import t_quantile
from lcca.evaluation.settling.quantiles import quantile_of_ranks, tail_quantiles
from lcca.remy_plus.core.elementary import log2, power

Floats = NDArray[np.float64]
Value = dict[str, float]
"""A number as `value`, and its 95 % interval from `low` to `high`; NaN where there is none."""

DECADES = tuple(pairwise((0.0, 10_000.0, 100_000.0, 1_000_000.0, math.inf)))
"""Of the sizes of flows, bytes."""
PERCENTILES = {"p50": 0.5, "p99": 0.99}
GUARD_PERCENT = 5.0
"""The median slowdown of the longest flows may be so much larger than the first contender's."""

PIECE = 256
"""Flows are counted by so many before one by one."""

ALPHA = 0.05
DRAWS = 400
"""Of units, with replacement: they give a standard error within about 4 %."""


Flows = tuple[Floats, ...]
"""Of some flows their slowdowns, decade by decade, then their completion times in µs; these empty where not kept."""

Plain = dict[str, tuple[Floats, Floats]]
"""By measure of `PLAIN` what `_together` returns."""

NONE: Flows = tuple(np.empty(0) for _ in 2 * DECADES)
STEPS = 2048
"""Of a packed slowdown, or time in ns, in a bit: 0.03 %."""

PLAIN = {"short_p99": ((0, 1), 1), "long_p50": ((3,), 0)}
"""What vendors ask for: decades of sizes whose flows are taken together, and which of the percentiles."""

MEASURES = {"merit": "figure of merit", "short_p99": "mean of training seeds' p99 slowdown of flows below 100 kB"}
"""By which training seeds are scored besides the score."""

TOGETHER = {"merit": tuple((i,) for i in range(len(DECADES))), "short_p99": (PLAIN["short_p99"][0],)}
"""By measure, the decades whose flows a quantile is of."""


def merits(trials: Iterable[FabricTrial]) -> dict[str, dict[str, Any]]:
    """Return the figure of merit of contenders over trials; differences are from the first that is no ideal."""
    found: dict[str, dict[int, Flows]] = {}
    plain: list[str] = []
    for each in trials:
        found.setdefault(each.policy, {})[each.seed] = by_decade(each)
        plain += [each.policy] if each.has_ports else []
    return merits_of(found, [*plain, *found, ""][0])


def merits_of(found: Mapping[str, Mapping[int, Flows]], against: str) -> dict[str, dict[str, Any]]:
    """Return the figure of merit by contender.

    The interval is by Student's t with the standard error of the bootstrap over units, whose flows resemble each other
    (Efron and Tibshirani 1993, chapter 8); differences draw the same units for both. Where few flows lie beyond a p99
    it is short: over a law with 60 flows of a size in a trial, which resemble each other, 95 % were 87, 91 and 93 %
    with 10, 20 and 40 trials. The intervals of the eight numbers are those of `tail_quantiles`.

    Args:
        found: by contender and unit: a trial, or all trials of a training seed, which is the unit of a signal set.
        against: the contender that differences are from.

    Returns:
        `against`; `merit_bits`; `difference_bits`; `decades`, the sizes in which every contender has flows, each with
        `size_from`, `size_to`, `flows`, `p50_bits` and `p99_bits`; `long_flows_percent`, by how much the median
        slowdown of flows from 1 MB is larger than that of `against`, None without such flows; `short_p99` of flows
        below 100 kB and `long_p50` of those from 1 MB, each a quantile of their `slowdown`, the `throughput_percent` by
        which its inverse, the throughput, is larger than that of `against`, of their time in `us`, and how many
        `us_more` that is.
    """
    units = list(dict.fromkeys(unit for own in found.values() for unit in own))
    slowdowns = {name: [own.get(unit, NONE) for unit in units] for name, own in found.items()}
    shared = [i for i in range(len(DECADES)) if all(any(map(len, _of(own, i))) for own in slowdowns.values())]
    weights = draws(len(units))
    drawn = {name: _drawn(own, shared, weights) for name, own in slowdowns.items()}
    plain = {name: {measure: _together(own, measure, weights) for measure in PLAIN} for name, own in slowdowns.items()}
    return {
        name: {
            "against": against,
            "merit_bits": with_interval(bits, len(units)),
            "difference_bits": with_interval(bits - drawn[against], len(units)),
            "decades": [_decade(slowdowns[name], i) for i in shared],
            "long_flows_percent": _longer(plain[name], plain[against]) if len(DECADES) - 1 in shared else None,
            **{each: _plain(own, plain[against][each], len(units)) for each, own in plain[name].items()},
        }
        for name, bits in drawn.items()
    }


def bits_by_unit(found: Mapping[str, Mapping[int, Flows]]) -> dict[str, dict[str, dict[int, float]]]:
    """Return, by measure (`MEASURES`), contender and unit, −log2 of the quantiles of that unit's flows alone.

    The figure of merit is over the sizes in which all have flows. Arguments as of `merits_of`.
    """
    every, once = [flows for own in found.values() for flows in own.values()], np.ones((1, 1), dtype=np.int64)
    shared = [i for i in range(len(DECADES)) if all(len(flows[i]) for flows in every)]
    bits: dict[str, dict[str, dict[int, float]]] = {measure: {name: {} for name in found} for measure in MEASURES}
    for name, own in found.items():
        for unit, flows in own.items():
            merit, short = _drawn([flows], shared, once), -log2(_together([flows], "short_p99", once)[0])
            for measure, value in zip(MEASURES, (merit, short), strict=True):
                if math.isfinite(value[0]):
                    bits[measure][name][unit] = float(value[0])
    return bits


def by_decade(trial: FabricTrial) -> Flows:
    """Return what a trial's flows take; of those that did not finish lower bounds, where they say anything."""
    parts = [trial.times.telling.of_sizes(*ends) for ends in DECADES]
    return (*(each.slowdown for each in parts), *(each.at_least_us for each in parts))


def unfinished_percent(trials: Iterable[FabricTrial]) -> float:
    """Return the share of flows that did not finish in that decade where it is largest: a mean over trials."""
    begun, open_ = np.stack([_counts(each) for each in trials], axis=1)
    shares = (100 * own_open[own > 0] / own[own > 0] for own, own_open in zip(begun.T, open_.T, strict=True))
    return max((float(own.mean()) for own in shares if len(own)), default=0.0)


def _counts(trial: FabricTrial) -> NDArray[np.int64]:
    """Return (2, decades) flows, and those of them that did not finish."""
    finished = [trial.times.of_sizes(*ends).finished for ends in DECADES]
    return np.array([list(map(len, finished)), [int((~own).sum()) for own in finished]], dtype=np.int64)


def packed_counts(trial: bytes) -> NDArray[np.int64]:
    """Return the same of a packed trial."""
    counts = np.frombuffer(trial, dtype="<u4", count=len(DECADES)).astype(np.int64)
    if len(trial) < 4 * (3 * len(DECADES) + counts.sum()):
        return np.stack([counts, 0 * counts])
    return np.frombuffer(trial[-8 * len(DECADES) :], dtype="<u4").reshape(2, -1).astype(np.int64)


def packed(trial: FabricTrial) -> bytes:
    """Return what flows of a trial take in four bytes each, for `unpacked`; then counts, if any did not finish."""
    *slowdowns, a, b, c, d = by_decade(trial)
    values = [*slowdowns, *(1000 * each for each in (a, b, c, d))]
    steps = [np.clip(np.round(log2(np.sort(each)) * STEPS), 0, 2**16 - 1) for each in values]
    found = np.array(list(map(len, slowdowns)), dtype="<u4").tobytes() + np.concatenate(steps).astype("<u2").tobytes()
    return found + (counts.astype("<u4").tobytes() if (counts := _counts(trial))[1].any() else b"")


def unpacked(trials: Iterable[bytes]) -> Flows:
    """Return what flows of packed trials take together; no times where any trial was kept without."""
    parts: list[list[Floats]] = [[np.empty(0)] for _ in 2 * DECADES]
    timed = True
    for each in trials:
        counts = np.frombuffer(each, dtype="<u4", count=len(DECADES))
        steps = np.frombuffer(each, dtype="<u2", offset=4 * len(DECADES))[: 2 * int(counts.sum())]
        values = power(2.0, steps / STEPS)
        timed = timed and len(values) == 2 * counts.sum()
        for own, some in zip(parts, np.split(values, np.cumsum([*counts, *counts])[:-1]), strict=True):
            own.append(some)
    slowdowns, times = (list(map(np.concatenate, half)) for half in (parts[: len(DECADES)], parts[len(DECADES) :]))
    return (*slowdowns, *(each / 1000 if timed else np.empty(0) for each in times))


def _of(units: Sequence[Flows], decade: int) -> list[Floats]:
    return [each[decade] for each in units]


def _together(units: Sequence[Flows], measure: str, weights: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return (1 + draws,) of a quantile of `PLAIN`: of slowdowns, and of times in µs."""
    decades, which = PLAIN[measure]
    slowdown, us = (
        pooled_quantiles([np.concatenate([each[i + more] for i in decades]) for each in units], weights)[:, which]
        for more in (0, len(DECADES))
    )
    return slowdown, us


def _plain(own: tuple[Floats, Floats], first: tuple[Floats, Floats], units: int) -> dict[str, Value]:
    (slowdown, us), (least, us_first) = own, first
    values = {"slowdown": slowdown, "throughput_percent": 100 * (least / slowdown - 1), "us": us}
    return {name: with_interval(each, units) for name, each in (values | {"us_more": us - us_first}).items()}


def draws(units: int) -> NDArray[np.int64]:
    """Return (1 + draws, units) how often each unit counts: once, and as often as it is drawn."""
    drawn = np.random.default_rng(0).integers(units, size=(DRAWS, units))
    counts = [np.ones(units, dtype=np.int64), *(np.bincount(each, minlength=units) for each in drawn)]
    return np.array(counts, dtype=np.int64)


def _drawn(units: Sequence[Flows], decades: Sequence[int], weights: NDArray[np.int64]) -> Floats:
    """Return (1 + draws,) figures of merit; NaN where a draw has no flows of a decade."""
    bits = [-log2(pooled_quantiles(_of(units, i), weights)).mean(axis=1) for i in decades]
    return np.mean(bits, axis=0) if bits else np.full(len(weights), np.nan)


def pooled_quantiles(units: Sequence[Floats], weights: NDArray[np.int64]) -> Floats:
    """Return (weights, percentiles) of the flows of units that count so often; NaN without any."""
    values, unit = np.concatenate(units), np.repeat(np.arange(len(units)), list(map(len, units)))
    order = np.argsort(values, kind="stable")
    values, unit = values[order], unit[order]
    found = np.full((len(weights), len(PERCENTILES)), np.nan)
    each_piece = np.zeros((-(-len(values) // PIECE), len(units)), dtype=np.int64)
    np.add.at(each_piece, (np.arange(len(values)) // PIECE, unit), 1)
    for row, (counts, upto) in enumerate(zip(weights, np.cumsum(weights @ each_piece.T, axis=1), strict=True)):
        if not len(upto) or (flows := int(upto[-1])) == 0:
            continue

        def ranked(k: int, counts: NDArray[np.int64] = counts, upto: NDArray[np.int64] = upto) -> float:
            piece = int(np.searchsorted(upto, k, side="right"))
            own = slice(piece * PIECE, (piece + 1) * PIECE)
            inside = np.cumsum(counts[unit[own]]) + (upto[piece - 1] if piece else 0)
            return float(values[own][np.searchsorted(inside, k, side="right")])

        found[row] = [quantile_of_ranks(flows, p, ranked) for p in PERCENTILES.values()]
    return found


def with_interval(drawn: Floats, units: int) -> Value:
    """Return what all units say, and its interval; none for one, or for units that are all the same."""
    value, others = float(drawn[0]), drawn[1:][np.isfinite(drawn[1:])]
    spread = float(others.std()) if len(others) > 1 else math.nan
    if units < 2 or not math.isfinite(value) or (spread == 0 and value != 0):
        return {"value": value, "low": math.nan, "high": math.nan}
    reach = t_quantile(units - 1, ALPHA) * spread * math.sqrt(units / (units - 1))
    return {"value": value, "low": value - reach, "high": value + reach}


def _decade(units: Sequence[Flows], decade: int) -> dict[str, Any]:
    own, (low, high) = _of(units, decade), DECADES[decade]
    row: dict[str, Any] = {"size_from": low, "size_to": high, "flows": sum(map(len, own))}
    quantiles = tail_quantiles(own, PERCENTILES.values(), confidence=1 - ALPHA)
    for name, found in zip(PERCENTILES, quantiles, strict=True):
        bits = [-math.log2(end) if 0 < end < math.inf else math.nan for end in (found.value, found.high, found.low)]
        row[f"{name}_bits"] = dict(zip(("value", "low", "high"), bits, strict=True))
    return row


def _longer(own: Plain, first: Plain) -> float:
    slowdowns = (float(each["long_p50"][0][0]) for each in (own, first))
    return 100 * (next(slowdowns) / next(slowdowns) - 1)


def starved(row: Mapping[str, Any]) -> str:
    """Return what must be said beside a verdict on a contender: its long flows pay for it; empty if they do not."""
    percent = row["long_flows_percent"]
    if percent is None or percent <= GUARD_PERCENT:
        return ""
    return f"long flows pay: median slowdown from 1 MB {percent:+.0f} %"
