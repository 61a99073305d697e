"""Which headers are tried: one number or two, in all windows and sizes, within a budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, zip_longest
from typing import TYPE_CHECKING

from lcca.inputs.errors import InputError
from lcca.signal_sets.headers.costs import switch_cost
from lcca.signal_sets.headers.header import Header
from lcca.signal_sets.headers.simulated import header_signals
from lcca.studies.design.ground import Ground
from lcca.studies.design.numbers import Number, Windows, numbers, placebos

if TYPE_CHECKING:
    from lcca.studies.design.config import Budget, SearchConfig

USUAL_BITS = 8
"""Of a number, before its code is searched."""

GRANTED_BITS = 16
"""Of a rate: finer than a queue, since flows send at it."""


@dataclass(frozen=True)
class Tried:
    """A header that a search tries.

    Attributes:
        numbers: that it carries, each with its bits.
    """

    numbers: tuple[tuple[Number, int], ...]

    @property
    def name(self) -> str:
        """Of the header."""
        return "+".join(number.label(bits) for number, bits in self.numbers)

    @property
    def oracle(self) -> bool:
        """Whether no switch of bounded memory can fill it."""
        return any(number.oracle for number, _ in self.numbers)

    @property
    def placebo(self) -> bool:
        """Whether it says nothing."""
        return all(number.placebo for number, _ in self.numbers)

    @property
    def content(self) -> tuple[str, ...]:
        """The names of its numbers."""
        return tuple(number.name for number, _ in self.numbers)

    @cached_property
    def header(self) -> Header:
        """Its description."""
        wanted = [each for number, bits in self.numbers for each in number.fields(bits)]
        least = {each["name"]: each for each in sorted(wanted, key=lambda field: -field["bits"])}
        fields = [least.pop(each["name"]) for each in wanted if each["name"] in least]  # what senders say serves all
        back = sum(each["bits"] for each in fields if each.get("scope") != "src_once")
        reflect = {"via": "ack"} | ({"bits": back} if any("scope" in each for each in fields) else {})
        title = " and ".join(f"{number.name} in {bits} bits" for number, bits in self.numbers)
        whole = {"name": self.name, "title": title[:60], "placement": {"layer": "l3"}, "fields": fields}
        return Header.model_validate(whole | {"reflect": reflect})

    @property
    def bytes(self) -> int:
        """On the wire of a data packet."""
        return self.header.wire_bytes(1)

    @property
    def state_bits(self) -> int | None:
        """Memory at a port; None where it grows with flows."""
        return None if self.oracle else switch_cost(self.header).state_bits

    @property
    def operations(self) -> int:
        """On a packet."""
        return switch_cost(self.header).operations

    @property
    def size(self) -> tuple[int, float, int]:
        """Bytes, state and operations, of which less is better; state without end for oracles."""
        return self.bytes, float("inf") if self.state_bits is None else self.state_bits, self.operations

    def within(self, most: Budget) -> bool:
        """Tell whether a budget has room for it; oracles, which nobody builds, are within any state."""
        state = 0 if self.state_bits is None else self.state_bits
        return self.bytes <= most.bytes and state <= most.state_bits and self.operations <= most.operations


class Listing:
    """The headers that a search may try on a place.

    Raises:
        InputError: none is within the budget, or the place has none of the sources; the key of `search` comes first.
    """

    def __init__(self, search: SearchConfig, ground: Ground) -> None:
        self.search = search
        windows = Windows(search.windows_rtts, search.memories, search.oracles)
        every = list(numbers(ground, windows))
        self.numbers = [each for each in every if search.sources == "all" or each.name in search.sources]
        known = {each.name for each in every}
        if absent := [each for each in search.sources if search.sources != "all" and each not in known]:
            place = "this fabric" if ground.fabric else "these networks"
            raise InputError(
                f"sources: {', '.join(absent)}: nothing that ports of {place} can say, or always the same; there are "
                f"{', '.join(sorted(known))}"
            )
        self.placebos = [Tried(((each, USUAL_BITS),)) for each in placebos(ground, search.placebos)]
        if self.numbers and not self.singles:
            smallest = min((Tried(((each, min(search.bits)),)) for each in self.numbers), key=lambda tried: tried.size)
            raise InputError(
                f"most: no header is within it; the smallest, {smallest.name}, takes {smallest.bytes} on the wire in "
                f"bytes, {smallest.state_bits or 0:,} bits of state and {smallest.operations} operations"
            )

    @property
    def over_budget(self) -> list[str]:
        """Names of numbers of which no header of one is within the budget."""
        within = {name for tried in self.singles for name in tried.content}
        return sorted({each.name for each in self.numbers} - within)

    def most_finalists(self) -> int:
        """Return how many headers may be confirmed at most, placebos where there is nothing else."""
        if not self.numbers:
            return min(self.search.finalists, len(self.placebos))
        pairs = self.pairs(self.singles)
        codes = self.codes([*self.singles, *pairs], {each.name for each in (*self.singles, *pairs)})
        return min(self.search.finalists, len(self.singles) + len(pairs) + len(codes))

    @cached_property
    def singles(self) -> list[Tried]:
        """Headers of one number."""
        return self._possible([Tried(((each, _bits(each)),)) for each in self.numbers])

    def pairs(self, best: Sequence[Tried]) -> list[Tried]:
        """Return headers of two numbers of different names: of each name the best of these headers of one number.

        None of them carries a signal twice, which senders would not read.
        """
        if self.search.fields < 2:
            return []
        first = {tried.content: tried.numbers[0] for tried in reversed(best) if not tried.placebo}
        return self._possible([Tried(pair) for pair in combinations(first.values(), 2)])

    def codes(self, best: Sequence[Tried], tried: Iterable[str]) -> list[Tried]:
        """Return headers like these in other sizes and windows, in turns, but for those that were tried."""
        known, found = set(tried), dict[str, Tried]()
        for turn in zip_longest(*(self._possible(self._variants(each)) for each in best)):
            for other in turn:
                if other is not None and other.name not in known:
                    found.setdefault(other.name, other)
        return list(found.values())[: self.search.codes]

    def _variants(self, tried: Tried) -> list[Tried]:
        """Return a header with one number in another size, or in another window."""
        made = []
        for at, (number, bits) in enumerate(tried.numbers):
            other = [(number, each) for each in self.search.bits if each != bits]
            other += [(each, bits) for each in self.numbers if each.name == number.name and each != number]
            other += [(each, b) for each, _ in other[len(self.search.bits) :] for b in self.search.bits if b != bits]
            made += [Tried((*tried.numbers[:at], each, *tried.numbers[at + 1 :])) for each in other]
        return made

    def _possible(self, headers: Sequence[Tried]) -> list[Tried]:
        """Return headers within the budget whose fields all tell something, each once."""
        found: dict[str, Tried] = {}
        for each in headers:
            if len(header_signals(each.header)) == len(each.numbers) and each.within(self.search.most):
                found.setdefault(each.name, each)
        return list(found.values())


def _bits(number: Number) -> int:
    return GRANTED_BITS if number.grants or number.name == "rcp" else USUAL_BITS
