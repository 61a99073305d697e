"""Shape k̂ of the largest weights' tail: above 0.7, sums of weights cannot be trusted (Vehtari et al. 2024)."""

import math

import numpy as np

from lcca.evaluation.estimation.importance.flows import Floats

PRIOR_SHAPE = 0.5
PRIOR_WEIGHT = 10
ROUNDING = 1e-9  # weights closer than this, relative to the largest, are equal


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
