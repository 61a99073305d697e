"""YAML files that come with a package, by name, and those of users, by path."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import resources
from typing import TypeVar

from lcca.inputs.errors import InputError, did_you_mean
from lcca.inputs.named_files import YAML_ENDINGS
from lcca.inputs.validation import config_of, read_config

T = TypeVar("T")


def packaged(package: str, folder: str, model: type[T]) -> dict[str, T]:
    """Return the models in a package's folder of YAML files by the files' names, in their order."""
    found = (file for file in (resources.files(package) / folder).iterdir() if file.name.endswith(".yaml"))
    files = sorted(found, key=lambda file: file.name)
    return {file.name.removesuffix(".yaml"): config_of(file.read_bytes(), file.name, model) for file in files}


def named(what: str, name_or_path: str | os.PathLike[str], model: type[T], known: Callable[[], Mapping[str, T]]) -> T:
    """Return what is known by a name, or what a YAML file holds (a path or ``….yaml``).

    Args:
        what: it is, for the error.
        name_or_path: of it.
        model: of the file.
        known: returns all by name.

    Raises:
        InputError: an unknown name (with a suggestion), or a file that cannot be read or is wrong: the message names
            file, line and key.
    """
    name = os.fspath(name_or_path)
    if os.sep in name or name.endswith(YAML_ENDINGS):
        return read_config(name, model)
    if name not in known():
        raise InputError(f"unknown {what} {name[:60]!r}{did_you_mean(name, known())}; a file ends in .yaml")
    return known()[name]
