"""What an interval of a benchmark's scenario scores, and who wins it.

Abbasloo, "Internet Congestion Control Benchmarking", 2023, section 3.1: a control wins an interval if it is within 10 %
of the best one, so that an interval may have several winners. The formulas are those of the benchmark's own analysis
(ccBench, commit 49b5adaf), where the paper's text leaves them blank: throughputs and delays are rounded to whole Mb/s
and ms.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from lcca.inputs.model import Model
from lcca.remy_plus.core.elementary import power

Floats = NDArray[np.float64]
Won = NDArray[np.bool_]


class PowerScore(Model):
    """Throughput to a power over delay: r^α / d, α = 2 (Eq. 1); more is better.

    Attributes:
        exponent: α.
        winners_percent: how far below the best score a winner may be.
    """

    kind: Literal["power"] = "power"
    exponent: Annotated[float, Field(gt=0)] = 2.0
    winners_percent: Annotated[float, Field(ge=0, lt=100)] = 10.0

    def scores(self, mbps: ArrayLike, delay_ms: ArrayLike, link_mbps: float) -> Floats:
        """Return (controls,) scores of throughputs and mean one-way delays; 0 where nothing arrived (NaN)."""
        rate, delay = np.rint(np.asarray(mbps, float)), np.rint(np.asarray(delay_ms, float))
        with np.errstate(divide="ignore", invalid="ignore"):
            found = power(rate, self.exponent) / delay
        return np.where(np.isfinite(found), found, 0.0)

    def winners(self, mbps: ArrayLike, delay_ms: ArrayLike, link_mbps: float) -> Won:
        """Return (controls,) who wins; nobody where no control got anything through."""
        found = self.scores(mbps, delay_ms, link_mbps)
        return np.asarray((found > 0) & (found >= (1 - self.winners_percent / 100) * found.max()), dtype=np.bool_)


class FairShareScore(Model):
    """How far a flow's throughput is from half of the link's rate, in Mb/s; less is better (TCP-friendliness).

    Attributes:
        winners_percent: how far beyond the best distance from half of the rate a winner may be, on either side.
    """

    kind: Literal["fair-share"] = "fair-share"
    winners_percent: Annotated[float, Field(ge=0, lt=100)] = 10.0

    def scores(self, mbps: ArrayLike, delay_ms: ArrayLike, link_mbps: float) -> Floats:
        """Return (controls,) distances; one that got nothing through (NaN) is half of the rate away."""
        return np.abs(link_mbps / 2 - _whole(mbps))

    def winners(self, mbps: ArrayLike, delay_ms: ArrayLike, link_mbps: float) -> Won:
        """Return (controls,) who wins: 0.9 (B/2 − b) ≤ throughput ≤ 1.1 (B/2 + b), b being the best distance."""
        best, share = self.scores(mbps, delay_ms, link_mbps).min(), self.winners_percent / 100
        low, high = (1 - share) * (link_mbps / 2 - best), (1 + share) * (link_mbps / 2 + best)
        rate = _whole(mbps)
        return np.asarray((low <= rate) & (rate <= high), dtype=np.bool_)


def _whole(mbps: ArrayLike) -> Floats:
    return np.asarray(np.rint(np.nan_to_num(np.asarray(mbps, float))), dtype=np.float64)


Score = Annotated[PowerScore | FairShareScore, Field(discriminator="kind")]
