"""Which build of the engine this is: results may be put together only where it is the same."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path

from lcca.remy_plus import _core


@cache
def build() -> str:
    """Return the version of lcca and a hash of the compiled engine."""
    engine = hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:12]
    return f"lcca {metadata.version('lcca')}, engine {engine}"
