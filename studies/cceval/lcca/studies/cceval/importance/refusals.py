"""The tests that importance sampling must pass before its estimate is delivered; each one names itself."""

import math
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from lcca.inputs.json_values import finite_values
from lcca.studies.cceval.importance.cycles import Cycles, Measure
from lcca.studies.cceval.importance.flows import Floats, OpenLoop, Sizes

MOST_TILT = 1.0
MOST_ERRORS = 3.0
LEAST_CYCLE_ESS = 0.2
LEAST_TAIL_ESS = 200.0
MOST_SHARE = 0.05
MOST_SIZE_ERROR = 0.01
LEAST_GAIN = 2.0
ENOUGH_FOR_SHAPE = 100
PRIOR_SHAPE = 0.5
PRIOR_WEIGHT = 10
ROUNDING = 1e-9  # weights closer than this, relative to the largest, are equal


class RefusalTest(StrEnum):
    """What is tested, in the words that a refusal uses."""

    TILT = "tilt strength n(Δμ/σ)²"
    MEAN_WEIGHT = "mean cycle weight, standard errors from 1"
    CYCLE_ESS = "effective sample size of cycles, share of the trials"
    TAIL_ESS = "effective sample size of the tail, trials"
    LARGEST_SHARE = "largest share of one trial in the tail"
    PARETO_SHAPE = "Pareto k̂ of the weights"
    SIZE_MODEL = "relative error of the size model at the target quantile"
    VARIANCE_RATIO = "pilot variance ratio against plain trials"


@dataclass(frozen=True)
class Check:
    """One test with its outcome.

    Attributes:
        test: which.
        measured: what was found.
        bound: what was allowed.
        at_least: whether `measured` must be at least the bound, else at most.
    """

    test: RefusalTest
    measured: float
    bound: float
    at_least: bool = False

    @property
    def passed(self) -> bool:
        """Whether the bound was kept; NaN does not."""
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound

    def __str__(self) -> str:
        words = "needs at least" if self.at_least else "may be at most"
        return f"{self.test}: {self.measured:.4g}, {words} {self.bound:.4g}"

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values."""
        return finite_values(asdict(self) | {"test": self.test.name.lower().replace("_", " "), "words": str(self)})


def check_sizes(model: Sizes | None, true: Sizes, p: float) -> Check:
    """Test that a model of the sizes, if one stands in for them, is right at the target quantile."""
    error = 0.0
    if model is not None:
        at = np.array([1 - p])
        error = abs(float(model.beyond(at)[0] / true.beyond(at)[0]) - 1)
    return Check(RefusalTest.SIZE_MODEL, error, MOST_SIZE_ERROR)


def check_tilt(measure: Measure, loop: OpenLoop) -> Check:
    """Test the tilt before anything is simulated: ln E[L²] over the expected flows, n(Δμ/σ)² for a pure shift."""
    return Check(RefusalTest.TILT, measure.log_second_moment(loop), MOST_TILT)


def check_cycles(cycles: Cycles, above: float, forecast: float = 1.0) -> list[Check]:
    """Test weighted trials.

    Args:
        cycles: the trials.
        above: the quantile.
        forecast: how many times as many trials the estimate will rest on: the sample size of the tail grows, and the
            largest share falls, by as much.
    """
    weight, tail = np.exp(cycles.cycle_log_weight), cycles.beyond(above)
    return [
        Check(RefusalTest.MEAN_WEIGHT, _errors_from_one(weight), MOST_ERRORS),
        Check(RefusalTest.CYCLE_ESS, effective_size(weight) / len(weight), LEAST_CYCLE_ESS, at_least=True),
        Check(RefusalTest.TAIL_ESS, forecast * effective_size(tail), LEAST_TAIL_ESS, at_least=True),
        Check(RefusalTest.LARGEST_SHARE, largest_share(tail) / forecast, MOST_SHARE),
        check_shape(weight, tail),
    ]


def check_shape(weight: Floats, tail: Floats) -> Check:
    """Test the tail of the weights of whole trials and of what trials add to the estimate; the worse one counts.

    Few trials in the tail tell nothing about a shape; their effective sample size is tested anyway.
    """
    tail = tail[tail > 0]
    tested = [weight, tail] if len(tail) >= ENOUGH_FOR_SHAPE else [weight]
    found = [(pareto_shape(w), shape_bound(len(w))) for w in tested]
    shape, bound = max(found, key=lambda pair: pair[0] - pair[1])
    return Check(RefusalTest.PARETO_SHAPE, shape, math.nextafter(bound, -math.inf))


def effective_size(weight: Floats) -> float:
    """Return (Σw)² / Σw²; 0 without weight."""
    squares = float(weight @ weight)
    return float(weight.sum()) ** 2 / squares if squares > 0 else 0.0


def largest_share(weight: Floats) -> float:
    """Return the largest weight's share of their sum; 1 without weight."""
    total = float(weight.sum())
    return float(weight.max()) / total if total > 0 else 1.0


def _errors_from_one(weight: Floats) -> float:
    away, spread = abs(float(weight.mean()) - 1), float(weight.std(ddof=1))
    if spread == 0:
        return 0.0 if away < 1e-9 else math.inf
    return away * math.sqrt(len(weight)) / spread


def check_gain(ratio: float) -> Check:
    """Test that importance sampling is worth it."""
    return Check(RefusalTest.VARIANCE_RATIO, ratio, LEAST_GAIN, at_least=True)


def variance_ratio(cycles: Cycles, above: float, p: float, trials: float, budget: float) -> float:
    """Return how many times smaller the variance is than that of plain trials for the same cost.

    The variance of plain trials is that of the pooled quantile's ratio (flows beyond it − (1 − p) of all), also from
    the weighted trials, which know the tail better than as many plain ones.

    Args:
        cycles: weighted trials.
        above: the quantile.
        p: which.
        trials: weighted trials that the estimate will rest on.
        budget: plain trials that could be had for all that those cost, search and pilot included.
    """
    flows = cycles.flows
    excess = flows.sums((cycles.value > above).astype(np.float64)) - (1 - p) * np.diff(flows.begin)
    weight = np.exp(cycles.cycle_log_weight)
    plain = float((weight * excess**2).mean()) - float((weight * excess).mean()) ** 2
    tilted = float(cycles.beyond(above).var(ddof=1))
    return plain * trials / (tilted * budget) if tilted > 0 else 0.0


def pareto_shape(weights: Floats) -> float:
    """Return k̂ of a generalised Pareto distribution fitted to the largest weights; −inf where none stand out.

    The largest min(0.2·S, 3·√S) of S weights are fitted by the method of Zhang and Stephens (2009), and k̂ is drawn
    towards 0.5 with the weight of ten observations.
    """
    ordered = np.sort(weights)
    count = int(min(0.2 * len(ordered), 3 * math.sqrt(len(ordered))))
    if count < 5:
        return math.inf
    excess = ordered[-count:] - ordered[-count - 1]
    excess = excess[excess > ROUNDING * abs(ordered[-1])]
    if len(excess) < 5:
        return -math.inf
    return (len(excess) * _shape(excess) + PRIOR_WEIGHT * PRIOR_SHAPE) / (len(excess) + PRIOR_WEIGHT)


def shape_bound(count: int) -> float:
    """Return the largest k̂ to accept with this many weights: min(0.7, 1 − 1/log₁₀ S)."""
    return min(0.7, 1 - 1 / math.log10(count)) if count > 10 else 0.0


def _shape(excess: Floats) -> float:
    """Return Zhang and Stephens' estimate of the shape for sorted excesses > 0."""
    n = len(excess)
    grid = 30 + int(math.sqrt(n))
    scale = 1 / excess[-1] + (1 - np.sqrt(grid / (np.arange(1, grid + 1) - 0.5))) / (3 * excess[(n + 2) // 4 - 1])
    shapes = np.log1p(-scale[:, None] * excess).mean(axis=1)
    likelihood = n * (np.log(-scale / shapes) - shapes - 1)
    posterior = np.exp(likelihood - likelihood.max())
    best = float(scale @ posterior / posterior.sum())
    return float(np.log1p(-best * excess).mean())
