"""Control variates: a mean over expensive trials, corrected by cheap ones whose mean is known better.

Each expensive trial has a cheap one with the same flows, and there are other cheap ones. With values F and C
of a pair and M, the mean of the others, the estimate is the mean of F − β·(C − M) (Glasserman, Monte Carlo Methods in
Financial Engineering, section 4.1; with M estimated, Schmeiser, Taaffe and Wang, IIE Transactions 2001). A β that the
trials themselves had a part in would bias it by O(1/n): here the β of a pair comes from pairs of other folds, so that
β and C are independent, and E[β·(C − M)] is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lcca.evaluation.settling.intervals import t_interval, t_quantile
from lcca.inputs.json_values import finite_values
from lcca.studies.cceval.estimators.estimate import Estimate, EstimateConfig, Estimating, Floats

FOLDS = 10
MOST_PER_TRIAL = 1000.0
"""Cheap trials for each expensive one."""


@dataclass(frozen=True, eq=False)
class ControlMean:
    """A mean corrected by a control variate, and its interval.

    Attributes:
        estimate: of the mean of expensive trials.
        low: lower end of its interval.
        high: upper end.
        beta: mean over pairs.
        correlation: of expensive and cheap trials with the same flows.
        parts: (pairs,) what each adds: F − β·(C − M).
        variance: of the estimate.
    """

    estimate: float
    low: float
    high: float
    beta: float
    correlation: float
    parts: Floats
    variance: float


def control_mean(full: Floats, cheap: Floats, others: Floats, confidence: float = 0.95) -> ControlMean:
    """Return the mean of expensive trials by pairs and other cheap trials.

    The interval is Student's t with Welch's degrees of freedom, over the errors of both parts: of what β·C leaves of F,
    and of β·M.

    Args:
        full: (pairs,) values of expensive trials, four at least.
        cheap: (pairs,) of cheap trials with the same flows.
        others: (cheap trials,) with other flows, two at least.
        confidence: of the interval.
    """
    n, m = full.size, others.size
    beta = crossed_slopes(full, cheap)
    parts = full - beta * (cheap - others.mean())
    of_pairs = float((full - beta * cheap).var(ddof=2)) / n
    of_others = float(beta.mean()) ** 2 * float(others.var(ddof=1)) / m
    variance, estimate = of_pairs + of_others, float(parts.mean())
    degrees = _welch((of_pairs, n - 2), (of_others, m - 1))
    reach = t_quantile(degrees, 1 - confidence) * math.sqrt(variance)
    ends = (estimate, estimate - reach, estimate + reach)
    return ControlMean(*ends, float(beta.mean()), correlation(full, cheap), parts, variance)


def crossed_slopes(full: Floats, cheap: Floats) -> Floats:
    """Return (pairs,) the slope of full over cheap in all folds but the pair's own; 0 where cheap does not vary."""
    fold = np.arange(full.size) % min(FOLDS, full.size // 2)
    found = np.zeros(full.size)
    for number in range(fold.max() + 1):
        x, y = cheap[fold != number], full[fold != number]
        spread = float(((x - x.mean()) ** 2).sum())
        found[fold == number] = float(((x - x.mean()) * (y - y.mean())).sum()) / spread if spread > 0 else 0.0
    return found


def correlation(full: Floats, cheap: Floats) -> float:
    """Return the correlation over pairs; 0 where either does not vary."""
    return float(np.corrcoef(full, cheap)[0, 1]) if full.std() > 0 and cheap.std() > 0 else 0.0


def best_per_trial(found: float, cost: float) -> float:
    """Return how many other cheap trials for each expensive one give the least variance at a budget, from 1 to 1,000.

    √(ρ²/(1 − ρ²)/cost): with n expensive trials that cost 1 + cost and k·n cheap ones, the variance is
    σ²·(1 − ρ² + ρ²/k)/n.

    Args:
        found: the correlation ρ.
        cost: of a cheap trial over that of a expensive one.
    """
    left = 1 - found**2
    best = math.sqrt((1 + cost) * found**2 / (left * cost)) if left > 0 else math.inf
    return min(max(best, 1.0), MOST_PER_TRIAL)


def _welch(*terms: tuple[float, int]) -> int:
    """Return Welch's and Satterthwaite's degrees of freedom of a sum of variances, each with its own."""
    below = sum(variance**2 / degrees for variance, degrees in terms)
    least = min(degrees for _, degrees in terms)
    return max(int(sum(variance for variance, _ in terms) ** 2 / below), 1) if below > 0 else least


class Controlled(Estimating):
    """An estimation with a control variate: fed with pairs of values of expensive and cheap trials.

    Args:
        config: what is asked for: a mean over trials, or over the trials' own quantiles.
        others: returns the values of so many other cheap trials, or of a few less where some have none.
        per_trial: other cheap trials for each expensive one; None: the best by the pairs of the first look.
        cost: of a cheap trial over that of a expensive one.
    """

    def __init__(
        self, config: EstimateConfig, others: Callable[[int], Floats], per_trial: float | None, cost: float
    ) -> None:
        super().__init__(config)
        self.others, self.per_trial, self.cost = others, per_trial, cost
        self.found: ControlMean | None = None
        self.cheap_trials = 0
        self._cheap: list[float] = []

    @property
    def state(self) -> Estimate:
        """The last look as a result, with the control in its words."""
        words = "control variate: mean over trials less β × (that of cheap trials − their mean), Student's t"
        return replace(super().state, method=words)

    def to_json(self) -> dict[str, Any]:
        """Return what is known of the control as JSON values, and what plain trials alone would say."""
        if self.found is None:
            return {}
        full, found = self.values, self.found
        mean, low, high = t_interval(full, 1 - self.config.confidence)
        plain = float(full.var(ddof=1)) / full.size
        return finite_values(
            {
                "beta": found.beta,
                "correlation": found.correlation,
                "per_trial": self.per_trial,
                "cheap_trials": self.cheap_trials,
                "variance_ratio": found.variance / plain if plain > 0 else None,
                "plain": {"estimate": mean, "low": low, "high": high},
            }
        )

    def _take(self, trial: ArrayLike) -> None:
        full, cheap = self._finite(trial)
        self._numbers.append(float(full))
        self._cheap.append(float(cheap))
        self._n += 1

    def _interval(self) -> tuple[float, float, float, Floats]:
        full, cheap = self.values, np.array(self._cheap)
        if self.per_trial is None:
            self.per_trial = best_per_trial(correlation(full, cheap), self.cost)
        self.cheap_trials = max(math.ceil(self.per_trial * full.size), 2)
        self.found = control_mean(full, cheap, self.others(self.cheap_trials), self.config.confidence)
        return self.found.estimate, self.found.low, self.found.high, self.found.parts
