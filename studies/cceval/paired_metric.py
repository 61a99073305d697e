"""What a comparison of two policies takes in trials: on the same flows, on flows of their own, or by two estimates.

A comparison needs as many trials as the variance of what is compared. Two policies on flows of their own have the sum
of both variances, on the same flows that of the difference. Two estimates whose intervals must not overlap need more
than either: (s₁ + s₂)² in place of s₁² + s₂². What a trial was offered is known before it runs, with its mean over all
trials, so that it can be a control variate: what it explains of a metric need not be waited for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from lcca.evaluation.settling.intervals import t_interval

Floats = NDArray[np.float64]

FEW = 10
"""Trials of an experiment that may mislead: the most of those whose number CCEval's survey could find (§2.2.1)."""

RESAMPLED = 20_000


@dataclass(frozen=True)
class PairedMetric:
    """A metric of two policies, A and B, over the same trials.

    Attributes:
        trials: pairs.
        mean_a: over the trials, in the metric's unit.
        mean_b: the same of B.
        sd_a: standard deviation over them.
        sd_b: the same of B.
        correlation: between A and B, from trial to trial.
        difference: mean of B − A.
        low: lower end of its interval, paired Student's t.
        high: upper end.
        saved: (s_A² + s_B²) / s_(B−A)²: how many times fewer trials pairing takes.
        sign_paired: trials of each until the interval of a paired difference as large as this leaves 0 out.
        sign_independent: the same on flows of their own.
        sign_separate: the same for two estimates whose intervals must not overlap.
        percent_a: trials to know A to 1 %.
        percent_b: trials to know B to 1 %.
        percent_paired: trials of each to know the paired difference to 1 % of A.
        wrong_paired: share of experiments of ten pairs whose difference has the other sign; resampled.
        wrong_independent: the same of ten trials of each on flows of their own.
        left_a: share of A's variance that what was offered leaves.
        left_b: the same of B.
        left_difference: the same of the difference.
    """

    trials: int
    mean_a: float
    mean_b: float
    sd_a: float
    sd_b: float
    correlation: float
    difference: float
    low: float
    high: float
    saved: float
    sign_paired: float
    sign_independent: float
    sign_separate: float
    percent_a: float
    percent_b: float
    percent_paired: float
    wrong_paired: float
    wrong_independent: float
    left_a: float
    left_b: float
    left_difference: float


def paired_metric(
    a: Floats, b: Floats, offered: Mapping[str, Floats], rng: np.random.Generator, confidence: float = 0.95
) -> PairedMetric:
    """Return what a comparison by one metric takes.

    Args:
        a: (trials,) the metric of A.
        b: (trials,) of B on the same flows.
        offered: by name, (trials,) what the trials were offered.
        rng: resamples.
        confidence: of the interval and of all numbers of trials.

    Raises:
        ValueError: fewer than three pairs, or not as many of both.
    """
    if len(a) != len(b) or len(a) < 3:
        raise ValueError(f"at least three pairs are needed, got {len(a)} and {len(b)} trials")
    gap = b - a
    s_a, s_b, s_gap = (float(x.std(ddof=1)) for x in (a, b, gap))
    mean, low, high = t_interval(gap, 1 - confidence)
    independent = float(np.hypot(s_a, s_b))
    one = 0.01 * float(a.mean())

    def needed(spread: float, half: float) -> float:
        return float((ndtri((1 + confidence) / 2) * spread / half) ** 2) if half else np.inf

    wrong_paired, wrong_independent = wrong_signs(a, b, rng)
    return PairedMetric(
        trials=len(a),
        mean_a=float(a.mean()),
        mean_b=float(b.mean()),
        sd_a=s_a,
        sd_b=s_b,
        correlation=float(np.corrcoef(a, b)[0, 1]) if s_a * s_b else np.nan,
        difference=mean,
        low=low,
        high=high,
        saved=(independent / s_gap) ** 2 if s_gap else np.inf,
        sign_paired=needed(s_gap, mean),
        sign_independent=needed(independent, mean),
        sign_separate=needed(s_a + s_b, mean),
        percent_a=needed(s_a, one),
        percent_b=needed(s_b, 0.01 * float(b.mean())),
        percent_paired=needed(s_gap, one),
        wrong_paired=wrong_paired,
        wrong_independent=wrong_independent,
        left_a=variance_left(a, offered),
        left_b=variance_left(b, offered),
        left_difference=variance_left(gap, offered),
    )


def wrong_signs(a: Floats, b: Floats, rng: np.random.Generator, few: int = FEW) -> tuple[float, float]:
    """Return the shares of small experiments whose sign is not that of all trials: paired, and on flows of their own.

    Experiments are drawn with replacement from the trials at hand; no seed is looked for.
    """
    sign = np.sign((b - a).mean())
    at, other = (rng.integers(len(a), size=(RESAMPLED, few)) for _ in range(2))
    paired = (b[at] - a[at]).mean(axis=1)
    independent = b[other].mean(axis=1) - a[at].mean(axis=1)
    return float(np.mean(paired * sign < 0)), float(np.mean(independent * sign < 0))


def variance_left(values: Floats, offered: Mapping[str, Floats]) -> float:
    """Return the share of the variance that a line in what was offered leaves, corrected for the line's freedom."""
    columns = [each for each in offered.values() if np.ptp(each) > 0]
    free = len(values) - len(columns) - 1
    if free < 1 or not np.ptp(values):
        return 1.0
    design = np.column_stack([np.ones(len(values)), *[(each - each.mean()) / each.std() for each in columns]])
    fitted = design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return float(((values - fitted) ** 2).sum() / free / values.var(ddof=1))
