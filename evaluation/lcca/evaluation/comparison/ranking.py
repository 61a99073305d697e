"""A ranking of any number of policies on the same fresh networks: which are better, and how sure the ranks are.

Every pair is compared by the settling rule with α shared among all pairs (Bonferroni), so all verdicts hold together
with probability 1 − α, whenever testing stopped. From them follow, at the same level,

- a range of ranks for each policy: above it are at least those that are settled better, below it those that are settled
  worse (Mogstad, Romano, Shaikh & Wilhelm 2024, "Inference for ranks");
- tie groups: largest sets of policies no two of which are settled better or worse, the difference being open or too
  small to matter. A policy may be in several, as in a compact letter display (Piepho 2004).

Means come with the confidence sequence of each policy alone, at level α.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from string import ascii_lowercase
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lcca.evaluation.comparison.compare import Comparison, compare_policies
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.intervals import ONE_SAMPLE, UNFINISHED
from lcca.evaluation.settling.sequence import Moments, half_width
from lcca.evaluation.settling.unfinished import Unfinished
from lcca.evaluation.settling.units import BLOCK, block_means
from lcca.evaluation.trials.utility import Utility
from lcca.inputs.json_values import interval

TOO_FEW_TO_RANK = "too few for a rank"
"""Said where the rule has not looked at every pair, and where all trials are one sample."""

NO_RANK = (ONE_SAMPLE, UNFINISHED)
"""Why a pair says nothing of ranks."""


@dataclass(frozen=True)
class Standing:
    """One policy's place.

    Attributes:
        policy: its name.
        score_bits: mean over the networks that all policies were scored on.
        low, high: its confidence sequence; NaN where there are too few networks.
        best_rank, worst_rank: the range of ranks, 1 being the best; ranges of all policies hold together. None before
            the first look at every pair, and where all trials are the same.
        ties: letters of its tie groups; none before that either.
        better_than, worse_than: how many policies it is settled better or worse than, by however little.
    """

    policy: str
    score_bits: float
    low: float
    high: float
    best_rank: int | None
    worst_rank: int | None
    ties: str
    better_than: int
    worse_than: int

    def to_json(self) -> dict[str, Any]:
        """Return it as a record of a policy."""
        ranks = {name: getattr(self, name) for name in ("best_rank", "worst_rank", "ties", "better_than", "worse_than")}
        return {"id": self.policy, "score_bits": interval(self.score_bits, self.low, self.high), **ranks}


def rank_words(standing: Standing) -> str:
    """Return a range of ranks as people read it, such as ``2`` or ``1–3``; a dash before the first look."""
    low, high = standing.best_rank, standing.worst_rank
    if low is None:
        return "–"
    return str(low) if low == high else f"{low}–{high}"


@dataclass(frozen=True)
class Ranking:
    """Standings and the comparisons that they follow from.

    Attributes:
        standings: best mean first.
        comparisons: every pair, in the order in which the policies were given.
        networks: that all policies were scored on.
        left_out: others, on which a trial failed or had no sender to score.
        alpha: error rate of everything together.
    """

    standings: tuple[Standing, ...]
    comparisons: tuple[Comparison, ...]
    networks: int
    left_out: int
    alpha: float

    @property
    def settled(self) -> bool:
        """Whether every pair is settled with its part of α."""
        return all(c.adjusted.settled and c.void != UNFINISHED for c in self.comparisons)

    @property
    def ended(self) -> bool:
        """Whether no more is to be run for it: every pair is settled, or there is to be no verdict on it."""
        return all(c.adjusted.settled or (c.enough and c.void == UNFINISHED) for c in self.comparisons)

    @property
    def enough(self) -> bool:
        """Whether every pair is known as accurately as a run is to know it, and settled with its part of α."""
        return all(c.enough for c in self.comparisons) and self.ended

    def advice(self, margin: str) -> str:
        """Return whether to keep the policy that was given first: another must be settled better by more than a margin.

        Args:
            margin: the rule's, in words.
        """
        rivals = {c.B: c.adjusted for c in self.comparisons if c.A == self.comparisons[0].A and c.void not in NO_RANK}
        void = [c.B for c in self.comparisons if c.A == self.comparisons[0].A and c.void == UNFINISHED]
        if void and not rivals:
            return f"no recommendation: {UNFINISHED}"
        ranked = [name for each in self.standings if (name := each.policy) in rivals]
        if gains := [name for name in ranked if rivals[name].by_more_than_margin and rivals[name].direction == "+"]:
            return f"take {gains[0]}: better than {self.comparisons[0].A} by more than {margin}"
        opened = [name for name in ranked if rivals[name].size == "open" and rivals[name].direction != "-"]
        words = f"keep {self.comparisons[0].A}: no other is settled better by more than {margin}"
        words += f"; open for {', '.join(opened)}" if opened else ""
        return words + (f"; no verdict on {', '.join(void)}: {UNFINISHED}" if void else "")

    def to_json(self) -> dict[str, Any]:
        """Return it without its comparisons as JSON values; what is unknown becomes null."""
        return {
            "policies": [each.to_json() for each in self.standings],
            "networks": self.networks,
            "left_out": self.left_out,
            "alpha": self.alpha,
            "settled": self.settled,
        }


def rank(
    scores: Mapping[str, ArrayLike],
    *,
    utility: Utility,
    rule: Rule,
    block: int = BLOCK,
    most: int | None = None,
    unfinished: Mapping[str, Unfinished] = MappingProxyType({}),
) -> Ranking:
    """Rank policies.

    Args:
        scores: by policy, one score per network in bits, in the same order of networks for all; several seeds of one
            network are one score, their mean. Networks with a NaN are left out, of their blocks too.
        utility: of the scores; scales the margin.
        rule: when to look, in blocks, and what to call settled, with the α of all comparisons together.
        block: networks in a block.
        most: networks that the intervals of means are tuned for; the rule's ceiling, or these, unless given.
        unfinished: by policy, what of its trials did not finish.

    Raises:
        ValueError: fewer than two policies, or scores of different length.
    """
    if len(scores) < 2:
        raise ValueError(f"a ranking needs at least two policies, got {len(scores)}")
    values = np.stack([np.asarray(own, dtype=np.float64) for own in scores.values()])
    whole = np.isfinite(values).all(axis=0)
    common = dict(zip(scores, np.where(whole, values, np.nan), strict=True))
    pairs = list(combinations(common, 2))
    comparisons = tuple(
        compare_policies(
            a,
            b,
            common[a],
            common[b],
            utility=utility,
            rule=rule,
            comparisons=len(pairs),
            block=block,
            unfinished=unfinished,
        )
        for a, b in pairs
    )
    most = most or (rule.ceiling or whole.size // block) * block
    means = {name: mean_interval(own, rule.alpha, most, block) for name, own in common.items()}
    return Ranking(
        standings=_standings(means, comparisons),
        comparisons=comparisons,
        networks=int(whole.sum()),
        left_out=int(whole.size - whole.sum()),
        alpha=rule.alpha,
    )


def mean_interval(scores: ArrayLike, alpha: float, most: int, block: int = BLOCK) -> tuple[float, float, float]:
    """Return (mean, low, high) by the t-mixture confidence sequence, which holds whenever testing stopped.

    Its units are blocks, as in comparisons, so that the difference of two means is what a comparison says. The mixture
    is tuned beforehand, for a quarter of the blocks that there may be at most. The ends are NaN while there are too
    few, and where all scores are the same: those are one sample. NaNs among the scores are left out of their blocks.

    Args:
        scores: one per network, in bits.
        alpha: error rate.
        most: how many scores there may be before testing stops in any case.
        block: networks in a block.
    """
    x = np.asarray(scores, dtype=np.float64)
    units = block_means(x, block) if x.size >= block else x
    moments = Moments()
    moments.extend(units[np.isfinite(units)].tolist())
    if moments.n == 0:
        return math.nan, math.nan, math.nan
    if x.size < block or np.nanmin(x) == np.nanmax(x):
        return moments.mean, math.nan, math.nan
    log_term = -2 * math.log(alpha)
    g = (log_term + math.log(max(log_term, 1.0)) + 1) / max(most / block / 4, 1)
    width = half_width(moments.n, moments.spread, g, alpha)
    ends = (moments.mean - width, moments.mean + width) if math.isfinite(width) else (math.nan, math.nan)
    return moments.mean, *ends


def _standings(
    means: Mapping[str, tuple[float, float, float]], comparisons: Sequence[Comparison]
) -> tuple[Standing, ...]:
    names = sorted(means, key=lambda name: -means[name][0])
    judged = [c for c in comparisons if c.void not in NO_RANK]
    above = {name: {c.B if c.A == name else c.A for c in judged if _loses(name, c)} for name in names}
    below = {name: {other for other in names if name in above[other]} for name in names}
    letters = _letters(names, {frozenset((c.A, c.B)) for c in judged if c.adjusted.name in ("better", "worse")})
    seen = all(c.looks for c in comparisons) and len(judged) == len(comparisons)
    return tuple(
        Standing(
            policy=name,
            score_bits=means[name][0],
            low=means[name][1],
            high=means[name][2],
            best_rank=1 + len(above[name]) if seen else None,
            worst_rank=len(names) - len(below[name]) if seen else None,
            ties=letters[name] if seen else "",
            better_than=len(below[name]),
            worse_than=len(above[name]),
        )
        for name in names
    )


def _loses(name: str, comparison: Comparison) -> bool:
    """Tell whether a policy is settled worse than the other of a pair, by however little."""
    wanted = {comparison.A: "+", comparison.B: "-"}.get(name)
    return wanted is not None and comparison.adjusted.direction == wanted


def _letters(names: Sequence[str], told: set[frozenset[str]]) -> dict[str, str]:
    """Return the letters of every policy's tie groups; the group that begins with the best has the first letter."""
    tied = {a: {b for b in names if b != a and frozenset((a, b)) not in told} for a in names}
    groups = sorted(sorted(map(names.index, group)) for group in _cliques(set(), set(names), set(), tied))
    size = len(ascii_lowercase)
    marks = [ascii_lowercase[i % size] + (str(i // size + 1) if i >= size else "") for i in range(len(groups))]
    return {
        name: "".join(mark for mark, group in zip(marks, groups, strict=True) if i in group)
        for i, name in enumerate(names)
    }


def _cliques(inside: set[str], open_: set[str], done: set[str], tied: Mapping[str, set[str]]) -> list[set[str]]:
    """Return the largest sets of policies that are all tied to each other (Bron & Kerbosch 1973, with a pivot)."""
    if not open_ and not done:
        return [inside]
    pivot = max(sorted(open_ | done), key=lambda name: len(tied[name] & open_))
    found = []
    for name in sorted(open_ - tied[pivot]):
        found += _cliques(inside | {name}, open_ & tied[name], done & tied[name], tied)
        open_, done = open_ - {name}, done | {name}
    return found
