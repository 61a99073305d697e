"""The files that a configuration names, each with a hash of what it depends on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from lcca.inputs.digests.imports import digest_with_imports, reached_by, sha256
from lcca.inputs.files import read_limited
from lcca.inputs.names import MIXTURE, NAMES_A_FILE, YAML_ENDINGS, ClassName

if TYPE_CHECKING:
    from pydantic import BaseModel


def digests_of_named_files(config: BaseModel) -> dict[str, str]:
    """Return a hash of every file that a `FileOrName` of a configuration names, by its dotted key.

    It is the SHA-256 of the content; of a class in Python also of what the file imports (see `files_named`).

    Raises:
        InputError: a file cannot be read.
    """
    return {key: digest for at, model in _models(config) for key, digest in _digests(at, model)}


def libraries_of(config: BaseModel) -> dict[str, str]:
    """Return the versions of the packages that the models of a configuration name in `libraries`, if installed."""
    named = (getattr(model, "libraries", {}).items() for _, model in _models(config))
    packages = {package for each in named for module, package in each if find_spec(module) is not None}
    return {package: metadata.version(package) for package in sorted(packages)}


def files_named(name: str) -> dict[str, str]:
    """Return a hash of each file that a name depends on, by the file's path; nothing where it names none.

    Args:
        name: a file, a class in Python, or a transport with a tuner whose model is in a file, as in
            ``dcqcn@acc:model.json,interval_us=50``.

    Raises:
        InputError: the file cannot be read.
    """
    if mixed := MIXTURE.fullmatch(name):
        return files_named(mixed["adopted"]) | files_named(mixed["other"])
    named = None if Path(name).is_file() else ClassName.of(name)
    if named:
        path = named.file()
        if path is None or not path.is_file():
            return {}
        text = read_limited(path)
        return {str(path): digest_with_imports(text, reached_by(text, named.package, path.parent).digest)}
    models = [part.partition(":")[2].partition(",")[0].strip() for part in name.split("@")[1:]]
    return {file: digest for named in (name, *models) for file, digest in _with_extended(named)}


def _with_extended(file: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the hash of a file, if it is one, and of those that it extends in YAML."""
    from lcca.inputs.yaml_text import parse  # commands that read none start without it

    if Path(file).is_file():
        data = read_limited(file)
        yield file, sha256(data)
        content = parse(data.decode("utf-8-sig"), file)[0] if file.endswith(YAML_ENDINGS) else None
        if isinstance(content, dict) and "extends" in content:
            yield from _with_extended(os.path.normpath(Path(file).parent / str(content["extends"])))


def _models(value: Any, key: str = "") -> Iterator[tuple[str, BaseModel]]:
    """Yield all models in a value, with what their keys begin with."""
    if fields := getattr(type(value), "model_fields", None):
        yield key, value
        value = {name: getattr(value, name) for name in fields}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    for name, inner in items:
        yield from _models(inner, f"{key}{name}.")


def _digests(key: str, model: BaseModel) -> Iterator[tuple[str, str]]:
    """Yield the key and the hash of each file that a model itself names, given what its keys begin with."""
    for name, field in type(model).model_fields.items():
        inside = (getattr(item, "__metadata__", ()) for item in get_args(field.annotation))
        if any(NAMES_A_FILE in metadata for metadata in (field.metadata, *inside)):
            inner = getattr(model, name)
            several = isinstance(inner, tuple)
            for i, text in enumerate(inner if several else [inner] if inner else []):
                if not isinstance(text, str):
                    continue  # what the file held is in its place
                if found := [*files_named(text).values()]:
                    whole = found[0] if len(found) == 1 else sha256(" ".join(found).encode())
                    yield f"{key}{name}.{i}" if several else f"{key}{name}", whole
