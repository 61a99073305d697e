"""The record of one comparison, at two levels that must not be confused.

- **policy**: this policy against that one, on pairs of trials: networks drawn afresh, each with its own seed. The unit
  is a block of them (`lcca.evaluation.settling.units`).
- **set**: this signal set against that one (`lcca.evaluation.comparison.sets`). The unit is a training seed: what
  matters is what training with these signals gives, apart from chance in a single training.

Differences are always B − A, A being the baseline.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.evaluation.settling.base import ACCURATE, FEWEST_ALIKE, UNFINISHED_PERCENT, Rule, Settling
from lcca.evaluation.settling.intervals import ONE_SAMPLE, UNFINISHED
from lcca.evaluation.settling.judgement import NOT_SETTLED, Look, Verdict
from lcca.evaluation.settling.unfinished import Unfinished, advice
from lcca.evaluation.settling.units import BLOCK, block_means
from lcca.evaluation.trials.utility import Utility
from lcca.inputs.json_values import finite

Level = Literal["policy", "set"]

SAME = "the same policy"
UNLEARNT = "the same policy: nothing learnt from the signal"
"""In place of a verdict on two that score the same, bit for bit: of any two, and of one that has signals more."""
Floats = NDArray[np.float64]


def paper_relative_percent(difference: float, baseline_score: float) -> float:
    """Return the difference as a percentage of the baseline's score, as the paper gives it.

    A score in bits has an arbitrary zero, so this number has no meaning of its own; NaN where the
    baseline scores 0.
    """
    return 100 * difference / abs(baseline_score) if baseline_score else math.nan


@dataclass(frozen=True)
class Comparison:
    """One row of a verdict table.

    Attributes:
        level: "policy" or "set".
        utility: that both were scored by.
        A: baseline: a policy's id, or a signal set's name.
        B: candidate.
        difference: mean of B − A in the utility's unit.
        low: lower end of its interval: by the rule (policy), or over training seeds (set).
        high: upper end.
        baseline: mean score of A over the same pairs.
        margin: the difference that does not matter, in that unit.
        alpha: error rate: before any adjustment for several comparisons (policy), or its part of it (set).
        verdict: what the interval says.
        adjusted: the same with α shared among all comparisons of the campaign.
        n: pairs (policy) or training seeds (set) that the verdict rests on: all that were run.
        likely_n: forecast range of `n` to settle; None once settled, or before the first look.
        ceiling_n: forecast of the `n` after which some verdict must have been reached.
        sigma_d: standard deviation of the differences of blocks (policy), or of training seeds (set).
        correlation: of the scores of A and B over the pairs.
        skewness: of the differences of blocks.
        looks: how often the rule has looked.
        e_value: evidence against "no difference".
        note: what a reader must know besides.
        metric: the metric compared.
        rule: the rule's kind (policy), or "t-mixture over training seeds" (set).
        block: pairs in a block (policy); 1 for sets.
        blocks: that the verdict rests on; 0 for sets.
        enough: whether more pairs are not wanted: the difference is known as accurately as a run is to know it, or the
            rule is at its ceiling.
        enough_n: forecast of the pairs until then; None before the first look.
        history: every look, for the policy level; its numbers count pairs.
        same: `SAME` or `UNLEARNT` if the two score the same everywhere, bit for bit, `ONE_SAMPLE` if each scores the
            same in all trials, else empty. The record has no verdict then; `verdict` says all the same when no more
            pairs are wanted.
        unfinished: by policy, what of its trials did not finish; empty where the utility scores no such things.
        unfinished_percent: so much of it may be; with more there is no verdict either.
    """

    level: Level
    utility: Utility
    A: str
    B: str
    difference: float
    low: float
    high: float
    baseline: float
    margin: float
    alpha: float
    verdict: Verdict
    adjusted: Verdict
    n: int
    likely_n: tuple[int, int] | None
    ceiling_n: int | None
    sigma_d: float
    correlation: float
    skewness: float
    looks: int
    e_value: float | None
    note: str
    metric: str = "score_bits"
    rule: str = "t-mixture"
    block: int = 1
    blocks: int = 0
    enough: bool = False
    enough_n: int | None = None
    history: tuple[Look, ...] = field(default=(), repr=False)
    same: str = ""
    unfinished: Mapping[str, Unfinished] = field(default_factory=dict)
    unfinished_percent: float = UNFINISHED_PERCENT

    @property
    def void(self) -> str:
        """Why there is no verdict, whatever the scores say; empty if there may be one."""
        bounds = any(each.exceeds(self.unfinished_percent) for each in self.unfinished.values())
        return UNFINISHED if bounds else self.same

    @property
    def ended(self) -> bool:
        """Whether no more is to be run for it: it has its verdict, or there is to be none."""
        return self.verdict.settled or (self.enough and self.void == UNFINISHED)

    @property
    def units(self) -> str:
        """What `n` counts."""
        return "training seeds" if self.level == "set" else "pairs"

    @property
    def stated(self) -> Verdict:
        """The verdict of the record: not settled where there is none (`void`)."""
        return NOT_SETTLED if self.void else self.verdict

    def to_json(self, history: bool = False) -> dict[str, Any]:
        """Return the record as JSON values; what is unknown or infinite becomes null.

        Args:
            history: whether to add `history`, one entry per look.
        """
        low, high = (math.nan, math.nan) if self.same == ONE_SAMPLE else (self.low, self.high)
        ends = {"difference": self.difference, "low": low, "high": high}
        verdict, adjusted = self.stated, NOT_SETTLED if self.void else self.adjusted
        record: dict[str, Any] = {
            "level": self.level,
            "utility": self.utility.name,
            "A": self.A,
            "B": self.B,
            "metric": self.metric,
            **{key: finite(value) for key, value in ends.items()},
            "unit": self.utility.unit,
            "throughput_equivalent_percent": {
                key: self.utility.percent(value) if math.isfinite(value) else None for key, value in ends.items()
            },
            "paper_relative_percent": finite(paper_relative_percent(self.difference, self.baseline)),
            "margin": self.margin,
            "alpha": self.alpha,
            "verdict": verdict.name,
            "by_more_than_margin": verdict.by_more_than_margin,
            "direction": verdict.direction,
            "size": verdict.size,
            "same": "" if self.void == UNFINISHED else self.same,
            "n": self.n,
            "block": self.block,
            "blocks": self.blocks,
            "likely_n": list(self.likely_n) if self.likely_n and not self.void else None,
            "ceiling_n": self.ceiling_n,
            "sigma_d": finite(self.sigma_d),
            "correlation": finite(self.correlation),
            "skewness": finite(self.skewness),
            "looks": self.looks,
            "e_value": finite(self.e_value),
            "adjusted_verdict": adjusted.name,
            "rule": self.rule,
            "note": self.note,
        }
        if self.unfinished:
            sides = {name: each.to_json() for name, each in self.unfinished.items()}
            record["unfinished"] = {"too_many": self.void == UNFINISHED, "policies": sides}
        if history:
            record["history"] = [_look_json(look) for look in self.history]
        return record


def _look_json(look: Look) -> dict[str, Any]:
    numbers = {key: finite(value) for key, value in asdict(look).items() if key not in ("n", "verdict")}
    return {"n": look.n, **numbers, "verdict": look.verdict.name}


def compare_policies(
    a: str,
    b: str,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    utility: Utility,
    rule: Rule,
    comparisons: int = 1,
    block: int = BLOCK,
    unfinished: Mapping[str, Unfinished] = MappingProxyType({}),
) -> Comparison:
    """Compare two policies on the same (network, seed) pairs by a rule.

    Interval and verdict rest on all whole blocks of pairs.

    Args:
        a: id of the baseline.
        b: id of the candidate.
        scores_a: scores of A, one per (network, seed), in the order in which they were planned.
        scores_b: scores of B on the same ones. A pair with a NaN on either side is left out of its block.
        utility: of the scores; scales the margin.
        rule: when to look, in blocks, and what to call settled.
        comparisons: how many comparisons share α in the adjusted verdict.
        block: pairs in a block: that of the network space, or consecutive ones.
        unfinished: by policy, what of its trials did not finish; others may be there too.

    Raises:
        ValueError: if the two do not have the same length.
    """
    pairs = _Pairs.of(a, b, scores_a, scores_b, block)
    margin = utility.margin(rule.margin_percent)
    run, adjusted = rule.start(margin), rule.shared_among(comparisons).start(margin)
    differences = (pairs.b - pairs.a).tolist()
    run.feed(differences)
    shared = adjusted.feed(differences)
    look = run.state if run.looks else pairs.unseen
    n, ahead = pairs.until(look.n), run.forecast()
    own = {name: unfinished[name] for name in (a, b) if name in unfinished}
    found = Comparison(
        level="policy",
        utility=utility,
        A=a,
        B=b,
        difference=look.mean,
        low=look.low,
        high=look.high,
        baseline=pairs.baseline(look.n),
        margin=margin,
        alpha=rule.alpha,
        verdict=look.verdict,
        adjusted=shared.verdict,
        n=n,
        likely_n=(ahead.likely_low * block, ahead.likely_high * block) if ahead and not look.verdict.settled else None,
        ceiling_n=ahead.ceiling * block if ahead else None,
        sigma_d=look.spread,
        correlation=correlation(pairs.x[:n], pairs.y[:n]),
        skewness=look.skewness,
        looks=len(run.looks),
        e_value=look.e_value if run.looks else None,
        note=_policy_note(run, pairs),
        rule=rule.kind,
        block=block,
        blocks=look.n,
        enough=run.finished or (run.accurate and look.n == pairs.a.size),
        enough_n=_enough(look, margin) * block if run.looks else None,
        history=tuple(replace(each, n=pairs.until(each.n)) for each in run.looks),
        same=pairs.same,
        unfinished=own,
        unfinished_percent=rule.unfinished_percent,
    )
    if found.void == UNFINISHED:  # whether scores are the same says nothing then
        planned = pairs.x.size + pairs.lost
        return replace(found, note=advice(own), enough=found.enough or planned >= rule.first_look * block)
    return replace(found, note="; ".join(filter(None, (advice(own), found.note))))


@dataclass(frozen=True)
class _Pairs:
    """The scores of two policies on the same pairs.

    Attributes:
        x: (complete pairs,) scores of A.
        y: scores of B.
        a: (blocks,) means of A over blocks that have any pair.
        b: means of B.
        ends: complete pairs until the end of each block.
        block: pairs in one.
        lost: pairs that lack a score.
    """

    x: Floats
    y: Floats
    a: Floats
    b: Floats
    ends: NDArray[np.int64]
    block: int
    lost: int

    @classmethod
    def of(cls, a: str, b: str, scores_a: ArrayLike, scores_b: ArrayLike, block: int) -> "_Pairs":
        x, y = np.asarray(scores_a, dtype=np.float64), np.asarray(scores_b, dtype=np.float64)
        if x.ndim != 1 or x.shape != y.shape:
            raise ValueError(f"scores of {a} and {b} must be aligned vectors, got shapes {x.shape} and {y.shape}")
        there = np.isfinite(x) & np.isfinite(y)
        means = [block_means(np.where(there, scores, np.nan), block) for scores in (x, y)]
        some = np.isfinite(means[0])
        ends = np.cumsum(there, dtype=np.int64)[block - 1 :: block][: some.size][some]
        return cls(x[there], y[there], means[0][some], means[1][some], ends, block, int(x.size - there.sum()))

    def until(self, blocks: int) -> int:
        """Return how many complete pairs the first blocks have; all of the pairs where there is no block."""
        return int(self.ends[blocks - 1]) if blocks else int(self.x.size) if not self.a.size else 0

    def baseline(self, blocks: int) -> float:
        """Return A's mean over the first blocks, or over all pairs where there is no block; NaN without any."""
        scores = self.a[:blocks] if blocks else self.x
        return float(np.mean(scores)) if scores.size else math.nan

    @property
    def same(self) -> str:
        """Why there is no verdict on them, however many there are; empty if there is one."""
        if self.x.size and np.array_equal(self.x, self.y):
            return SAME
        alike = self.x.size > 1 and np.ptp(self.x) == 0 == np.ptp(self.y)
        return ONE_SAMPLE if alike else ""

    @property
    def unseen(self) -> Look:
        """What is there before the first look: a mean without an interval."""
        d = self.b - self.a if self.a.size else self.y - self.x
        return Look(int(self.a.size), float(d.mean()) if d.size else math.nan)


def _enough(look: Look, margin: float) -> int:
    """Return about how many blocks make the interval as narrow as a run is to have it; its width falls as 1/√n."""
    width = (look.high - look.low) / 2
    return math.ceil(look.n * max((width / (ACCURATE * margin)) ** 2, 1.0)) if math.isfinite(width) else look.n + 1


def correlation(x: Floats, y: Floats) -> float:
    """Return Pearson's correlation; NaN with fewer than three values, or where one does not vary."""
    if x.size < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    u, v = x - x.mean(), y - y.mean()
    return float(np.sum(u * v) / math.sqrt(float(np.sum(u * u) * np.sum(v * v))))


def _policy_note(run: Settling, pairs: _Pairs) -> str:
    look, notes, block = run.state, [], pairs.block
    if not run.looks:
        first = f"{run.rule.first_look * block} ({run.rule.first_look} whole blocks of {block})"
        notes.append(f"{counted(pairs.x.size, 'pair')}: too few; the first look is at {first}")
    elif pairs.same == ONE_SAMPLE:
        notes.append(f"all {pairs.until(look.n)} trials are the same, bit for bit: they are one sample")
    elif pairs.same:
        notes.append(f"the two score the same, bit for bit, on all {pairs.until(look.n)} pairs")
    elif look.spread == 0:
        more = "" if look.verdict.settled else f"; {FEWEST_ALIKE * block} such pairs would settle it"
        notes.append(f"the difference was the same on all {pairs.until(look.n)} pairs{more}")
    elif run.finished and not look.verdict.settled:
        notes.append(f"stopped at the ceiling of {pairs.until(look.n)} pairs without a verdict")
    if abs(look.skewness) > run.rule.skew_limit:
        notes.append(f"differences of blocks are skewed ({look.skewness:.1f}): the stated error rate is approximate")
    if pairs.lost:
        why = "a trial failed or was too short for a sender or flow to score"
        notes.append(f"{counted(pairs.lost, 'pair')} left out because {why}")
    return "; ".join(notes)


def counted(n: int, noun: str) -> str:
    """Return "1 pair", "2 pairs"."""
    return f"{n} {noun}{'' if n == 1 else 's'}"
