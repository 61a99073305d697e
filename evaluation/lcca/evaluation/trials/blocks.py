"""The one loop that runs blocks of paired trials until a rule says stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from lcca.evaluation.settling.base import Rule

Rows = TypeVar("Rows")
Found = TypeVar("Found")


@dataclass(frozen=True)
class Block:
    """A stretch of trials. Its networks and seeds follow from it alone, so it may be run again, anywhere.

    Attributes:
        number: of the block, from 0.
        first: number of its first trial (network, pair).
        size: how many there are.
    """

    number: int
    first: int
    size: int

    @property
    def end(self) -> int:
        """How many trials there are when it is done."""
        return self.first + self.size


class InBlocks(Protocol):
    """Something that trials come from, a block at a time."""

    @property
    def block(self) -> int:
        """How many have one mean, which is the unit of a rule."""

    def whole(self, count: int) -> int:
        """Return a number rounded up to whole blocks; less than a block stays as it is."""


def equal_blocks(size: int, most: int | None = None) -> Iterator[Block]:
    """Yield blocks of `size` trials, the last one cut off at `most`; without `most` they do not end."""
    for number in count():
        first = number * size
        if most is not None and first >= most:
            return
        yield Block(number, first, size if most is None else min(size, most - first))


def blocks_between(ends: Iterable[int]) -> Iterator[Block]:
    """Yield the blocks from 0 to the first of the rising `ends`, from there to the second, and so on."""
    for number, (first, end) in enumerate(pairwise([0, *ends])):
        yield Block(number, first, end - first)


def stretches(rule: Rule, block: int, size: int, most: int, earlier: Sequence[int] = ()) -> Iterator[Block]:
    """Yield blocks of at most so many networks that end where a rule looks, so that a run can end on its last look.

    Args:
        rule: it counts blocks.
        block: networks in one of them.
        size: networks of a stretch without a look, in whole blocks; others end at their last look.
        most: networks at which the stretches end.
        earlier: rising numbers at which those ended that are kept.
    """
    looks = [block * look for look in rule.looks_until(most // block)]
    ends = [0]
    while ends[-1] < most:
        end = min(ends[-1] + size, next(last for last in (*earlier, most) if last > ends[-1]))
        ends.append(max((look for look in looks if ends[-1] < look <= end), default=end))
    yield from blocks_between(ends[1:])


@dataclass(frozen=True)
class Decision(Generic[Found]):
    """What is known after a block.

    Attributes:
        found: comparisons, a ranking, an estimate.
        stop: whether no further block is wanted.
    """

    found: Found
    stop: bool


RunBlock: TypeAlias = Callable[[Block], Rows]
Keep: TypeAlias = Callable[[Block, RunBlock[Rows]], Rows]
"""Returns what a block gave, and runs it with the function unless it is there already."""


def in_memory(block: Block, run: RunBlock[Rows]) -> Rows:
    """Run a block; nothing is kept beyond this loop."""
    return run(block)


def run_blocks(
    plan: Iterable[Block],
    run: RunBlock[Rows],
    decide: Callable[[Sequence[Rows], int], Decision[Found]],
    *,
    tell: Callable[[int, Found], None] = lambda done, found: None,
) -> tuple[list[Rows], Found]:
    """Run blocks one after another until the decision is to stop or the plan ends.

    Args:
        plan: the blocks, in order.
        run: runs one of them; what it gives depends on the block alone.
        decide: asked after every block, with what all blocks so far gave, in order, and how many trials that is.
        tell: told after every block how many trials there are, and what is found.

    Returns:
        What each block gave, and what was found after the last one.

    Raises:
        ValueError: the plan is empty.
    """
    parts: list[Rows] = []
    decision: Decision[Found] | None = None
    for block in plan:
        parts.append(run(block))
        decision = decide(parts, block.end)
        tell(block.end, decision.found)
        if decision.stop:
            break
    if decision is None:
        raise ValueError("a plan needs at least one block")
    return parts, decision.found
