"""Distributions fitted to a table of flow sizes by nonlinear least squares on the CDF (CCEval §5), side by side.

Only tables of cumulative shares of flow sizes are public, so a model is fitted to the table's points. How well it
fits is shown in the units in which it matters later: at the quantile whose tail is to be estimated.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.special import gammaincc, ndtr, ndtri

from lcca.evaluation.estimation.importance.flows import Floats, LognormalSizes
from lcca.evaluation.estimation.importance.refusals import MOST_SIZE_ERROR
from lcca.inputs.json_values import finite_values
from lcca.remy_plus.workload import FlowSizes

Curve = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class _Family:
    """A family of distributions; all parameters are kept on a scale without bounds."""

    name: str
    parameters: tuple[str, ...]
    cdf: Curve
    quantile: Curve
    mean: Callable[[Floats], float]
    start: Callable[[float, float], tuple[float, ...]]
    told: Callable[[Floats], tuple[float, ...]]


@dataclass(frozen=True)
class SizeFit:
    """A distribution fitted to a table of sizes.

    Attributes:
        family: "lognormal", "normal", "exponential" or "poisson".
        parameters: by name, in packets; the lognormal's are those of ln packets.
        rms_error: root mean square difference of the CDFs at the table's points.
        largest_error: the largest such difference.
        mean_ratio: mean of the model / mean of the table.
        p: the target quantile.
        quantile_error: model's quantile p / table's − 1.
    """

    family: str
    parameters: dict[str, float]
    rms_error: float
    largest_error: float
    mean_ratio: float
    p: float
    quantile_error: float

    @property
    def usable(self) -> bool:
        """Whether the model is right within 1 % at the target quantile."""
        return abs(self.quantile_error) <= MOST_SIZE_ERROR

    def __str__(self) -> str:
        fit = f"CDF off by {100 * self.rms_error:.2g} points rms, {100 * self.largest_error:.2g} at most"
        tail = f"p{100 * self.p:g} {100 * self.quantile_error:+.3g} %, mean ×{self.mean_ratio:.3g}"
        return f"{self.family}: {fit}; {tail}"

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values; what is infinite becomes null."""
        return finite_values(asdict(self) | {"usable": self.usable})

    def sizes(self) -> LognormalSizes:
        """Return the sizes to draw; a lognormal only.

        Raises:
            ValueError: for another family.
        """
        if self.family != "lognormal":
            raise ValueError(f"a {self.family} distribution of sizes is fitted for comparison only")
        return LognormalSizes(self.parameters["mu"], self.parameters["sigma"])


def fit_sizes(table: FlowSizes, p: float) -> tuple[SizeFit, ...]:
    """Fit lognormal, normal, exponential and Poisson sizes to a table and return them, the best fit first.

    Args:
        table: sizes in packets.
        p: the target quantile, in (0, 1).

    Raises:
        ValueError: if p is out of range.
    """
    if not 0 < p < 1:
        raise ValueError(f"p must be in (0, 1), got {p}")
    return tuple(sorted((_fit(family, table, p) for family in _FAMILIES), key=lambda fit: fit.rms_error))


def _fit(family: _Family, table: FlowSizes, p: float) -> SizeFit:
    sizes, shares = _points(table)
    mean = _mean(table)

    def errors(theta: Floats) -> Floats:
        return family.cdf(sizes, theta) - shares

    inner = np.interp((0.1, 0.3, 0.5, 0.7, 0.9), table.cumulative, table.packets)
    with np.errstate(over="ignore"):
        found = [least_squares(errors, family.start(max(x, 1e-3), mean), x_scale="jac", max_nfev=200) for x in inner]
    theta = min(found, key=lambda result: float(result.cost)).x
    away = errors(theta)
    told = dict(zip(family.parameters, family.told(theta), strict=True))
    wanted = float(np.interp(p, table.cumulative, table.packets))
    error = float(family.quantile(np.array([p]), theta)[0]) / wanted - 1
    rms = math.sqrt(float((away**2).mean()))
    return SizeFit(family.name, told, rms, float(np.abs(away).max()), family.mean(theta) / mean, p, error)


def _points(table: FlowSizes) -> tuple[Floats, Floats]:
    """Return the table's points with a size > 0."""
    sizes, shares = np.array(table.packets), np.array(table.cumulative)
    return sizes[sizes > 0], shares[sizes > 0]


def _mean(table: FlowSizes) -> float:
    sizes, shares = np.array(table.packets), np.array(table.cumulative)
    return float(((sizes[1:] + sizes[:-1]) / 2 * np.diff(shares)).sum())


def _lognormal_cdf(x: Floats, theta: Floats) -> Floats:
    return np.asarray(ndtr((np.log(x) - theta[0]) / np.exp(theta[1])))


def _lognormal_mean(theta: Floats) -> float:
    return math.exp(float(theta[0]) + math.exp(2 * float(theta[1])) / 2)


_FAMILIES = (
    _Family(
        "lognormal",
        ("mu", "sigma"),
        _lognormal_cdf,
        lambda p, theta: np.asarray(np.exp(theta[0] + np.exp(theta[1]) * ndtri(p))),
        _lognormal_mean,
        lambda middle, mean: (math.log(middle), 0.5),
        lambda theta: (float(theta[0]), math.exp(float(theta[1]))),
    ),
    _Family(
        "normal",
        ("mean", "sd"),
        lambda x, theta: np.asarray(ndtr((x - theta[0]) / np.exp(theta[1]))),
        lambda p, theta: np.asarray(theta[0] + np.exp(theta[1]) * ndtri(p)),
        lambda theta: float(theta[0]),
        lambda middle, mean: (middle, math.log(mean)),
        lambda theta: (float(theta[0]), math.exp(float(theta[1]))),
    ),
    _Family(
        "exponential",
        ("mean",),
        lambda x, theta: np.asarray(-np.expm1(-x / np.exp(theta[0]))),
        lambda p, theta: np.asarray(-np.log1p(-p) * np.exp(theta[0])),
        lambda theta: math.exp(float(theta[0])),
        lambda middle, mean: (math.log(middle),),
        lambda theta: (math.exp(float(theta[0])),),
    ),
    _Family(  # in packets: unlike the others, a Poisson distribution depends on the unit
        "poisson",
        ("mean",),
        lambda x, theta: np.asarray(gammaincc(x + 1, np.exp(theta[0]))),
        lambda p, theta: _poisson_quantile(p, theta),
        lambda theta: math.exp(float(theta[0])),
        lambda middle, mean: (math.log(middle),),
        lambda theta: (math.exp(float(theta[0])),),
    ),
)


def _poisson_quantile(p: Floats, theta: Floats) -> Floats:
    """Return quantiles of the Poisson distribution by bisection of its CDF, made continuous as in the fit."""
    mean = math.exp(float(theta[0]))
    low, high = np.full_like(p, -1.0), np.full_like(p, 10 * mean + 100)
    for _ in range(100):
        middle = (low + high) / 2
        less = gammaincc(middle + 1, mean) < p
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return np.asarray(high)
