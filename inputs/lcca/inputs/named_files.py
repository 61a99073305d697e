"""Files that a configuration names: what they hold belongs to what the configuration is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel

from lcca.inputs.class_names import ClassName
from lcca.inputs.files import read_limited

_MARK = "names a file, or something packaged"

FileOrName = Annotated[str, _MARK]
"""A text that may be the name of a file, or of a class in Python, whose content matters."""


def digests_of_named_files(config: BaseModel) -> dict[str, str]:
    """Return the SHA-256 of every file that a `FileOrName` of a configuration names, by its dotted key.

    Raises:
        InputError: a file cannot be read.
    """
    return {key: hashlib.sha256(read_limited(path)).hexdigest() for key, path in _files(config, "")}


def _files(value: Any, key: str) -> Iterator[tuple[str, Path]]:
    """Yield the key and the path of each file that is named in a value of a configuration."""
    if isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            inner = getattr(value, name)
            if _MARK in field.metadata and isinstance(inner, str) and (file := _file(inner)):
                yield f"{key}{name}", file
            yield from _files(inner, f"{key}{name}.")
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            yield from _files(inner, f"{key}{i}.")
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _files(inner, f"{key}{name}.")


def _file(name: str) -> Path | None:
    """Return the file that a text names, if it names one."""
    if Path(name).is_file():
        return Path(name)
    named = ClassName.of(name)
    return named.file() if named else None
