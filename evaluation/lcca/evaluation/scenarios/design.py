"""Where the networks of a block lie: a scrambled Sobol design that no two blocks share.

Networks are drawn in blocks. Within a block of n networks the range of every varying parameter is cut into n equally
likely cells, and each cell is met once (a Latin hypercube); which cells meet is told by a Sobol sequence (Sobol 1967,
direction numbers of Joe & Kuo 2008), so that also pairs of parameters are spread evenly. Each block is randomised by
itself: a random linear scramble of the digits (Matoušek 1998) and a digital shift for each parameter, one random order
of the points, and a random place inside each cell. So a network by itself is uniform over all levels, blocks are
independent and identically distributed, and the mean over a block varies less than the mean over independent networks.

Everything random is a hash of seed, block or network, and the parameter's name: no library's generator is involved.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b

DIRECTIONS = {
    "buffer": (32, 16, 8, 4, 2, 1),
    "senders": (32, 48, 40, 60, 34, 51),
    "link_rate": (32, 48, 24, 36, 58, 23),
    "mean_on": (32, 48, 8, 20, 62, 29),
    "rtt": (32, 16, 8, 44, 62, 55),
    "mean_off": (32, 16, 24, 12, 50, 9),
    "loss": (32, 48, 40, 52, 22, 37),
    "jitter": (32, 16, 40, 20, 34, 9),
}
"""The first direction numbers, in 1/64, of the dimension that spreads each parameter: Sobol's first eight in order.

Of the pairs among 16 points, those with senders, link_rate and mean_on are the most even this way.
"""

FEWEST = 16
"""Networks in a block at least: fewer are no sample, and their mean is as skewed as single networks."""

MOST_STRATA = 64


def block_size(levels: int) -> int:
    """Return how many networks a block has whose stratified parameter has so many levels.

    Each level is met equally often, once from `FEWEST` levels on; `FEWEST` groups of equal probability take the place
    of more than `MOST_STRATA` levels, or of none.
    """
    if not 2 <= levels <= MOST_STRATA:
        return FEWEST
    return levels * -(-FEWEST // levels)


class BlockDesign:
    """The cells of one block's networks.

    Attributes:
        seed: of the sample.
        number: of the block, from 0.
        size: networks in it, which is also the number of cells of each parameter.
    """

    def __init__(self, seed: int, number: int, size: int) -> None:
        """Put the points of the block in order."""
        self.seed, self.number, self.size = seed, number, size
        self._order = _shuffled(size, f"{seed}/block {number}")

    def cells(self, parameter: str) -> list[int]:
        """Return the cell of each network for one parameter: every cell from 0 to size − 1 once."""
        bits = _digits(self.size)
        scramble = Scramble(bits, _hash(f"{self.seed}/block {self.number}/{parameter}"))
        scrambled = [scramble(point >> _digits(MOST_STRATA) - bits) for point in sobol_points(parameter, self.size)]
        rank = {value: place for place, value in enumerate(sorted(scrambled))}
        return [rank[scrambled[point]] for point in self._order]

    def indices(self, parameter: str, levels: int) -> list[int]:
        """Return the level, from 0, of each network: all levels are equally likely, up to levels / 2⁶⁴."""
        first = self.number * self.size
        return [
            ((cell << 64) + _hash(f"{self.seed}/{network}/{parameter}")) * levels // (self.size << 64)
            for network, cell in enumerate(self.cells(parameter), first)
        ]


class Scramble:
    """A random linear scramble of binary digits, the most significant first, and a digital shift."""

    def __init__(self, bits: int, randomness: int) -> None:
        """Take the shift and the columns of the matrix, unit lower triangular, from 64 random bits."""
        taken = _bits(randomness)
        self._bits = bits
        self._shift = _number(taken, bits)
        self._columns = [1 << below | _number(taken, below) for below in reversed(range(bits))]

    def __call__(self, value: int) -> int:
        """Return the scrambled number; different ones stay different."""
        found = self._shift
        for digit, column in enumerate(self._columns):
            if value >> self._bits - 1 - digit & 1:
                found ^= column
        return found


def _bits(randomness: int) -> Iterator[int]:
    return (randomness >> place & 1 for place in range(64))


def _number(bits: Iterator[int], count: int) -> int:
    return sum(next(bits) << place for place in range(count))


def _digits(size: int) -> int:
    return (size - 1).bit_length()


@lru_cache(maxsize=32)
def sobol_points(parameter: str, count: int) -> tuple[int, ...]:
    """Return the first points of Sobol's sequence in a parameter's dimension, as whole numbers below `MOST_STRATA`."""
    return tuple(_combined(DIRECTIONS[parameter], point) for point in range(count))


def _combined(directions: Sequence[int], point: int) -> int:
    found = 0
    for digit, direction in enumerate(directions):
        found ^= direction * (point >> digit & 1)
    return found


def _hash(key: str) -> int:
    """Return 64 random bits: BLAKE2b over the key."""
    return int.from_bytes(blake2b(key.encode(), digest_size=8, person=b"lcca-networks").digest(), "big")


def passes(seed: int, block: str, count: int, length: int) -> list[int]:
    """Return which entries of a list the networks of a block are: all of them in turn, each time in another order.

    An entry is met ⌊count / length⌋ times, or once more by chance: all are equally likely, and blocks are independent.
    """
    orders = (_shuffled(length, f"{seed}/block {block}/pass {first}") for first in range(0, count, length))
    return [entry for order in orders for entry in order][:count]


def _shuffled(count: int, key: str) -> list[int]:
    """Return 0 … count − 1 in a random order (Fisher & Yates)."""
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = _hash(f"{key}/order {last}") * (last + 1) >> 64
        order[last], order[other] = order[other], order[last]
    return order
