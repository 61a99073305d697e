"""A pooled tail quantile by importance sampling where that can be trusted, by plain trials where not (CCEval §4.3).

What the attempt at importance sampling fails first is named, and the pooled quantile of plain trials with its
cluster-Woodruff interval is delivered instead; plain trials of the search are part of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcca.evaluation.settling.quantiles import tail_quantile
from lcca.inputs.json_values import finite_values
from lcca.studies.cceval.importance.attempt import Attempt, ImportanceConfig, attempt_tail
from lcca.studies.cceval.importance.cycles import Bench, Cycles, Interval, Measure
from lcca.studies.cceval.importance.flows import Floats, Sizes
from lcca.studies.cceval.importance.refusals import Check
from lcca.studies.cceval.importance.tilts import NormalTilt

CCEVAL: dict[str, Any] = {
    "tilt": "normal", "tilt_rate": False, "bounded": False, "switching": True, "interval": "batch", "epochs": 10,
}  # fmt: skip
"""Options of CCEval's own estimator (§4.3, §6.1), but with 200 trials per epoch."""


@dataclass(frozen=True)
class TailEstimate:
    """A tail quantile, by whichever method was found fit.

    Attributes:
        estimate: pooled quantile, in the metric's unit.
        low: lower end of the interval.
        high: upper end; inf if the trials do not bound it.
        confidence: of the interval.
        trials: simulations in all: search, pilot, repetitions after a switch and refused trials included.
        cost: what they cost, in plain trials.
        method: in a few words.
        refused: the tests that importance sampling failed; empty if its estimate is delivered.
        checks: all tests that were made, as of the last stage reached.
        variance_ratio: how many times smaller the variance is than that of plain trials for the same cost in all;
            None before the pilot.
    """

    estimate: float
    low: float
    high: float
    confidence: float
    trials: int
    cost: float
    method: str
    refused: tuple[Check, ...]
    checks: tuple[Check, ...]
    variance_ratio: float | None

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values; what is unknown or infinite becomes null."""
        names = ("estimate", "low", "high", "confidence", "trials", "cost", "variance_ratio")
        numbers = finite_values({name: getattr(self, name) for name in names})
        tests = {name: [check.to_json() for check in getattr(self, name)] for name in ("refused", "checks")}
        return numbers | {"method": self.method} | tests


def estimate_tail(
    bench: Bench, config: ImportanceConfig, rng: np.random.Generator, model: Sizes | None = None
) -> TailEstimate:
    """Estimate a pooled tail quantile of open-loop trials.

    Args:
        bench: workload, simulator and metric.
        config: quantile, budget and options.
        rng: source of randomness; the result is a function of it and the simulator.
        model: sizes to draw from in place of the workload's, such as a fitted lognormal; the rate of arrivals stays.

    Raises:
        ValueError: if the simulator cannot be used.
    """
    tried = attempt_tail(bench, config, rng, model)
    if tried.interval is not None:
        return _told(tried, tried.interval, config.confidence, tried.words)
    return _pooled(tried, bench, config, rng)


def _pooled(tried: Attempt, bench: Bench, config: ImportanceConfig, rng: np.random.Generator) -> TailEstimate:
    """Return the estimate of plain trials: those of the search, and as many more as are left."""
    plain, count = list(tried.plain), int(max(tried.left, 0))
    if count > 0:
        plain.append(bench.run(Measure(NormalTilt(), bench.loop.rate), count, rng))
    found = tail_quantile(_by_trial(plain), config.quantile, confidence=config.confidence)
    interval = Interval(found.value, found.low, found.high)
    return _told(tried, interval, config.confidence, "model-free: pooled quantile, cluster-Woodruff", count)


def _told(tried: Attempt, found: Interval, confidence: float, method: str, more: int = 0) -> TailEstimate:
    ends = (found.estimate, found.low, found.high, confidence, tried.runs + more, tried.spent + more)
    return TailEstimate(*ends, method, tried.refused, tried.checks, tried.variance_ratio)


def _by_trial(runs: Sequence[Cycles]) -> list[Floats]:
    return [values for cycles in runs for values in np.split(cycles.value, cycles.flows.begin[1:-1])]
