"""What of the parts that only some users need is installed: the extras of ``lcca``, ns-3, and what Linux must have."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata

from lcca.gym_envs.linux.checks import pieces
from lcca.gym_envs.linux.simulator import installed as linux_installed
from lcca.gym_envs.ns3.simulator import installed
from lcca.inputs.errors import InputError

_OF_EXTRA = re.compile(r"([\w-]+).*; extra == \"([\w-]+)\"")


@dataclass(frozen=True)
class Part:
    """A part that may be missing.

    Attributes:
        name: of the extra, ``ns-3``, ``lcca-linux`` or a piece of this machine, as in ``linux: namespaces``.
        usable: whether all of it is installed.
        detail: its versions, or what is missing.
        fix: how to install it; empty where it is usable.
    """

    name: str
    usable: bool
    detail: str
    fix: str = ""


def optional_parts() -> list[Part]:
    """Return every extra and simulator, usable or not; nothing of an extra is imported."""
    beside = [_simulator("ns-3", installed), _simulator("lcca-linux", linux_installed)]
    machine = [Part(name, usable, found, "" if usable else fix) for name, usable, found, fix in pieces()]
    return [*(_extra(name, packages) for name, packages in extras().items()), *beside, *machine]


def extras() -> dict[str, list[str]]:
    """Return the distributions of each extra but that of developers, as `pyproject.toml` has them."""
    found: dict[str, list[str]] = {}
    for line in metadata.requires("lcca") or ():
        if (each := _OF_EXTRA.fullmatch(line)) and each[2] != "dev":
            found.setdefault(each[2], []).append(each[1])
    return found


def _extra(name: str, packages: Sequence[str]) -> Part:
    versions: dict[str, str | None] = {}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    absent = [package for package, version in versions.items() if version is None]
    if absent:
        return Part(name, False, f"not installed: {', '.join(absent)}", f"pip install 'lcca[{name}]'")
    return Part(name, True, ", ".join(f"{package} {version}" for package, version in versions.items()))


def _simulator(name: str, version: Callable[[], str]) -> Part:
    try:
        return Part(name, True, version())
    except InputError as error:
        detail, _, fix = str(error).partition(": ")
        return Part(name, False, detail, fix)
