from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from lcca.trainers.rplus.actions import Action
from lcca.trainers.rplus.search import CandidateScores, best_exact

Floats = NDArray[np.float64]

CURRENT = Action(0, 1, 1)
NETWORKS = 4


class Short:
    """Stands for the sample with a share of the duration; a policy is its action's number here."""

    def __init__(self, means: list[float]) -> None:
        self.means = means
        self.ran: list[int] = []

    def __len__(self) -> int:
        return NETWORKS

    def scores(self, policies: list[int], networks: list[NDArray[np.int64]]) -> list[Floats]:
        assert all(len(each) == NETWORKS for each in networks)
        self.ran += policies
        return [np.full(NETWORKS, self.means[each]) for each in policies]


class KnownScores:
    """Stands for `CandidateScores`: mean scores of short and of full runs by the action's increment."""

    def __init__(self, short: list[float], full: list[float], known: tuple[int, ...] = (0,)) -> None:
        self.sample = self
        self.short, self.full_means = Short(short), full
        self.known = set(known)
        self.share = 0.0

    def __len__(self) -> int:
        return NETWORKS

    def shortened(self, share: float) -> Short:
        self.share = share
        return self.short

    def policy(self, action: Action) -> int:
        return int(action.increment)

    def mean(self, action: Action) -> float | None:
        rule = int(action.increment)
        return self.full_means[rule] if rule in self.known else None

    def first(self, actions: list[Action], networks: int) -> Floats:
        assert networks == NETWORKS
        self.known |= {int(a.increment) for a in actions}
        return np.array([np.full(NETWORKS, self.full_means[int(a.increment)]) for a in actions])


def best(scores: KnownScores, prune: bool = True) -> int:
    grid = [Action(i, 1, 1) for i in range(len(scores.full_means))]
    return int(best_exact(cast(CandidateScores, scores), CURRENT, grid, prune).increment)


def test_without_pruning_the_best_full_run_wins() -> None:
    scores = KnownScores([], [1.0, 0.5, 1.5, 1.4])
    assert best(scores, prune=False) == 2
    assert scores.known == {0, 1, 2, 3}


def test_the_current_action_stays_unless_one_is_strictly_better() -> None:
    assert best(KnownScores([], [1.0, 1.0, 0.9]), prune=False) == 0
    assert best(KnownScores([], [1.0]), prune=False) == 0


def test_of_equals_the_first_in_the_list_wins() -> None:
    assert best(KnownScores([], [1.0, 2.0, 2.0]), prune=False) == 1


def test_short_runs_take_three_tenths_of_the_duration() -> None:
    scores = KnownScores([0, 1.0, 1.0], [1.0, 2.0, 1.5])
    assert best(scores) == 1
    assert scores.share == 0.3
    assert scores.short.ran == [1, 2]


def test_candidates_5_percent_worse_than_the_score_to_beat_are_pruned() -> None:
    scores = KnownScores([0, 0.951, 0.949], [1.0, 0.2, 9.0])
    assert best(scores) == 0
    assert 2 not in scores.known


def test_5_percent_worse_than_a_negative_score_is_lower() -> None:
    scores = KnownScores([0, -1.04, -1.06], [-1.0, -0.5, 9.0])
    assert best(scores) == 1
    assert 2 not in scores.known


@pytest.mark.parametrize(("rivals", "kept"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_only_the_better_half_of_the_short_runs_is_run_in_full(rivals: int, kept: int) -> None:
    short = [0.0, *np.linspace(2, 1, rivals)]
    scores = KnownScores(short, [1.0] + [0.5] * rivals)
    assert best(scores) == 0
    assert scores.known == set(range(kept + 1))


def test_none_is_left_where_all_short_runs_are_poor() -> None:
    scores = KnownScores([0, 0.1, 0.2], [1.0, 9.0, 9.0])
    assert best(scores) == 0
    assert scores.known == {0}


def test_full_scores_that_are_known_stand_in_for_short_runs() -> None:
    scores = KnownScores([0, 0.0, 1.0], [1.0, 3.0, 2.0], known=(0, 1))
    assert best(scores) == 1
    assert scores.short.ran == [2]
