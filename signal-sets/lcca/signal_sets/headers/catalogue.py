"""The known headers, packaged as YAML (``catalogue/``), and those of users."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import resources

from lcca.inputs.errors import InputError, did_you_mean
from lcca.inputs.validation import config_of, read_config
from lcca.signal_sets.headers.header import Header


def header(name_or_path: str | os.PathLike[str]) -> Header:
    """Return a header of the catalogue by its name, or the one in a YAML file (a path or ``….yaml``).

    Raises:
        InputError: an unknown name (with a suggestion), or a file that cannot be read or is outside the vocabulary: the
            message names file, line, key and what is missing.
    """
    name = os.fspath(name_or_path)
    if os.sep in name or name.endswith((".yaml", ".yml")):
        return read_config(name, Header)
    known = packaged_headers()
    if name not in known:
        raise InputError(f"unknown header {name[:60]!r}{did_you_mean(name, known)}; a file ends in .yaml")
    return known[name]


@cache
def packaged_headers() -> Mapping[str, Header]:
    """Return the headers of the catalogue, by name."""
    folder = resources.files("lcca.signal_sets.headers") / "catalogue"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".yaml")), key=lambda file: file.name)
    headers = [config_of(file.read_bytes(), file.name, Header) for file in files]
    return {found.name: found for found in headers}
