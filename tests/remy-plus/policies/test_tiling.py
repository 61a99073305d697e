"""Do the boxes of a table cover everything exactly once?"""

import dataclasses
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcca.inputs.errors import InputError
from lcca.remy_plus.core.signals import SIGNAL_CEILING, SIGNALS
from lcca.remy_plus.policies import tiling as module
from lcca.remy_plus.policies.rules import RuleTable, bisect, one_rule
from lcca.remy_plus.policies.tiling import tiling

TOP = SIGNAL_CEILING
seeds = st.integers(0, 2**32 - 1)


def with_boxes(table, lower, upper):
    ones = np.ones(len(lower))
    return RuleTable(table.signals, lower, upper, ones, ones, ones)


def random_tiling(seed, rules, k):
    """Boxes cut one axis at a time at random points, shuffled: any k, any number."""
    random = np.random.default_rng(seed)
    lower, upper = [np.zeros(k)], [np.full(k, TOP)]
    while len(lower) < rules:
        i, axis = int(random.integers(len(lower))), int(random.integers(k))
        cut = random.uniform(lower[i][axis], upper[i][axis])
        if lower[i][axis] < cut < upper[i][axis]:
            lower.append(lower[i].copy())
            upper.append(upper[i].copy())
            lower[-1][axis] = upper[i][axis] = cut
    order = random.permutation(rules)
    return with_boxes(one_rule(SIGNALS[:k]), np.array(lower)[order], np.array(upper)[order])


@given(seeds, st.integers(1, 40), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_tilings_pass(seed, rules, k):
    tiling(random_tiling(seed, rules, k))


@given(seeds, st.integers(2, 40), st.integers(1, 5), st.integers(0, 39))
@settings(max_examples=60, deadline=None)
def test_a_missing_box_is_found_and_a_point_in_it_named(seed, rules, k, gone):
    table = random_tiling(seed, rules, k)
    keep = np.arange(rules) != gone % rules
    leaky = with_boxes(table, table.lower[keep], table.upper[keep])
    with pytest.raises(InputError, match="no rule holds"):
        tiling(leaky)
    hole = np.array(module._hole(leaky.lower, leaky.upper))
    assert (table.lower[~keep] <= hole).all()
    assert (hole < table.upper[~keep]).all()


@given(seeds, st.integers(2, 40), st.integers(1, 5), st.integers(0, 39))
@settings(max_examples=60, deadline=None)
def test_a_box_too_large_is_found_and_both_rules_named(seed, rules, k, which):
    table = random_tiling(seed, rules, k)
    i = which % rules
    grown = [j for j in range(k) if table.lower[i, j] > 0]
    lower = table.lower.copy()
    if not grown:
        return
    lower[i, grown[0]] = np.nextafter(lower[i, grown[0]], 0)  # by the smallest possible step
    with pytest.raises(InputError, match=rf"rules (\d+ and {i}|{i} and \d+) overlap at") as caught:
        tiling(with_boxes(table, lower, table.upper))
    named = [int(word) for word in str(caught.value).split() if word.isdigit()][:2]
    assert named == sorted(named)


def test_the_smallest_leak_is_found():
    cut = 1.0
    table = one_rule(("send_ewma", "rtt_ratio"))
    lower = np.array([[0, 0], [np.nextafter(cut, 2), 0]])
    upper = np.array([[cut, TOP], [TOP, TOP]])
    with pytest.raises(InputError, match="no rule holds send_ewma=1, rtt_ratio=0: the boxes leave a gap there"):
        tiling(with_boxes(table, lower, upper))


def test_subnormal_bounds_are_exact():
    tiny = 5e-324
    table = one_rule(SIGNALS[:9])
    medians = np.full(9, tiny)
    medians[4:] = TOP / 2
    tiling(bisect(table, 0, medians))


def test_a_pinwheel_tiles_without_a_cut_from_side_to_side():
    a, b = TOP / 3, 2 * TOP / 3
    lower = np.array([[0, 0], [a, 0], [b, a], [0, a], [a, a]])[[0, 1, 2, 3, 4]]
    lower = np.array([[0, 0], [b, 0], [a, b], [0, a], [a, a]])
    upper = np.array([[b, a], [TOP, b], [TOP, TOP], [a, TOP], [b, b]])
    tiling(with_boxes(one_rule(("send_ewma", "link")), lower, upper))


def test_dead_boxes_do_not_count():
    lower = np.array([[5, 0], [0, 0], [7, 7]])
    upper = np.array([[5, TOP], [TOP, TOP], [7, 7]])
    tiling(with_boxes(one_rule(("send_ewma", "link")), lower, upper))


def test_overlap_and_leak_of_equal_volume_do_not_cancel():
    lower = np.array([[0], [0]])
    upper = np.array([[TOP / 2], [TOP / 2]])
    with pytest.raises(InputError, match="rules 0 and 1 overlap at send_ewma=0"):
        tiling(with_boxes(one_rule(("send_ewma",)), lower, upper))


@pytest.mark.parametrize("k", [4, 9])
def test_five_thousand_rules_are_checked_in_time(k):
    table = random_tiling(1, 5000, k)
    began = time.process_time()
    tiling(table)
    assert time.process_time() - began < 10


def test_many_entangled_boxes_end_in_one_error():
    n = 2 * module._LARGEST
    lower = np.zeros((n, 2))
    upper = np.full((n, 2), TOP)
    with pytest.raises(InputError, match="too entangled"):
        tiling(with_boxes(one_rule(("send_ewma", "link")), lower, upper))


def test_tiling_ignores_actions(grow):
    table = grow(3)
    tiling(dataclasses.replace(table, pacing_kind="absolute"))
