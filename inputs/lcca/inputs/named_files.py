"""Files that a configuration names: what they hold belongs to what the configuration is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import BaseModel

from lcca.inputs.class_names import ClassName
from lcca.inputs.files import read_limited
from lcca.inputs.imports import digest_of_imports, digest_with_imports

_MARK = "names a file, or something packaged"

FileOrName = Annotated[str, _MARK]
"""A text that may be the name of a file, or of a class in Python, whose content matters."""


def digests_of_named_files(config: BaseModel) -> dict[str, str]:
    """Return a hash of every file that a `FileOrName` of a configuration names, by its dotted key.

    It is the SHA-256 of the content; of a class in Python also of what the file imports (see `files_named`).

    Raises:
        InputError: a file cannot be read.
    """
    return dict(_digests(config, ""))


def files_named(name: str) -> dict[str, str]:
    """Return a hash of the file that a name depends on, by the file's path; nothing where it names none.

    Args:
        name: a file, a class in Python, or a transport with a tuner whose model is in a file, as in
            ``dcqcn@acc:model.json,interval_us=50``.

    Raises:
        InputError: the file cannot be read.
    """
    named = None if Path(name).is_file() else ClassName.of(name)
    if named:
        path = named.file()
        if path is None or not path.is_file():
            return {}
        text = read_limited(path)
        return {str(path): digest_with_imports(text, digest_of_imports(text, named.package, path.parent))}
    models = [part.partition(":")[2].partition(",")[0].strip() for part in name.split("@")[1:]]
    return {file: hashlib.sha256(read_limited(file)).hexdigest() for file in (name, *models) if Path(file).is_file()}


def _digests(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Yield the key and the hash of each file that is named in a value of a configuration."""
    if isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            inner = getattr(value, name)
            inside = (getattr(item, "__metadata__", ()) for item in get_args(field.annotation))
            if any(_MARK in metadata for metadata in (field.metadata, *inside)):
                several = isinstance(inner, tuple)
                for i, text in enumerate(inner if several else [inner] if inner else []):
                    found = files_named(text).values()
                    yield from ((f"{key}{name}.{i}" if several else f"{key}{name}", digest) for digest in found)
            yield from _digests(inner, f"{key}{name}.")
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            yield from _digests(inner, f"{key}{i}.")
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _digests(inner, f"{key}{name}.")
