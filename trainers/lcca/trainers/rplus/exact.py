"""Choosing the best candidate as R+ does."""

from __future__ import annotations

import numpy as np

from lcca.trainers.rplus.actions import Action
from lcca.trainers.rplus.sample import CandidateScores

PRUNE_SHARE = 0.3
"""Share of the duration at which R+ scores candidates before it prunes."""

PRUNE_LOSS = 0.05
"""R+ keeps a short-run score that is at most this share worse than the score to beat."""


def best_exact(scores: CandidateScores, current: Action, grid: list[Action], prune: bool) -> Action:
    """Return the candidate with the best mean over all networks, the current action unless one is strictly better."""
    target = scores.mean(current)
    assert target is not None
    rivals = [a for a in grid if a != current]
    if prune:
        rivals = _pruned(scores, rivals, target)
    if not rivals:
        return current
    matrix = scores.first([current, *rivals], len(scores))
    means = matrix.mean(axis=1)
    best = int(np.argmax(means))
    return [current, *rivals][best] if means[best] > means[0] else current


def _pruned(scores: CandidateScores, rivals: list[Action], target: float) -> list[Action]:
    """R+'s prune: short runs of every candidate, full-length scores as they are where they are known."""
    short = scores.sample.shortened(PRUNE_SHARE)
    known = [scores.mean(a) for a in rivals]
    unknown = [a for a, score in zip(rivals, known, strict=True) if score is None]
    found = short.scores([scores.policy(a) for a in unknown], [np.arange(len(short))] * len(unknown))
    fresh = iter([float(f.mean()) for f in found])
    values = np.array([next(fresh) if score is None else score for score in known])
    bar = min(target * (1 - PRUNE_LOSS), target * (1 + PRUNE_LOSS))
    median = np.sort(values)[::-1][(len(values) + 1) // 2 - 1]
    return [a for a, value in zip(rivals, values, strict=True) if value >= max(bar, median)]
