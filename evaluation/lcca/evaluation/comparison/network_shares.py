"""On what share of networks a candidate differs significantly (paper §5.1, Eq. 2; Figs. 8 and 10, Table 2).

Every policy meets every network with several seeds. On one network the paper calls a difference of a
metric p significant if |s(p)| > 1,

    s(p) = (p_a − p_b) / max(e_a, e_b),

a being the candidate and b the baseline. Here e is the standard deviation over seeds, so that s is an effect size:
however many seeds, a difference smaller than the noise of one trial is never significant, and with ten seeds chance
flags about one network in forty. With the standard error it would flag four in ten; the paper's code takes the
variance, whose size depends on the metric's unit.

Two trainings of one signal set differ significantly on many networks, too, so that the share of one pair of policies
says little about their signals. Over training seeds each seed has a share for every pair of candidates, on networks of
its own. An interval is given for the net share alone, networks where B is better less those where it is worse: shares
near 0 % are skewed, so that such an interval would miss them too often, and the net share of equals is symmetric.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from lcca.evaluation.comparison.sets import SeedInterval
from lcca.evaluation.settling.base import UNFINISHED_PERCENT
from lcca.evaluation.trials.metrics import NETWORK_TRIALS, SCORE, shown
from lcca.evaluation.trials.tables import RunTables
from lcca.evaluation.trials.utility import unfinished_columns
from lcca.inputs.json_values import finite

FEWEST_SEEDS = 2


@dataclass(frozen=True)
class Share:
    """How many of n networks, in percent, with a 95 % Wilson interval for the space they are drawn from."""

    count: int
    n: int
    percent: float
    low: float
    high: float

    @classmethod
    def of(cls, flags: ArrayLike) -> Share:
        """Count the true flags; no flags give NaN."""
        found = np.asarray(flags, dtype=bool)
        count, n = int(found.sum()), int(found.size)
        if n == 0:
            return cls(0, 0, math.nan, math.nan, math.nan)
        z, p = float(ndtri(0.975)), count / n
        middle, half = 2 * n * p + z**2, z * math.sqrt(4 * n * p * (1 - p) + z**2)
        low, high = ((middle + side * half) / (2 * (n + z**2)) for side in (-1, 1))
        return cls(count, n, 100 * p, 100 * max(low, 0.0), 100 * min(high, 1.0))


@dataclass(frozen=True)
class NetworkShares:
    """On what share of networks candidate B is significantly better than A by a metric, and worse."""

    utility: str
    A: str
    B: str
    metric: str
    better: Share
    worse: Share

    @property
    def name(self) -> str:
        """Return "B against A"."""
        return f"{self.B} against {self.A}"


def network_shares(
    trials: pd.DataFrame,
    baseline: str,
    candidates: Sequence[str],
    *,
    utility: str = "default",
    names: Mapping[str, str] | None = None,
    unfinished_percent: float = UNFINISHED_PERCENT,
) -> list[NetworkShares]:
    """Compare candidates with a baseline, and with each other, on every single network: a row per pair and metric.

    Networks on which more is unfinished than may be, under either of a pair, are left out of it: what is known of them
    are bounds.

    Args:
        trials: a row per policy, network and seed, with the metrics that networks are compared by; rows of failed
            trials are left out if there is a `status`.
        baseline: id of the policy to compare with.
        candidates: ids of the others.
        utility: name of the utility that the trials were scored by.
        names: what to call the policies; their ids if not given.
        unfinished_percent: of what is scored, so much may be unfinished.
    """
    if "status" in trials:
        trials = trials[trials["status"] == "ok"]
    of, open_, _ = unfinished_columns(SCORE.name)
    if of in trials:
        shares = (100 * trials[open_] / trials[of].clip(lower=1)).groupby([trials["policy"], trials["network"]])
        trials = trials[shares.transform("mean") <= unfinished_percent]
    called, metrics = names or {}, [each.name for each in shown(NETWORK_TRIALS, "compare")]
    wide = trials.pivot(index=["network", "seed"], columns="policy", values=metrics)
    wide = wide.reindex(columns=[(metric, policy) for metric in metrics for policy in (baseline, *candidates)])
    rows = []
    for a, b in [(baseline, b) for b in candidates] + [(a, b) for b, a in combinations(candidates, 2)]:
        found = {metric: significance(wide[metric, a], wide[metric, b]) for metric in metrics}
        for metric, s in found.items():
            sign = -1 if NETWORK_TRIALS[metric].better == "less" else 1
            known = sign * s[s.index.isin(found[SCORE.name].index)].dropna()
            better, worse = Share.of(known > 1), Share.of(known < -1)
            rows.append(NetworkShares(utility, called.get(a, a), called.get(b, b), metric, better, worse))
    return rows


def significance(a: pd.Series[float], b: pd.Series[float]) -> pd.Series[float]:
    """Return s of B against A per network that both met with at least two seeds, from values by network and seed.

    0 where neither differs nor varies, infinite where nothing varies.
    """
    both = pd.DataFrame({"a": a, "b": b}).dropna()
    difference = (both["b"] - both["a"]).groupby(level="network")
    error = both.groupby(level="network").std(ddof=1).max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = (difference.mean() / error).mask(difference.mean() == 0, 0.0)
    return s[difference.size() >= FEWEST_SEEDS]


def shares_of_run(tables: RunTables) -> list[NetworkShares]:
    """Return the shares of a run's selected policies, a row per utility, pair and metric; empty without such trials."""
    met = set(tables.repeated["policy"]) if len(tables.repeated) else set()
    rows = []
    for utility in tables.utilities:
        own = [c for c in tables.comparisons if c["level"] == "policy" and c["utility"] == utility]
        own = [c for c in own if {c["A"], c["B"]} <= met]
        if not own:
            continue
        baseline = own[0]["A"]
        ids = [baseline, *dict.fromkeys(c["B"] for c in own if c["A"] == baseline)]
        trials, names = tables.repeated, {id: tables.group_named(id) for id in ids}
        rows += network_shares(trials[trials["policy"].isin(ids)], baseline, ids[1:], utility=utility, names=names)
    return [row for row in rows if row.better.n]


def seed_shares(rows: Iterable[NetworkShares], alpha: float) -> list[dict[str, Any]]:
    """Return a record (JSON values) per pair of candidates and metric over the training seeds that have it.

    Args:
        rows: of one utility, those of one training seed after another, candidates by their names. Where both have the
            same name both are trainings of it with two training seeds, the networks that they learnt on differ too, and
            neighbouring shares have a training in common; the net share has no interval then.
        alpha: error rate of each net share's interval, by itself.
    """
    found: dict[tuple[str, str, str, str], list[NetworkShares]] = {}
    for row in rows:
        found.setdefault((row.utility, row.A, row.B, row.metric), []).append(row)
    records = []
    for (utility, a, b, metric), own in found.items():
        better = np.array([row.better.percent for row in own if row.better.n])
        worse = np.array([row.worse.percent for row in own if row.worse.n])
        shares = {"training_seeds": better.size, "better_percent": _moments(better), "worse_percent": _moments(worse)}
        net = None if a == b else net_share(SeedInterval.of(better - worse, alpha))
        record = {"utility": utility, "A": a, "B": b, "metric": metric}
        records.append(record | shares | {"net_percent": net, "alpha": alpha})
    return records


def net_share(interval: SeedInterval) -> dict[str, float | None]:
    """Return the mean of net shares with the ends of its interval, which lie within ±100 % where there is one."""
    known = np.isfinite(interval.low)
    low, high = (max(interval.low, -100.0), min(interval.high, 100.0)) if known else (None, None)
    return {"mean": finite(interval.mean), "low": low, "high": high}


def _moments(percents: NDArray[np.float64]) -> dict[str, float | None]:
    mean = float(percents.mean()) if percents.size else None
    return {"mean": mean, "sd": float(percents.std(ddof=1)) if percents.size > 1 else None}
