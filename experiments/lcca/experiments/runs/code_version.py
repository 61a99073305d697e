"""A hash of the code that can have an effect on a result, found by following imports from where the result is made.

Imports are read from the source and not from what happens to be loaded: those inside functions count, and those for
annotations too, since what a function is given comes from there. A text that is the name of a module, as in
``"lcca.trainers.drl.ppo:Ppo"``, counts as an import of it. Of other libraries the version stands for the code.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from importlib.machinery import ModuleSpec
from importlib.util import resolve_name
from pathlib import Path

NAMESPACE = "lcca"
_NAME_IN_TEXT = re.compile(rf"({NAMESPACE}(?:\.\w+)+)(?::\w+)?")


@cache
def code_version(modules: tuple[str, ...]) -> str:
    """Return a hash of these modules, all that they can reach, and the versions of Python and of other libraries."""
    own, others = reached(modules)
    digest = hashlib.sha256(f"python {sys.version_info.major}.{sys.version_info.minor}\n".encode())
    for name in sorted(others):
        digest.update(f"{name} {_versions(name)}\n".encode())
    for name in sorted(own):
        digest.update(name.encode() + b"\0" + hashlib.sha256(_content(own[name])).digest())
    return digest.hexdigest()


def reached(modules: Iterable[str]) -> tuple[dict[str, Path], set[str]]:
    """Return the modules of lcca, and of the named modules' own packages, that these can reach, with their files.

    Returns:
        files by module, and the names of the other libraries that are imported.
    """
    ahead = list(modules)
    followed = {NAMESPACE, *map(_top, ahead)}
    own: dict[str, Path] = {}
    others: set[str] = set()
    while ahead:
        name = ahead.pop()
        if _top(name) not in followed:
            others |= {_top(name)} - sys.stdlib_module_names
        elif name not in own and (file := _file(name)) is not None:
            own[name] = file
            ahead += [*_parents(name), *_imports(name, file)]
    return own, others


def _top(name: str) -> str:
    return name.partition(".")[0]


def _content(file: Path) -> bytes:
    return file.read_bytes()


def _parents(name: str) -> list[str]:
    """Return the packages around a module: importing it runs them."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]


@cache
def _imports(name: str, file: Path) -> tuple[str, ...]:
    """Return the names of all modules that a module may import; what is imported from a module may be one too."""
    if file.suffix != ".py":
        return ()
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    return tuple(found for node in ast.walk(ast.parse(_content(file))) for found in _named(node, package))


def _named(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        source = resolve_name("." * node.level + (node.module or ""), package)
        yield from (source, *(f"{source}.{alias.name}" for alias in node.names))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        if found := _NAME_IN_TEXT.fullmatch(node.value):
            yield found[1]


def _file(name: str) -> Path | None:
    """Return the file of a module, None for a namespace and for what is no module."""
    spec = _spec(name)
    return Path(spec.origin) if spec is not None and spec.origin is not None else None


@cache
def _spec(name: str) -> ModuleSpec | None:
    """Find a module without importing the packages around it, which may need libraries that are not installed."""
    parent = name.rpartition(".")[0]
    path = None
    if parent:
        around = _spec(parent)
        if around is None or around.submodule_search_locations is None:
            return None
        path = list(around.submodule_search_locations)
    found = (finder.find_spec(name, path) for finder in sys.meta_path)
    return next((spec for spec in found if spec is not None), None)


@cache
def _distributions() -> dict[str, list[str]]:
    return {name: sorted(set(found)) for name, found in metadata.packages_distributions().items()}


def _versions(name: str) -> str:
    """Return the versions of the packages that a library comes from; nothing where it is not installed."""
    return ",".join(f"{each}={metadata.version(each)}" for each in _distributions().get(name, ()))
