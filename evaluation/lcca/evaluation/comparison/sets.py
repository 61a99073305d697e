"""Signal sets and headers compared over training seeds: what training with these signals gives, whatever the luck.

The unit is a training seed r. All candidates are trained with it, and their policies are tested on networks of that
seed alone, the same for all of them: so the differences D_r between two candidates are independent and identically
distributed. Their interval is the t-mixture confidence sequence with a mixture that is fixed beforehand (tuned for
`TUNED_FOR` seeds), so that seeds may be added until all is settled. A t interval that is looked at after every added
seed calls a winner between equals in 12.6 % (from 5 seeds on) to 18.8 % (10) of cases.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from lcca.evaluation.comparison.compare import UNLEARNT, Comparison, correlation, counted
from lcca.evaluation.settling.base import Rule, spread_range
from lcca.evaluation.settling.intervals import UNFINISHED
from lcca.evaluation.settling.judgement import judge
from lcca.evaluation.settling.sequence import HORIZON, first_reached, half_width, log_e_value, pairs_until
from lcca.evaluation.settling.unfinished import Unfinished, advice
from lcca.evaluation.trials.utility import Utility

Floats = NDArray[np.float64]

FIRST_SEEDS = 5
"""Training seeds before anything is said."""

MOST_SEEDS = 24
"""Training seeds at which adding them ends, settled or not."""

ALIKE_SEEDS = 10
"""Training seeds before differences of which many were the same settle anything: where all are, at most a quarter of
trainings differ then (95 %: 0.74¹⁰ = 0.05)."""

TUNED_FOR = 10
"""Training seeds that the mixture is best at."""

TRAINED_TOO_LITTLE = "trained too little: it sees all that the other sees, and a policy can ignore signals"
"""A remark on a set that is settled below one whose signals it has too."""

LEARNT_BY = "learnt by "
"""Begins a remark on the trainers of two candidates, where there are several."""

DEPENDS = "depends on the trainer: "
"""Begins a remark on a verdict that is another one where all candidates are learnt by a certain trainer."""

BEST_OF = 5
"""Trainings of which the best is expected in the column beside the mean."""

RULE = "t-mixture over training seeds"


def mixture(alpha: float) -> float:
    """Return the mixture's variance for an error rate; 0.88 at 5 %."""
    log_term = -2 * math.log(alpha)
    return (log_term + math.log(max(log_term, 1.0)) + 1) / TUNED_FOR


@dataclass(frozen=True)
class Spread:
    """A standard deviation between training seeds, and its degrees of freedom."""

    value: float
    degrees: int

    @classmethod
    def pooled(cls, differences: Sequence[ArrayLike]) -> Spread:
        """Return the spread that several rows of differences over the same seeds have in common."""
        rows = [np.asarray(row, dtype=np.float64) for row in differences]
        degrees = sum(max(row.size - 1, 0) for row in rows)
        squares = sum(float(((row - row.mean()) ** 2).sum()) for row in rows if row.size)
        return cls(math.sqrt(squares / degrees) if degrees else math.nan, degrees)


@dataclass(frozen=True)
class SeedInterval:
    """The interval for a mean over training seeds that holds at every number of them.

    Attributes:
        n: training seeds.
        mean: of the differences; NaN without any.
        spread: their standard deviation; NaN with one.
        low: lower end; −inf before `FIRST_SEEDS`, and while there are too few for the error rate.
        high: upper end.
        alpha: error rate.
    """

    n: int
    mean: float
    spread: float
    low: float
    high: float
    alpha: float

    @classmethod
    def of(cls, differences: ArrayLike, alpha: float) -> SeedInterval:
        """Return the interval of differences, one per training seed."""
        d = np.asarray(differences, dtype=np.float64)
        mean = float(d.mean()) if d.size else math.nan
        spread = float(d.std(ddof=1)) if d.size > 1 else math.nan
        seen = d.size >= (FIRST_SEEDS if np.unique(d).size >= FIRST_SEEDS else ALIKE_SEEDS)
        width = half_width(d.size, spread, mixture(alpha), alpha) if seen else math.inf
        ends = (mean - width, mean + width) if math.isfinite(width) else (-math.inf, math.inf)
        return cls(d.size, mean, spread, *ends, alpha)

    @property
    def e_value(self) -> float | None:
        """Evidence against a mean of 0; None before the first look."""
        if self.n < FIRST_SEEDS or not self.spread > 0:
            return None
        return math.exp(min(log_e_value(self.n, self.mean, self.spread, mixture(self.alpha)), 700.0))

    def seeds_until(self, target: float, spread: float) -> int:
        """Return the first number of seeds, of those to come, whose half-width is at most `target` at this spread."""
        start = max(self.n + 1, FIRST_SEEDS)
        return pairs_until(target, spread, mixture(self.alpha), self.alpha, start) if spread > 0 else start

    def forecast(self, margin: float, spread: Spread, confidence: float = 0.9) -> tuple[int, int] | None:
        """Return the range of seeds that will settle it, for what is known of the mean and of the spread.

        The mean is moved over its t interval, the spread over its χ² interval.
        """
        if spread.degrees < 1 or not spread.value > 0:
            return None
        kind, unkind = spread_range(spread.degrees + 1, spread.value, confidence)
        reach = float(stdtrit(spread.degrees, (1 + confidence) / 2)) * spread.value / math.sqrt(self.n)
        near, far = max(abs(self.mean) - reach, 0.0), abs(self.mean) + reach
        widest = max(far, margin - near)
        narrowest = margin / 2 if near <= margin / 2 <= far else min(max(x, margin - x) for x in (near, far))
        low, high = self.seeds_until(widest, kind), self.seeds_until(narrowest, unkind)
        return min(low, HORIZON), min(max(low, high), HORIZON)


def seeds_needed(alpha: float, comparisons: int) -> int:
    """Return the fewest training seeds with which comparisons that share α can have intervals at all."""
    rate = alpha / max(comparisons, 1)
    return first_reached(lambda n: math.isfinite(half_width(n, 1.0, mixture(rate), rate)), FIRST_SEEDS)


def compare_sets(
    a: str,
    b: str,
    scores_a: Mapping[int, float],
    scores_b: Mapping[int, float],
    *,
    utility: Utility,
    rule: Rule,
    comparisons: int = 1,
    margin: float | None = None,
    spread: Spread | None = None,
    unfinished: Mapping[str, Unfinished] = MappingProxyType({}),
) -> Comparison:
    """Compare two candidates over the training seeds that both have.

    Args:
        a: name of the baseline.
        b: name of the candidate.
        scores_a: by training seed, the mean score of A's policy on the seed's test networks.
        scores_b: the same for B, on the same networks.
        utility: of the scores; scales the margin.
        rule: margin and α; its schedule of looks does not apply.
        comparisons: how many share α: the intervals of all of them hold together.
        margin: the difference that does not matter, in bits; the rule's unless given.
        spread: of such differences, for the forecast; that of this comparison unless given.
        unfinished: by candidate, what of all its trials did not finish; others may be there too.
    """
    seeds = sorted(scores_a.keys() & scores_b.keys())
    x, y = (np.array([scores[s] for s in seeds], dtype=np.float64) for scores in (scores_a, scores_b))
    alpha = rule.alpha / max(comparisons, 1)
    found = SeedInterval.of(y - x, alpha)
    size = utility.margin(rule.margin_percent) if margin is None else margin
    verdict = judge(found.low, found.high, size)
    known = Spread(found.spread, found.n - 1) if spread is None else spread
    ahead = None if verdict.settled or not found.n else found.forecast(size, known)
    own = {name: unfinished[name] for name in (a, b) if name in unfinished}
    compared = Comparison(
        level="set",
        utility=utility,
        A=a,
        B=b,
        difference=found.mean,
        low=found.low,
        high=found.high,
        baseline=float(x.mean()) if x.size else math.nan,
        margin=size,
        alpha=alpha,
        verdict=verdict,
        adjusted=verdict,
        n=found.n,
        likely_n=ahead,
        ceiling_n=found.seeds_until(size / 2, known.value) if known.value > 0 else None,
        sigma_d=found.spread,
        correlation=correlation(x, y),
        skewness=math.nan,
        looks=max(found.n - FIRST_SEEDS + 1, 0),
        e_value=found.e_value,
        note="; ".join(filter(None, (advice(own), _note(found, len(scores_a.keys() ^ scores_b.keys()))))),
        rule=RULE,
        same=UNLEARNT if x.size and np.array_equal(x, y) else "",
        unfinished=own,
        unfinished_percent=rule.unfinished_percent,
    )
    return replace(compared, enough=compared.void == UNFINISHED)


def _note(found: SeedInterval, left_out: int) -> str:
    notes = [f"over {counted(found.n, 'training seed')}, each tested on networks of its own"]
    if found.n < FIRST_SEEDS:
        notes = [f"{counted(found.n, 'training seed')}; the first look is at {FIRST_SEEDS}"]
    elif found.spread == found.mean == 0:
        notes.append("each time both policies score the same, bit for bit")
    elif found.spread == 0:
        more = "" if found.n >= ALIKE_SEEDS else f"; {ALIKE_SEEDS} such seeds would settle it"
        notes.append(f"the difference was the same with every one{more}")
    elif not math.isfinite(found.low):
        notes.append(f"too few for an interval at an error rate of {100 * found.alpha:.2g} %")
    if left_out:
        notes.append(f"{counted(left_out, 'training seed')} left out because only one of the two has it")
    return "; ".join(notes)


def trainers_remark(learnt_by: Mapping[str, str], said: str, by_trainer: Mapping[str, str]) -> str:
    """Return whose trainings a verdict rests on where each candidate is learnt by its best trainer.

    Args:
        learnt_by: the trainer of the baseline and that of the candidate, by their names.
        said: the verdict.
        by_trainer: the verdict where one trainer has learnt both, by its name.

    Returns:
        By whom the two were learnt, and after a semicolon with which trainers the verdict is another one, if any.

    Examples:
        >>> trainers_remark({"e2e": "laws", "link": "laws"}, "better", {"laws": "better", "tables": "not settled"})
        'learnt by laws; depends on the trainer: better with laws, not settled with tables'
    """
    one = len(set(learnt_by.values())) == 1
    best = next(iter(learnt_by.values())) if one else "the best of each"
    by = LEARNT_BY + (best if one else " and ".join(f"{trainer} ({name})" for name, trainer in learnt_by.items()))
    others: dict[str, list[str]] = {}
    for name, verdict in by_trainer.items():
        if verdict != said:
            others.setdefault(verdict, []).append(name)
    parts = [f"{verdict} with {' and '.join(names)}" for verdict, names in {said: [best], **others}.items()]
    return f"{by}; {DEPENDS}{', '.join(parts)}" if others else by


def best_of(scores: ArrayLike, k: int = BEST_OF) -> float:
    """Return the expected best score of k trainings: Σ_i C(i−1, k−1) / C(n, k) · score_(i), the scores rising.

    Args:
        scores: one per training seed.
        k: trainings of which the best is taken.

    Returns:
        Its unbiased estimate, in the scores' unit; NaN with fewer than k scores.
    """
    rising = np.sort(np.asarray(scores, dtype=np.float64))
    n = rising.size
    if n < k:
        return math.nan
    return float(sum(math.comb(i, k - 1) * score for i, score in enumerate(rising.tolist())) / math.comb(n, k))


def best_of_difference(a: ArrayLike, b: ArrayLike, k: int = BEST_OF) -> tuple[float, float]:
    """Return the difference B − A of the expected best of k, and its jackknife standard error over the seeds.

    Args:
        a: scores of A, one per training seed.
        b: scores of B for the same seeds.
        k: trainings of which the best is taken.

    Returns:
        The difference, NaN with fewer than k seeds; and the error, NaN with fewer than k + 1.
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    whole = best_of(y, k) - best_of(x, k)
    n = x.size
    left_out = np.array([best_of(np.delete(y, i), k) - best_of(np.delete(x, i), k) for i in range(n)])
    return whole, float(np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())) if n > k else math.nan
