"""The known headers, packaged as YAML (``catalogue/``), and those of users."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache

from lcca.inputs.validation import named, packaged
from lcca.signal_sets.headers.header import Header


def header(name_or_path: str | os.PathLike[str]) -> Header:
    """Return a header of the catalogue by its name, or the one in a YAML file (a path or ``….yaml``).

    Raises:
        InputError: an unknown name (with a suggestion), or a file that cannot be read or is outside the vocabulary: the
            message names file, line, key and what is missing.
    """
    return named("header", name_or_path, Header, packaged_headers)


@cache
def packaged_headers() -> Mapping[str, Header]:
    """Return the headers of the catalogue, by name."""
    return packaged("lcca.signal_sets.headers", "catalogue", Header)
