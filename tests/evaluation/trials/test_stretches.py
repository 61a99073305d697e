"""Stretches of networks that end where a rule looks, and runs that can therefore end early."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcca.evaluation.comparison.compare import Comparison, compare_policies
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.group_sequential import GroupSequentialRule
from lcca.evaluation.settling.rules import BY_KIND, SettlingRule
from lcca.evaluation.trials.blocks import Block, Decision, run_blocks, stretches
from lcca.evaluation.trials.utilities import DEFAULT

BLOCK = 16


@given(st.sampled_from(sorted(BY_KIND)), st.integers(1, 9), st.integers(2, 20), st.integers(1, 8), st.integers(20, 100))
def test_they_hold_every_network_once_and_no_look_is_inside(
    kind: str, every: int, first: int, size: int, most: int
) -> None:
    rule = BY_KIND[kind](every=every, first_look=first)
    found = list(stretches(rule, BLOCK, BLOCK * size, BLOCK * most))
    assert [block.number for block in found] == list(range(len(found)))
    assert found[0].first == 0 and found[-1].end == BLOCK * most
    assert all(a.end == b.first for a, b in pairwise(found))
    assert all(0 < block.size <= BLOCK * size for block in found)
    looks = {BLOCK * look for look in rule.looks_until(most)}
    for block in found:  # a stretch that holds looks ends at one
        assert block.end in looks or not looks & set(range(block.first + 1, block.end))


def test_looks_are_those_that_a_comparison_makes() -> None:
    rng = np.random.default_rng(1)
    for rule in (SettlingRule(every=7), GroupSequentialRule(looks=4), SettlingRule(ceiling=11)):
        run = rule.ending_at(50).start()
        run.feed(rng.normal(size=50).tolist())
        assert [look.n for look in run.looks] == rule.looks_until(50)
    assert SettlingRule(every=7).looks_until(50) == [6, 13, 20, 27, 34, 41, 48, 50]


@pytest.mark.parametrize("rule", [SettlingRule(every=4), SettlingRule(every=5), GroupSequentialRule()], ids=repr)
def test_a_run_ends_at_a_look_that_is_accurate_and_rests_on_all_that_was_run(rule: Rule) -> None:
    bounded, most = rule.ending_at(200), 200 * BLOCK

    def trials(block: Block) -> tuple[np.ndarray, np.ndarray]:
        a = np.random.default_rng([3, block.first]).normal(size=block.size)
        return a, a + 0.1 + 0.02 * np.random.default_rng([4, block.first]).normal(size=block.size)

    def decide(parts: list[tuple[np.ndarray, np.ndarray]], _: int) -> Decision[Comparison]:
        a, b = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
        found = compare_policies("a", "b", a, b, utility=DEFAULT, rule=bounded, block=BLOCK)
        return Decision(found, found.enough)

    parts, found = run_blocks(stretches(bounded, BLOCK, 4 * BLOCK, most), trials, decide)
    assert found.n == sum(a.size for a, _ in parts) <= 60 * BLOCK
    assert found.enough and found.verdict.name == "better"
