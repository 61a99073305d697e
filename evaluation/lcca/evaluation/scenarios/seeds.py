"""Seeds that people choose lie close together; those of trials must not."""

from __future__ import annotations

from hashlib import blake2b

SEEDS = 2**63
"""There are so many: those that a table of trials holds."""

HASHED = 2**48
"""From here on seeds are hashes already: those that a campaign derives, and those of trials in a table."""


def seed_of(seed: int, number: int) -> int:
    """Return the seed of a trial among those of one seed, which are counted up from the first.

    A seed below `HASHED` is spread by a hash over the upper half of all, so that no two have a trial in common. Others
    stay as they are: by the seed of a trial, this trial comes first.
    """
    return (_first(seed) + number) % SEEDS


def number_of(trial: int, seed: int) -> int:
    """Return which of the trials of a seed has the seed `trial`."""
    return (trial - _first(seed)) % SEEDS


def _first(seed: int) -> int:
    if HASHED <= seed < SEEDS:
        return seed
    digest = blake2b(str(seed).encode(), digest_size=8, person=b"lcca-trials").digest()
    return SEEDS // 2 + (int.from_bytes(digest, "big") >> 2)
