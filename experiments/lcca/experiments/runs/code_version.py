"""A hash of the code that can have an effect on a result, found by following imports from where the result is made."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from functools import cache

from lcca.inputs.digests.imports import NAMESPACE, ImportReader, top_of
from lcca.inputs.studies import behind, folders, full_name

SHOWING = (
    f"{NAMESPACE}.evaluation.report",
    f"{NAMESPACE}.experiments.runs.progress",
    *(full_name(name, "report") for name in folders()),
)
"""What shows results and decides none."""


@cache
def code_version(modules: tuple[str, ...], besides: tuple[str, ...] = ()) -> str:
    """Return a hash of these modules, all that they can reach, and the versions of Python and of other libraries.

    Modules of lcca and of the named modules' own packages count by their content, with the YAML files in folders beside
    them (flow sizes, the catalogue of headers), but not those below `besides`.
    """
    own = {NAMESPACE, *map(top_of, modules)}
    found = _reader().reached(modules, own.__contains__)
    if looked_up := behind(found.own):
        found = _reader().reached((*modules, *looked_up), own.__contains__)
    code = {name: file for name, file in found.own.items() if not name.startswith(besides)}
    data = {
        f"{name} {file.parent.name}/{file.name}": file
        for name, init in code.items()
        if init.name == "__init__.py"
        for file in init.parent.glob("*/*.yaml")
    }
    found = replace(found, own=code | data)
    python = f"python {sys.version_info.major}.{sys.version_info.minor}\n"
    return hashlib.sha256(f"{python}{found.digest}".encode()).hexdigest()


@cache
def _reader() -> ImportReader:
    return ImportReader()
