"""Choosing the best candidate by racing: most candidates meet a few networks instead of all."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from lcca.trainers.rplus.actions import Action
from lcca.trainers.rplus.config import RacingConfig
from lcca.trainers.rplus.sample import CandidateScores


def blocks(config: RacingConfig, networks: int) -> list[int]:
    """Return the numbers of networks at which candidates are compared, the last one all of them."""
    sizes = [min(config.first_block, networks)]
    while sizes[-1] < networks:
        sizes.append(min(math.ceil(sizes[-1] * config.growth), networks))
    return sizes


def best_racing(scores: CandidateScores, current: Action, grid: list[Action], config: RacingConfig) -> Action:
    """Return the winner of the race, the current action unless a rival is strictly better on all networks.

    Each look drops a candidate that is as good as its rival with probability at most `alpha`, if it has one. Among
    many equals the leader is the luckiest and more are dropped; the cap on how many go on adds to that.
    """
    rivals = [a for a in grid if a != current]
    for networks in blocks(config, len(scores)):
        matrix = scores.first([current, *rivals], networks)
        if networks == len(scores):
            break
        most = max(config.fewest, int(config.block_trials / networks))
        rivals = [rivals[i] for i in survivors(matrix, config.alpha, most)]
        if not rivals:
            return current
    means = matrix.mean(axis=1)
    best = int(np.argmax(means))
    return [current, *rivals][best] if means[best] > means[0] else current


def survivors(matrix: NDArray[np.float64], alpha: float, most: int) -> list[int]:
    """Return which rivals go on, best first, as indices that do not count the current action.

    Args:
        matrix: (1 + rivals, networks) scores in bits; row 0 is the current action, which always stays.
        alpha: level of the one-sided paired t-test against the leader.
        most: how many may go on.
    """
    means = matrix.mean(axis=1)
    leader = int(np.argmax(means))
    difference = matrix - matrix[leader]
    error = difference.std(axis=1, ddof=1) / math.sqrt(matrix.shape[1])
    reach = means - means[leader] + stdtrit(matrix.shape[1] - 1, 1 - alpha) * error
    order = np.argsort(-means[1:], kind="stable")
    return [int(i) for i in order if reach[i + 1] >= 0][:most]
