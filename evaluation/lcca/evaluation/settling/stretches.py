"""Stretches of networks that end where a rule looks, so that a run can end on what its last look rests on."""

from collections.abc import Iterator, Sequence

from lcca.evaluation.settling.base import Rule
from lcca.evaluation.trials.blocks import Block, blocks_between


def stretches(rule: Rule, block: int, size: int, most: int, earlier: Sequence[int] = ()) -> Iterator[Block]:
    """Yield stretches of at most so many networks; those that hold looks end at their last one.

    Args:
        rule: it counts blocks.
        block: networks in one of them.
        size: networks of a stretch without a look, in whole blocks.
        most: networks at which the stretches end.
        earlier: rising numbers at which those ended that are kept.
    """
    looks = [block * look for look in rule.looks_until(most // block)]
    ends = [0]
    while ends[-1] < most:
        end = min(ends[-1] + size, next(last for last in (*earlier, most) if last > ends[-1]))
        ends.append(max((look for look in looks if ends[-1] < look <= end), default=end))
    yield from blocks_between(ends[1:])
