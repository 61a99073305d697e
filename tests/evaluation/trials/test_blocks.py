"""The loop that runs blocks of paired trials until a rule says stop."""

from collections.abc import Callable, Sequence

import pytest

from lcca.evaluation.trials.blocks import Block, Decision, blocks_between, equal_blocks, run_blocks


def trials(block: Block) -> list[int]:
    """What a block gives: the numbers of its trials."""
    return list(range(block.first, block.end))


def until(enough: int) -> Callable[[Sequence[list[int]], int], Decision[int]]:
    """A rule that finds the sum of all trials and stops at so many."""

    def decide(parts: Sequence[list[int]], done: int) -> Decision[int]:
        assert done == sum(map(len, parts))
        return Decision(sum(map(sum, parts)), done >= enough)

    return decide


@pytest.mark.parametrize(("size", "most", "sizes"), [(4, 10, [4, 4, 2]), (5, 10, [5, 5]), (20, 7, [7]), (3, 1, [1])])
def test_equal_blocks_hold_every_trial_once(size: int, most: int, sizes: list[int]) -> None:
    plan = list(equal_blocks(size, most))
    assert [block.size for block in plan] == sizes
    assert [block.number for block in plan] == list(range(len(sizes)))
    assert [trial for block in plan for trial in trials(block)] == list(range(most))


def test_blocks_may_grow() -> None:
    assert list(blocks_between([20, 30, 100])) == [Block(0, 0, 20), Block(1, 20, 10), Block(2, 30, 70)]


def test_it_stops_after_the_block_that_decides_and_tells_of_each() -> None:
    told: list[tuple[int, int]] = []
    parts, found = run_blocks(equal_blocks(4), trials, until(8), tell=lambda done, found: told.append((done, found)))
    assert parts == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert told == [(4, 6), (8, 28)] and found == 28


def test_it_ends_with_its_plan_though_nothing_is_decided() -> None:
    parts, found = run_blocks(equal_blocks(4, 6), trials, until(100))
    assert parts == [[0, 1, 2, 3], [4, 5]] and found == 15


def test_a_plan_without_blocks_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one block"):
        run_blocks([], trials, until(1))
