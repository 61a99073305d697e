"""A lognormal distribution fitted to a table of flow sizes by nonlinear least squares on the CDF (CCEval §5).

Only tables of cumulative shares of flow sizes are public, so a model is fitted to the table's points. How well it
fits is shown in the units in which it matters later: at the quantile whose tail is to be estimated.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from lcca.inputs.json_values import finite_values
from lcca.remy_plus.workload import FlowSizes
from lcca.studies.cceval.importance.flows import Floats, LognormalSizes
from lcca.studies.cceval.importance.refusals import MOST_SIZE_ERROR


@dataclass(frozen=True)
class SizeFit:
    """A distribution fitted to a table of sizes.

    Attributes:
        family: "lognormal"; normal, exponential and Poisson sizes fit all tables worse.
        parameters: `mu` and `sigma` of ln packets.
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
        """Return the sizes to draw."""
        return LognormalSizes(self.parameters["mu"], self.parameters["sigma"])


def fit_sizes(table: FlowSizes, p: float) -> SizeFit:
    """Fit lognormal sizes to a table.

    Args:
        table: sizes in packets.
        p: the target quantile, in (0, 1).

    Raises:
        ValueError: if p is out of range.
    """
    from scipy.optimize import least_squares  # a quarter of a second, which every command and process would wait for

    if not 0 < p < 1:
        raise ValueError(f"p must be in (0, 1), got {p}")
    sizes, shares = np.array(table.packets), np.array(table.cumulative)
    mean = float(((sizes[1:] + sizes[:-1]) / 2 * np.diff(shares)).sum())
    sizes, shares = sizes[sizes > 0], shares[sizes > 0]

    def errors(theta: Floats) -> Floats:
        return np.asarray(ndtr((np.log(sizes) - theta[0]) / np.exp(theta[1])) - shares)

    starts = [
        (math.log(max(x, 1e-3)), 0.5) for x in np.interp((0.1, 0.3, 0.5, 0.7, 0.9), table.cumulative, table.packets)
    ]
    with np.errstate(over="ignore"):
        fits = [least_squares(errors, start, x_scale="jac", max_nfev=200) for start in starts]
    theta = min(fits, key=lambda result: float(result.cost)).x
    away = errors(theta)
    mu, sigma = float(theta[0]), math.exp(float(theta[1]))
    quantile = float(np.exp(theta[0] + np.exp(theta[1]) * ndtri(np.array([p])))[0])
    return SizeFit(
        "lognormal",
        {"mu": mu, "sigma": sigma},
        rms_error=math.sqrt(float((away**2).mean())),
        largest_error=float(np.abs(away).max()),
        mean_ratio=math.exp(mu + math.exp(2 * float(theta[1])) / 2) / mean,
        p=p,
        quantile_error=quantile / float(np.interp(p, table.cumulative, table.packets)) - 1,
    )
