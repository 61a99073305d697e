"""Verdicts on many regions at once: the share of false ones among those given is bounded.

A bound of its own for every region would let chance find something on one of twenty. With Benjamini and
Hochberg's (1995) rule at most `LEVEL` of the discoveries are false on average. It is applied to two
families apart: "there is a difference", and "the difference is inside the margin".
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.evaluation.settling.base import FEWEST_ALIKE
from lcca.evaluation.settling.judgement import Direction, Verdict
from lcca.evaluation.settling.sequence import SHORTEST_TUNING, half_width, log_e_value, mixture_scale

Floats = NDArray[np.float64]

LEVEL = 0.05


@dataclass(frozen=True)
class Evidence:
    """What one unit (a region) says about B − A, larger being better.

    Attributes:
        mean: of the differences.
        p_difference: p-value of "the mean difference is 0".
        p_equivalence: p-value of "the mean difference is not inside the margin", two-sided, so that for
            one unit alone it is the interval at confidence 1 − level that must lie inside.
    """

    mean: float
    p_difference: float
    p_equivalence: float


def q_values(p: ArrayLike) -> Floats:
    """Return p-values adjusted by Benjamini and Hochberg; a NaN stays one and does not count."""
    values = np.asarray(p, dtype=np.float64)
    adjusted = np.full_like(values, np.nan)
    known = np.isfinite(values)
    if known.any():
        order = np.argsort(values[known])[::-1]  # from the largest
        steps = values[known][order] * (order.size / np.arange(order.size, 0, -1))
        adjusted[np.flatnonzero(known)[order]] = np.minimum.accumulate(np.minimum(steps, 1))
    return adjusted


def controlled_verdicts(evidence: Sequence[Evidence], level: float = LEVEL) -> list[Verdict]:
    """Return a verdict per unit, with the false-discovery rate controlled over all of them."""
    differ = q_values([each.p_difference for each in evidence]) <= level
    alike = q_values([each.p_equivalence for each in evidence]) <= level
    return [_verdict(*each) for each in zip(evidence, differ, alike, strict=True)]


def _verdict(evidence: Evidence, differs: np.bool_, alike: np.bool_) -> Verdict:
    direction: Direction = "0" if not differs else "+" if evidence.mean > 0 else "-"
    if alike:
        return Verdict("equivalent", direction=direction)
    if not differs:
        return Verdict()
    return Verdict("better" if direction == "+" else "worse", direction=direction)


@dataclass(frozen=True)
class Sequential:
    """The mean of a stream of differences that was stopped at a time that depended on what was seen.

    Attributes:
        n: blocks.
        mean: their mean; NaN without any.
        low: lower end of the confidence sequence, −inf while there are too few.
        high: upper end.
        evidence: p-values 1/e. On these, Benjamini and Hochberg's rule is e-BH, which needs neither a
            fixed n nor independent units.
    """

    n: int
    mean: float
    low: float
    high: float
    evidence: Evidence


def sequential(differences: ArrayLike, margin: float, alpha: float = LEVEL) -> Sequential:
    """Return what differences of blocks (`units`), in the order in which they were planned, say at any time.

    The mixture is tuned by the first of them and then frozen, as in `SettlingRule`.
    """
    d = np.asarray(differences, dtype=np.float64)
    n, mean = d.size, float(d.mean()) if d.size else math.nan
    spread = float(d.std(ddof=1)) if n > 1 else 0.0
    if n < SHORTEST_TUNING or (spread == 0 and n < FEWEST_ALIKE):
        return Sequential(n, mean, -math.inf, math.inf, Evidence(mean, 1.0, 1.0))
    g = mixture_scale(float(d[:SHORTEST_TUNING].std(ddof=1)), margin, alpha)
    width, slack = half_width(n, spread, g, alpha), margin - abs(mean)
    inside = log_e_value(n, slack, spread, g) if slack > 0 else 0.0
    evidence = Evidence(mean, _p(log_e_value(n, mean, spread, g)), _p(inside))
    return Sequential(n, mean, mean - width, mean + width, evidence)


def _p(log_e: float) -> float:
    return math.exp(-max(log_e, 0.0))
