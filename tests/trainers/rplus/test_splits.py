"""Splits change no decision; gains find the split that a score depends on."""

from __future__ import annotations

import numpy as np
import pytest

from lcca.remy_plus.policies.rules import RuleTable, one_rule
from lcca.trainers.rplus.splits import Split, best, contrasts, gains, half_differences, parts, split

SIGNALS = ("rtt_ratio", "queue")


def table() -> RuleTable:
    three = split(split(one_rule(SIGNALS), [Split(0, 0, 1.5)]), [Split(1, 1, 4.0)])
    return three.with_action(0, 1, 0.5, 1).with_action(1, 2, 0.6, 1).with_action(2, 3, 0.7, 1)


def test_a_split_alone_changes_no_action_anywhere() -> None:
    before = table()
    after = split(before, [Split(0, 1, 2.0), Split(2, 0, 3.0)])
    assert len(after) == 5
    for point in np.random.default_rng(1).uniform(0, [5, 8], (300, 2)):
        old, new = before.find(point), after.find(point)
        assert (after.increment[new], after.multiple[new]) == (before.increment[old], before.multiple[old])


def test_the_parts_of_splits_are_next_to_each_other() -> None:
    splits = [Split(0, 1, 2.0), Split(2, 0, 3.0)]
    low, after = parts(splits), split(table(), splits)
    assert low.tolist() == [0, 3]
    for at, each in zip(low, splits, strict=True):
        assert after.upper[at, each.axis] == each.cut == after.lower[at + 1, each.axis]


def test_contrasts_move_the_parts_apart_and_nothing_else() -> None:
    directions = np.random.default_rng(1).normal(size=(4, 2, 3))
    moved = contrasts([Split(0, 1, 2.0), Split(2, 0, 3.0)], directions, 5)
    np.testing.assert_array_equal(moved[:, [0, 3]], directions)
    np.testing.assert_array_equal(moved[:, [1, 4]], -directions)
    assert (moved[:, 2] == 0).all()


def test_gains_are_squared_slopes_less_their_noise() -> None:
    """Over many repetitions: the slope's square where there is one, close to 0 where there is none."""
    rng, slope, found = np.random.default_rng(1), np.zeros((4, 3)), []
    slope[2] = [0.5, 0, -0.3]
    for _ in range(400):
        directions = rng.normal(size=(100, 4, 3))
        halves = np.tensordot(directions, slope, 2) + 0.2 * rng.normal(size=100)
        found.append(gains(halves, np.ones((100, 4), dtype=bool), directions))
    mean = np.mean(found, axis=0)
    assert mean[2] == pytest.approx(0.34, rel=0.1)
    assert (mean[[0, 1, 3]] < 0.02).all()
    assert np.mean([np.argmax(each) == 2 for each in found]) > 0.99


def test_a_split_that_is_never_looked_up_gains_nothing() -> None:
    rng = np.random.default_rng(2)
    used = np.array([[True, False]] * 50)
    assert gains(rng.normal(size=50), used, rng.normal(size=(50, 2, 3)))[1] == 0


def test_the_best_splits_are_one_of_each_rule_with_a_gain() -> None:
    found = [(3.0, Split(4, 0, 1.0)), (5.0, Split(4, 1, 2.0)), (1.0, Split(0, 0, 1.0)), (0.0, Split(1, 0, 1.0))]
    assert best(found, 9) == [Split(0, 0, 1.0), Split(4, 1, 2.0)]
    assert best(found, 1) == [Split(4, 1, 2.0)]
    assert best([], 3) == []


def test_outliers_are_cut_and_nothing_else() -> None:
    above = np.array([1.0, -2.0, 3.0, 400.0, -1.0])
    assert half_differences(above, np.zeros(5)).tolist() == [0.5, -1, 1.5, 3, -0.5]
