"""On what share of networks candidates differ, over training seeds (paper's Figs. 8 and 10, Table 2).

The paper counts networks on which one policy differs significantly from another, as
`lcca.evaluation.comparison.per_network` does. Two trainings of one signal set differ significantly on many networks,
too, so that the share of one pair of policies says little about their signals. Here the unit is a training seed: each
has a share for every pair of candidates, on networks of its own.

An interval is given for the net share alone, networks where B is better less those where it is worse, by
`lcca.evaluation.comparison.sets`. Shares near 0 % are skewed, so that such an interval would miss them too often. The
net share of equals is symmetric.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.comparison.per_network import NetworkShares
from lcca.evaluation.comparison.sets import SeedInterval
from lcca.inputs.json_values import finite

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SeedShares:
    """Candidate B against A by one metric, over training seeds.

    Attributes:
        utility: its name.
        A: name of a candidate.
        B: name of another one, or of the same: then both are trainings of it with two training seeds, the networks that
            they learnt on differ too, and neighbouring shares have a training in common.
        metric: name of the metric.
        better: percent of each training seed's networks on which B is significantly better.
        worse: the same, where B is worse.
        alpha: error rate of the net share's interval, by itself.
    """

    utility: str
    A: str
    B: str
    metric: str
    better: Floats
    worse: Floats
    alpha: float

    @property
    def net(self) -> SeedInterval | None:
        """The share where B is better less that where it is worse; None for two trainings of one candidate."""
        return None if self.A == self.B else SeedInterval.of(self.better - self.worse, self.alpha)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        net = self.net
        return {
            "utility": self.utility,
            "A": self.A,
            "B": self.B,
            "metric": self.metric,
            "training_seeds": self.better.size,
            "better_percent": _moments(self.better),
            "worse_percent": _moments(self.worse),
            "net_percent": net and _ends(net),
            "alpha": self.alpha,
        }


def seed_shares(rows: Iterable[NetworkShares], alpha: float) -> list[SeedShares]:
    """Return the shares of every pair of candidates and metric over the training seeds that have it.

    Args:
        rows: of one utility, those of one training seed after another, candidates by their names.
        alpha: error rate of each interval.
    """
    found: dict[tuple[str, str, str, str], list[NetworkShares]] = {}
    for row in rows:
        found.setdefault((row.utility, row.A, row.B, row.metric), []).append(row)
    return [
        SeedShares(
            *key,
            better=np.array([row.better.percent for row in own if row.better.n]),
            worse=np.array([row.worse.percent for row in own if row.worse.n]),
            alpha=alpha,
        )
        for key, own in found.items()
    ]


def _ends(net: SeedInterval) -> dict[str, float | None]:
    """Return the mean with the ends of its interval, which lie within ±100 % where there is one."""
    known = np.isfinite(net.low)
    ends = (max(net.low, -100.0), min(net.high, 100.0)) if known else (None, None)
    return {"mean": finite(net.mean), "low": ends[0], "high": ends[1]}


def _moments(percents: Floats) -> dict[str, float | None]:
    mean = float(percents.mean()) if percents.size else None
    return {"mean": mean, "sd": float(percents.std(ddof=1)) if percents.size > 1 else None}
