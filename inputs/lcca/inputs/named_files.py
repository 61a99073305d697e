"""Files that a configuration names: what they hold belongs to what the configuration is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel

from lcca.inputs.class_names import ClassName
from lcca.inputs.files import read_limited
from lcca.inputs.imports import digest_of_imports, digest_with_imports

_MARK = "names a file, or something packaged"

FileOrName = Annotated[str, _MARK]
"""A text that may be the name of a file, or of a class in Python, whose content matters."""


def digests_of_named_files(config: BaseModel) -> dict[str, str]:
    """Return a hash of every file that a `FileOrName` of a configuration names, by its dotted key.

    It is the SHA-256 of the content; of a class in Python also of what the file imports (see `digest_of_imports`).

    Raises:
        InputError: a file cannot be read.
    """
    return dict(_digests(config, ""))


def _digests(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Yield the key and the hash of each file that is named in a value of a configuration."""
    if isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            inner = getattr(value, name)
            if _MARK in field.metadata and isinstance(inner, str) and (digest := _digest(inner)):
                yield f"{key}{name}", digest
            yield from _digests(inner, f"{key}{name}.")
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            yield from _digests(inner, f"{key}{i}.")
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _digests(inner, f"{key}{name}.")


def _digest(name: str) -> str:
    """Return the hash of what a text names; empty if it names no file."""
    named = None if Path(name).is_file() else ClassName.of(name)
    path = named.file() if named else Path(name)
    if path is None or not path.is_file():
        return ""
    text = read_limited(path)
    return digest_with_imports(text, digest_of_imports(text, named.package, path.parent) if named else "")
