"""On what share of networks candidates differ, over training seeds (paper's Figs. 8 and 10, Table 2).

The paper counts networks on which one policy differs significantly from another, as
`lcca.evaluation.comparison.per_network` does. Two trainings of one signal set differ significantly on many networks,
too, so that the share of one pair of policies says little about their signals. Here the unit is a training seed: each
has a share for every pair of candidates, on networks of its own, and the interval is that of
`lcca.evaluation.comparison.sets`, which holds at every number of seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lcca.evaluation.comparison.per_network import METRICS, NetworkPair, NetworkSignificance
from lcca.evaluation.comparison.sets import SeedInterval
from lcca.inputs.json_values import finite


@dataclass(frozen=True)
class SeedShares:
    """Candidate B against A by one metric, over training seeds.

    Attributes:
        utility: its name.
        A: name of a candidate.
        B: name of another one, that is better or worse.
        metric: one of `METRICS`.
        better: percent of a training seed's networks on which B is significantly better, each by itself at α; normal
            shares are assumed, so that it is approximate near 0 and 100 %.
        worse: the same, where B is worse.
    """

    utility: str
    A: str
    B: str
    metric: str
    better: SeedInterval
    worse: SeedInterval

    @property
    def name(self) -> str:
        """Return "B against A"."""
        return f"{self.B} against {self.A}"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "utility": self.utility,
            "A": self.A,
            "B": self.B,
            "metric": self.metric,
            "training_seeds": self.better.n,
            "better_percent": _ends(self.better),
            "worse_percent": _ends(self.worse),
        }


def seed_shares(sections: Sequence[NetworkSignificance], alpha: float) -> list[SeedShares]:
    """Return the shares of every pair of candidates and metric over the training seeds that have it.

    Args:
        sections: the comparisons of one utility, one or more per training seed, candidates by their names.
        alpha: error rate of each interval.
    """
    by_pair: dict[tuple[str, str, str], list[NetworkPair]] = {}
    for section in sections:
        for pair in (*section.pairs, *section.rivals):
            by_pair.setdefault((section.utility, pair.A, pair.B), []).append(pair)
    return [
        SeedShares(*key, metric, *(_interval(pairs, metric, better, alpha) for better in (True, False)))
        for key, pairs in by_pair.items()
        for metric in METRICS
    ]


def _interval(pairs: Sequence[NetworkPair], metric: str, better: bool, alpha: float) -> SeedInterval:
    shares = [pair.share(metric, better) for pair in pairs]
    return SeedInterval.of([share.percent for share in shares if share.n], alpha)


def _ends(found: SeedInterval) -> dict[str, float | None]:
    """Return an interval of percentages as JSON values; its ends lie within 0 to 100."""
    known = finite(found.low) is not None
    return {
        "mean": finite(found.mean),
        "sd": finite(found.spread),
        "low": max(found.low, 0.0) if known else None,
        "high": min(found.high, 100.0) if known else None,
    }
