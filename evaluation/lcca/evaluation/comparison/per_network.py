"""Where a signal helps: significance of differences network by network (paper §5.1, Eq. 2).

Every policy meets every network with several seeds. On one network the paper calls a difference of a
metric p significant if |s(p)| > 1,

    s(p) = (p_a − p_b) / max(e_a, e_b),

a being the candidate and b the baseline. Which error e is meant decides everything. With the standard
deviation over seeds, the default, s is an effect size: however many seeds, a difference smaller than the
noise of one trial is never significant, and with ten seeds chance flags about one network in forty. With
the standard error chance flags four in ten. The paper's code takes the variance, whose size depends on
the metric's unit. As evidence, a paired t-test per network stands beside s, with the false-discovery rate
controlled over all networks and candidates.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri, ndtr
from scipy.stats import binomtest

from lcca.evaluation.settling.false_discovery import Evidence, controlled_verdicts, t_evidence
from lcca.evaluation.trials.tables import RunTables

Floats = NDArray[np.float64]
ErrorName = Literal["standard deviation", "standard error", "variance"]

ERRORS: tuple[ErrorName, ...] = get_args(ErrorName)
DEFAULT_ERROR: ErrorName = "standard deviation"
DEFAULT_MARGIN = math.log2(1.03)  # bits
METRICS = {"score_bits": "score", "throughput_share": "throughput", "delay_us": "delay"}
LESS_IS_BETTER = frozenset({"delay_us"})
FEWEST_SEEDS = 2


def error_of(spread: ArrayLike, seeds: ArrayLike, error: ErrorName = DEFAULT_ERROR) -> Floats:
    """Return the error of a mean over seeds by its definition, from the standard deviation over seeds."""
    deviation = np.asarray(spread, dtype=np.float64)
    if error == "standard deviation":
        return deviation
    return deviation / np.sqrt(seeds) if error == "standard error" else deviation**2


def significance(difference: ArrayLike, errors: ArrayLike) -> Floats:
    """Return s = difference / error; 0 where both are 0, infinite where the error alone is."""
    d, e = np.asarray(difference, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(d == 0, 0.0, d / e)


def chance_of_significance(seeds: int, error: ErrorName = DEFAULT_ERROR) -> float:
    """Return how often |s| > 1 between two policies with the same normal, independent results.

    Policies that meet the same traffic are flagged less. NaN for the variance, as it has a unit.
    """
    if error == "variance" or seeds < FEWEST_SEEDS:
        return math.nan
    steps = 4096  # of the distribution function of the larger of two standard deviations
    quantile = np.sqrt((np.arange(steps) + 0.5) / steps)
    larger = np.sqrt(chdtri(seeds - 1, 1 - quantile) / (seeds - 1))
    return float(np.mean(2 * ndtr(-error_of(larger, seeds, error) * math.sqrt(seeds / 2))))


@dataclass(frozen=True)
class Share:
    """How many of n networks, in percent, with a 95 % Wilson interval for the space they are drawn from."""

    count: int
    n: int
    percent: float
    low: float
    high: float

    @classmethod
    def of(cls, flags: ArrayLike) -> "Share":
        """Count the true flags; no flags give NaN."""
        found = np.asarray(flags, dtype=bool)
        count, n = int(found.sum()), int(found.size)
        if n == 0:
            return cls(0, 0, math.nan, math.nan, math.nan)
        ends = binomtest(count, n).proportion_ci(0.95, method="wilson")
        return cls(count, n, 100 * count / n, 100 * float(ends.low), 100 * float(ends.high))


@dataclass(frozen=True, eq=False)
class NetworkPair:
    """Candidate B against A on every network.

    Attributes:
        A: what is compared with.
        B: the candidate.
        table: a row per network: `network`; `verdict` on the score by a paired t-test with the
            false-discovery rate controlled; and for each metric m of `METRICS` `m_difference` (mean of
            B − A), `m_error` (the larger standard deviation over seeds) and `m_seeds`.
    """

    A: str
    B: str
    table: pd.DataFrame

    @property
    def name(self) -> str:
        """Return "B against A"."""
        return f"{self.B} against {self.A}"

    def s(self, metric: str, error: ErrorName = DEFAULT_ERROR) -> Floats:
        """Return s of a metric per network, in the metric's own direction; NaN where nothing was measured."""
        table = self.table
        errors = error_of(table[f"{metric}_error"], table[f"{metric}_seeds"], error)
        return significance(table[f"{metric}_difference"], errors)

    def share(self, metric: str, better: bool, error: ErrorName = DEFAULT_ERROR) -> Share:
        """Return on how many networks B is significantly better, or worse, than A by a metric."""
        s = self.s(metric, error)
        s = s[~np.isnan(s)]
        return Share.of(s > 1 if better is (metric not in LESS_IS_BETTER) else s < -1)

    def verdicts(self, networks: frozenset[int] | None = None) -> dict[str, int]:
        """Count networks by verdict: all, or those among the given ones."""
        table = self.table if networks is None else self.table[self.table["network"].isin(networks)]
        counts = table["verdict"].value_counts()
        return {name: int(counts.get(name, 0)) for name in ("better", "equivalent", "worse", "not settled")}


@dataclass(frozen=True, eq=False)
class NetworkSignificance:
    """All comparisons under one utility, network by network.

    Attributes:
        utility: its name.
        error: the definition of the error in s.
        seeds: how many seeds a network was met with (the most).
        networks: parameters of the networks; may be empty.
        pairs: each candidate against the baseline.
        rivals: the candidates against each other.
    """

    utility: str
    error: ErrorName
    seeds: int
    networks: pd.DataFrame
    pairs: tuple[NetworkPair, ...]
    rivals: tuple[NetworkPair, ...]

    @property
    def count(self) -> int:
        """How many networks were met."""
        return max((len(pair.table) for pair in self.pairs), default=0)


def network_significance(
    trials: pd.DataFrame,
    networks: pd.DataFrame,
    baseline: str,
    candidates: Sequence[str],
    *,
    utility: str = "default",
    names: Mapping[str, str] | None = None,
    error: ErrorName = DEFAULT_ERROR,
    margin: float = DEFAULT_MARGIN,
) -> NetworkSignificance:
    """Compare candidates with a baseline, and with each other, on every single network.

    Args:
        trials: a row per policy, network and seed, with the metrics in `METRICS`; rows of failed trials
            are left out if there is a `status`.
        networks: a row per network with its parameters; may be empty.
        baseline: id of the policy to compare with.
        candidates: ids of the others.
        utility: name of the utility that the trials were scored by.
        names: what to call the policies; their ids if not given.
        error: definition of the error in s.
        margin: difference of the score, in bits, that does not matter.
    """
    if "status" in trials:
        trials = trials[trials["status"] == "ok"]
    called = names or {}
    wide = trials.pivot(index=["network", "seed"], columns="policy", values=list(METRICS))
    of = {(a, b): _table(wide, a, b) for a, b in _couples(baseline, candidates)}
    verdicts = iter(controlled_verdicts([each for table in of.values() for each in _evidence(table, margin)]))
    for table in of.values():
        table["verdict"] = [next(verdicts).name for _ in range(len(table))]
    pairs = {key: NetworkPair(called.get(key[0], key[0]), called.get(key[1], key[1]), of[key]) for key in of}
    return NetworkSignificance(
        utility=utility,
        error=error,
        seeds=max((int(table["score_bits_seeds"].max()) for table in of.values() if len(table)), default=0),
        networks=networks,
        pairs=tuple(pair for (a, _), pair in pairs.items() if a == baseline),
        rivals=tuple(pair for (a, _), pair in pairs.items() if a != baseline),
    )


def _couples(baseline: str, candidates: Sequence[str]) -> list[tuple[str, str]]:
    """Return (A, B) of every comparison: with the baseline, then an earlier candidate against a later one."""
    return [(baseline, b) for b in candidates] + [(a, b) for b, a in combinations(candidates, 2)]


def _table(wide: pd.DataFrame, a: str, b: str) -> pd.DataFrame:
    """Return the table of a pair, less its verdicts."""
    parts = [_metric(wide, metric, a, b) for metric in METRICS]
    return pd.concat(parts, axis=1).dropna(subset=["score_bits_difference"]).reset_index()


def _evidence(table: pd.DataFrame, margin: float) -> list[Evidence]:
    score = table[["score_bits_difference", "score_bits_spread", "score_bits_seeds"]].to_numpy(dtype=np.float64)
    return [t_evidence(mean, spread, int(n), margin) for mean, spread, n in score]


def _metric(wide: pd.DataFrame, metric: str, a: str, b: str) -> pd.DataFrame:
    """Return difference, error, spread of the paired differences and seeds per network; only whole pairs count."""
    both = pd.DataFrame({name: wide[metric, name] for name in (a, b)}).dropna()
    paired = (both[b] - both[a]).groupby(level="network")
    columns = {
        "difference": paired.mean(),
        "error": both.groupby(level="network").std(ddof=1).max(axis=1),
        "spread": paired.std(ddof=1),
        "seeds": paired.size(),
    }
    found = pd.DataFrame(columns)
    return found[found["seeds"] >= FEWEST_SEEDS].add_prefix(f"{metric}_")


def network_significances(tables: RunTables, error: ErrorName = DEFAULT_ERROR) -> list[NetworkSignificance]:
    """Return a section per utility of a run that has trials for it; empty without any such trials."""
    met = set(tables.repeated["policy"]) if len(tables.repeated) else set()
    found = [_of_run(tables, utility, met, error) for utility in tables.utilities]
    return [section for section in found if section and section.count]


def _of_run(tables: RunTables, utility: str, met: set[str], error: ErrorName) -> NetworkSignificance | None:
    own = [c for c in tables.comparisons if c["level"] == "policy" and c["utility"] == utility]
    own = [c for c in own if {c["A"], c["B"]} <= met]
    if not own:
        return None
    baseline = own[0]["A"]
    candidates = list(dict.fromkeys(c["B"] for c in own if c["A"] == baseline))
    return network_significance(
        tables.repeated[tables.repeated["policy"].isin([baseline, *candidates])],
        tables.repeated_networks,
        baseline,
        candidates,
        utility=utility,
        names={id: tables.group_named(id) for id in (baseline, *candidates)},
        error=error,
        margin=own[0]["margin"],
    )
