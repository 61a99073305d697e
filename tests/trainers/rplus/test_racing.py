from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lcca.trainers.rplus.actions import Action
from lcca.trainers.rplus.config import RacingConfig
from lcca.trainers.rplus.search import CandidateScores, best_racing, blocks, survivors

Floats = NDArray[np.float64]

CURRENT = Action(0, 1, 1)


class KnownScores:
    """Stands for `CandidateScores`: a table of scores, and how much of each row was asked for."""

    def __init__(self, table: Floats) -> None:
        self.table = table
        self.asked = np.zeros(len(table), dtype=int)

    def __len__(self) -> int:
        return self.table.shape[1]

    def first(self, actions: list[Action], networks: int) -> Floats:
        rows = [int(action.increment) for action in actions]
        self.asked[rows] = np.maximum(self.asked[rows], networks)
        return self.table[rows, :networks]


def race(table: Floats, config: RacingConfig | None = None) -> tuple[int, KnownScores]:
    scores = KnownScores(table)
    actions = [Action(i, 1, 1) for i in range(len(table))]
    best = best_racing(cast(CandidateScores, scores), CURRENT, actions, config or RacingConfig())
    return int(best.increment), scores


def noisy(means: Floats, networks: int, seed: int, spread: float = 0.1, shared: float = 1.0) -> Floats:
    """Scores whose difficulty per network is common to all candidates, with a little noise of their own."""
    rng = np.random.default_rng(seed)
    return means[:, None] + shared * rng.normal(size=networks) + spread * rng.normal(size=(len(means), networks))


def test_blocks_grow_to_all_networks() -> None:
    assert blocks(RacingConfig(), 100) == [4, 8, 16, 32, 64, 100]
    assert blocks(RacingConfig(first_block=10, growth=1.5), 40) == [10, 15, 23, 35, 40]
    assert blocks(RacingConfig(), 3) == [3]
    assert blocks(RacingConfig(growth=1.01), 8) == [4, 5, 6, 7, 8]


@given(st.integers(0, 1000), st.integers(2, 40))
def test_without_noise_the_best_is_never_dropped(seed: int, candidates: int) -> None:
    rng = np.random.default_rng(seed)
    means = rng.permutation(candidates) * 0.01
    table = means[:, None] + rng.normal(size=64)
    assert race(table)[0] == int(np.argmax(means))


@given(st.integers(0, 1000))
def test_the_leader_always_survives(seed: int) -> None:
    matrix = np.random.default_rng(seed).normal(size=(20, 6))
    leader = int(np.argmax(matrix[1:].mean(axis=1)))
    kept = survivors(matrix, 0.01, 1)
    assert kept in ([leader], [])  # none where the current action leads by far
    if int(np.argmax(matrix.mean(axis=1))) > 0:
        assert kept == [leader]


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("networks", [4, 16])
def test_a_rival_as_good_as_the_leader_is_dropped_with_probability_alpha(alpha: float, networks: int) -> None:
    rng, looks = np.random.default_rng(5), 4000
    difficulty = rng.normal(size=(looks, 1, networks))
    scores = difficulty + 0.1 * rng.normal(size=(looks, 2, networks))
    dropped = sum(not survivors(each, alpha, 10) for each in scores)
    expected = alpha * looks
    assert abs(dropped - expected) < 4 * np.sqrt(expected)


def test_a_better_rival_is_dropped_less_often_still() -> None:
    rng, looks = np.random.default_rng(6), 2000
    scores = 0.1 * rng.normal(size=(looks, 2, 8)) + np.array([0, 0.05])[:, None]
    dropped = sum(not survivors(each, 0.05, 10) for each in scores)
    assert dropped < 0.02 * looks


def test_noise_that_all_share_does_not_matter() -> None:
    quiet = noisy(np.arange(10) * 0.02, 16, seed=1, shared=0)
    loud = quiet + 100 * np.random.default_rng(2).normal(size=16)
    assert survivors(quiet, 0.01, 10) == survivors(loud, 0.01, 10)


def test_no_more_than_the_cap_go_on_and_they_are_the_best() -> None:
    matrix = np.random.default_rng(3).normal(size=(40, 4))  # hardly any can be told apart
    kept = survivors(matrix, 0.01, 7)
    order = np.argsort(-matrix[1:].mean(axis=1))
    assert kept == list(order[:7])


def test_the_winner_meets_all_networks_and_most_candidates_a_few() -> None:
    means = np.linspace(0, -1, 41)
    means[17] = 0.3
    winner, scores = race(noisy(means, 200, seed=4))
    assert winner == 17
    assert scores.asked[17] == scores.asked[0] == 200
    assert np.median(scores.asked) <= 8
    assert scores.asked.sum() < 0.1 * scores.table.size


def test_the_cap_bounds_the_trials_of_a_block() -> None:
    config = RacingConfig(block_trials=64, fewest=1)
    _, scores = race(noisy(np.zeros(41), 200, seed=5), config)
    going_on = [int((scores.asked[1:] >= size).sum()) for size in blocks(config, 200)]
    for count, size in zip(going_on[1:], blocks(config, 200)[:-1], strict=True):
        assert count <= max(1, 64 // size)


def test_the_current_action_stays_unless_a_rival_is_strictly_better_on_all_networks() -> None:
    table = np.zeros((3, 50))
    assert race(table)[0] == 0
    table[1, :4], table[1, 4:] = 1, -1  # leads at first, loses in the end
    assert race(table)[0] == 0
    table[1] = 1e-12
    assert race(table)[0] == 1


def test_the_race_ends_early_when_the_current_action_beats_all() -> None:
    winner, scores = race(noisy(np.array([1.0, 0, 0, 0]), 200, seed=6, spread=0.01))
    assert winner == 0
    assert scores.asked.max() == 4


def test_a_rule_used_in_one_network_only_is_still_raced() -> None:
    assert race(np.array([[0.0], [2.0], [1.0]]))[0] == 1


def test_a_constant_lead_is_no_doubt() -> None:
    matrix = np.tile(np.random.default_rng(8).normal(size=8), (3, 1)) + np.array([[0.0], [0.1], [0.1]])
    assert sorted(survivors(matrix, 0.01, 5)) in ([0], [1], [0, 1])  # equal to the last bit or nearly
    assert survivors(matrix - np.array([[0.0], [1.0], [1.0]]), 0.01, 5) == []


def test_the_loss_of_a_race_is_small_against_the_spread_of_candidates() -> None:
    regrets, networks = [], 200
    for seed in range(40):
        means = np.random.default_rng(1000 + seed).normal(scale=0.1, size=141)
        table = noisy(means, networks, seed, spread=0.2)
        regrets.append(table.mean(axis=1).max() - table[race(table)[0]].mean())
    assert np.mean(regrets) < 0.02  # bits: half of the 3 % margin
    assert np.median(regrets) == 0  # most races end as the full evaluation does
