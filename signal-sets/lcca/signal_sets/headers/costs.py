"""What a header costs in a switch: bits of memory at a port, and operations on a packet.

Counted is what a port needs beyond what it has anyway: lengths of queues, counters of bytes, clocks, its rate, its AQM.
A register has 32 bits. An operation is one read, write, comparison, addition, multiplication or look-up in a table;
what is done once in an interval does not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lcca.remy_plus import _core
from lcca.signal_sets.headers.sources import SOURCES

if TYPE_CHECKING:
    from lcca.signal_sets.headers.field import HeaderField
    from lcca.signal_sets.headers.header import Header

_REGISTER = 32  # bits
_USES = ("util", "abw", "abw_over_c")
_TOKENS = ("arrival_slack", "pru_tokens")

_AVERAGES = {
    "tumbling": (3, 3),  # running and last sum, number of the interval; compare, add, read
    "rolling": (11, 4),  # ten sums and the number of the interval; compare, add, subtract, read
    "ewma": (2, 4),  # average and its time; subtract times, look the decay up, multiply, add
}
"""Registers of a measure over a window, and its operations on a packet."""


class SwitchCost(NamedTuple):
    """The cost of a header in a switch.

    Attributes:
        state_bits: memory at a port; None if it grows with the number of flows, as that of exact counts.
        operations: on a packet.
    """

    state_bits: int | None
    operations: int


def switch_cost(header: Header) -> SwitchCost:
    """Return what the fields that hops write cost together; what hosts write costs a switch nothing."""
    written = [field for field in header.fields if field.scope == "hop"]
    costs = [_source_cost(source, field) for field in written for source in sorted(field.measured)]
    states = [cost.state_bits for cost in costs if cost.state_bits is not None]
    operations = sum(cost.operations for cost in costs) + sum(2 + _operators(field) for field in written)
    held = sum("refresh" in field.measure.imprecision for field in written)  # a reading and the number of its interval
    operations += 2 * held
    return SwitchCost(sum(states) + 2 * held * _REGISTER if len(states) == len(costs) else None, operations)


def _operators(field: HeaderField) -> int:
    """Return the operators of a field's formulas; encoding and combining are two operations more."""
    formulas = [each for each in (field.formula, field.condition) if each is not None]
    return sum(kind not in ("name", "number") for formula in formulas for kind, _ in formula.postfix())


def _source_cost(source: str, field: HeaderField) -> SwitchCost:
    if source in ("flows", "rank"):
        return _count_cost(source, field.measure.memory_bits)
    window = field.measure.window
    if source in _USES:
        registers, operations = _AVERAGES.get(window, _AVERAGES["rolling"])
        return SwitchCost(registers * _REGISTER, operations + (source != "util"))
    if source in _TOKENS:
        return SwitchCost(_REGISTER, 3)
    own = SOURCES[source]
    registers, operations, varies = own.registers, own.operations, own.unit and own.varies
    more, steps = _AVERAGES.get(window, (0, 0)) if varies and window in ("tumbling", "ewma") else (0, 0)
    count = window == "tumbling" and more > 0  # of the samples, for their mean
    return SwitchCost((registers + more + count) * _REGISTER, operations + steps + count)


def _count_cost(source: str, memory_bits: int | None) -> SwitchCost:
    """Return the cost of what takes turns every interval: two maps of bits, or two arrays of cells and their counts.

    Flows: compare the interval, hash, set a bit, read the other map's, count, look the logarithm up. Ranks: compare,
    hash, find the bucket, read and write two cells, move three counts, add the smaller buckets of both arrays.
    """
    bits = _core.COUNT_BITS if memory_bits is None else memory_bits
    registers, operations = (2, 6) if source == "flows" else (2 * _core.RANK_BUCKETS + 1, 10 + 2 * _core.RANK_BUCKETS)
    return SwitchCost(2 * bits + registers * _REGISTER if bits else None, operations)
