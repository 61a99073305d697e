"""Signal sets: which signals a congestion control may use. YAML, packaged (``sets/``) or of the user."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from pydantic import Field, ValidationError, field_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from lcca.remy_plus.errors import InputError, about, did_you_mean
from lcca.remy_plus.files import read_limited
from lcca.signal_sets.model import Model
from lcca.signal_sets.registry import SIGNALS, signal
from lcca.signal_sets.signal import Signal

_LARGEST_FILE = 2**16


class SignalSet(Model):
    """The signals that a congestion control may use, in the order of a rule table's axes.

    Attributes:
        name: short name, as in ``link+queue``.
        title: how tables and figures call it.
        signals: names of the registry, at least one, none twice.
        doc: why one would train with it.

    Raises:
        pydantic.ValidationError: on anything else.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9+._-]*$", max_length=60)
    title: str = Field(min_length=1, max_length=60)
    signals: tuple[str, ...] = Field(min_length=1)
    doc: str = ""

    @field_validator("signals")
    @classmethod
    def _known_once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for i, name in enumerate(names):
            signal(name)
            if name in names[:i]:
                raise ValueError(f"{name!r} is listed twice")
        return names

    @property
    def members(self) -> tuple[Signal, ...]:
        """The definitions of the signals."""
        return tuple(SIGNALS[name] for name in self.signals)

    @property
    def header_bits(self) -> int:
        """Bits of plain header that the in-network signals need; a field that two share counts once."""
        fields = {member.carries: member.header_bits for member in self.members if member.carries}
        return sum(fields.values())


def signal_set(name_or_path: str | os.PathLike[str]) -> SignalSet:
    """Return a packaged signal set by its name, or the one in a YAML file (a path or ``….yaml``).

    Raises:
        InputError: an unknown name (with a suggestion), or a file that cannot be read or is wrong: the
            message names file, line and key.
    """
    name = os.fspath(name_or_path)
    if os.sep in name or name.endswith((".yaml", ".yml")):
        return _parse(read_limited(name, _LARGEST_FILE), name)
    sets = packaged_sets()
    if name not in sets:
        raise InputError(f"unknown signal set {name[:60]!r}{did_you_mean(name, sets)}; a file ends in .yaml")
    return sets[name]


@cache
def packaged_sets() -> Mapping[str, SignalSet]:
    """Return the signal sets that come with the package, by name."""
    folder = resources.files("lcca.signal_sets") / "sets"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".yaml")), key=lambda file: file.name)
    sets = [_parse(file.read_bytes(), file.name) for file in files]
    return {found.name: found for found in sets}


def _parse(data: bytes, name: str) -> SignalSet:
    with about(name):
        document = _yaml(data)
    try:
        return SignalSet.model_validate(document)
    except ValidationError as error:
        raise InputError("\n".join(_problem(name, document, e) for e in error.errors()[:10])) from error


def _yaml(data: bytes) -> Any:
    try:
        document = YAML().load(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text (byte {error.start})") from error
    except (YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"not YAML: {_yaml_reason(error)}") from error
    if not isinstance(document, dict):
        raise InputError("a signal set is a mapping with the keys name, title, signals and doc")
    return document


def _yaml_reason(error: Exception) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is not None and problem:
        return f"line {mark.line + 1}: {problem}"
    return "nested too deep" if isinstance(error, RecursionError) else str(error).partition("\n")[0]


def _problem(name: str, document: Any, error: Mapping[str, Any]) -> str:
    """Return ``file:line: key: problem`` for one error of the model."""
    where = error["loc"]
    key = ".".join(map(str, where))
    if error["type"] == "extra_forbidden":
        hint = did_you_mean(str(where[-1]), SignalSet.model_fields)
        return f"{name}:{_line(document, where)}: {key}: unknown key{hint}"
    return f"{name}:{_line(document, where)}: {key}: {error['msg'].removeprefix('Value error, ')}"


def _line(document: Any, where: tuple[int | str, ...]) -> int:
    """Return the line of a key, or of the innermost thing around it that the document has."""
    node: Any = document
    line = 1
    for key in where:
        try:
            position = node.lc.item(key) if isinstance(key, int) else node.lc.key(key)
            node = node[key]
        except (AttributeError, KeyError, IndexError, TypeError):
            break
        line = position[0] + 1
    return line
