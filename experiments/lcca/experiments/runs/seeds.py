"""Seeds of a campaign's parts, derived so that no two parts share random streams."""

from __future__ import annotations

import hashlib


def derive(seed: int, *words: str | int) -> int:
    """Return a 63-bit seed for the part that the words name. The same words always give the same seed."""
    text = "\x1f".join(map(str, (seed, *words)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1
