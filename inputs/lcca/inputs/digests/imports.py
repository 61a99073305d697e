"""What Python code imports, with a hash of it all.

Imports are read from the source and not from what happens to be loaded: those inside functions count, and those for
annotations too, since what a function is given comes from there; but not what the file of a package tells type checkers
that it offers, which it loads when it is asked for it. A text that is the name of a module, as in
``"lcca.trainers.drl.ppo:Ppo"``, counts as an import of it. Of other libraries the version stands for the code.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import resolve_name
from pathlib import Path

from lcca.inputs.files import read_limited

NAMESPACE = "lcca"
_NAME_IN_TEXT = re.compile(rf"({NAMESPACE}(?:\.\w+)+)(?::\w+)?")
_PERHAPS_A_NAME = re.compile(rf"[\"']{NAMESPACE}\.".encode())
_OFFERED = re.compile(rb"^if TYPE_CHECKING:.*\n(?:[ \t]+.*\n)*", re.MULTILINE)
_INNER = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where statements have others."""


@dataclass(frozen=True)
class Reached:
    """What code can reach by its imports.

    Attributes:
        own: files by module, whose content counts.
        libraries: names of all others, whose version counts; Python's own are left out.
    """

    own: dict[str, Path]
    libraries: frozenset[str]

    @property
    def digest(self) -> str:
        """The SHA-256 of contents and versions; empty if nothing is reached."""
        digest = hashlib.sha256()
        for name in sorted(self.libraries):
            distributions = sorted({each.name for each in _distributions().get(name, ())})
            versions = ",".join(f"{each}={metadata.version(each)}" for each in distributions)
            digest.update(f"{name} {versions}\n".encode())
        for name in sorted(self.own):
            digest.update(name.encode() + b"\0" + hashlib.sha256(read_limited(self.own[name])).digest())
        return digest.hexdigest() if self.own or self.libraries else ""

    @property
    def contents(self) -> dict[str, str]:
        """The SHA-256 of every own file, by its real path."""
        return {os.path.realpath(file): sha256(read_limited(file)) for file in self.own.values()}


class ImportReader:
    """Reads imports, each module's once: a reader does not notice what changes after it has read it.

    Attributes:
        beside: folder in which modules are looked for that Python does not find, since code may add it to its path.
    """

    def __init__(self, beside: Path | None = None) -> None:
        """Begin with nothing read."""
        self.beside = beside
        self._specs: dict[str, ModuleSpec | None] = {}
        self._imports: dict[str, tuple[str, ...]] = {}

    def reached(self, modules: Iterable[str], is_own: Callable[[str], bool]) -> Reached:
        """Return all that these modules can reach, themselves included.

        Args:
            modules: by name.
            is_own: whether the modules below a top-level name count by their content, and are followed.
        """
        ahead = list(modules)
        own: dict[str, Path] = {}
        libraries: set[str] = set()
        while ahead:
            name = ahead.pop()
            if not is_own(top_of(name)):
                libraries |= {top_of(name)} - sys.stdlib_module_names
            elif name not in own and (file := self._file(name)) is not None:
                own[name] = file
                parts = name.split(".")
                around = [".".join(parts[:end]) for end in range(1, len(parts))]  # importing it runs these packages
                ahead += [*around, *self._imports_of(name, file)]
        return Reached(own, frozenset(libraries))

    def installed(self, top: str) -> bool:
        """Tell whether a top-level module is Python's own, missing, or of a distribution that is installed for good.

        Such a distribution has its files beside what describes it; of an editable one they are elsewhere.
        """
        spec = self._spec(top)
        if spec is None or top in sys.stdlib_module_names:
            return True
        places = [Path(each) for each in spec.submodule_search_locations or (spec.origin,) if each]
        return any(place.parent.samefile(root) for place in places for root in _roots(top, place.parent))

    def _imports_of(self, name: str, file: Path) -> tuple[str, ...]:
        if name not in self._imports:
            text = read_limited(file) if file.suffix == ".py" else b""
            if file.name == "__init__.py":
                self._imports[name] = imports_in(_OFFERED.sub(b"", text), name)
            else:
                self._imports[name] = imports_in(text, name.rpartition(".")[0])
        return self._imports[name]

    def _file(self, name: str) -> Path | None:
        """Return the file of a module, None for a namespace and for what is no module."""
        spec = self._spec(name)
        return Path(spec.origin) if spec is not None and spec.origin and Path(spec.origin).is_file() else None

    def _spec(self, name: str) -> ModuleSpec | None:
        """Find a module without importing the packages around it, which may need libraries that are not installed."""
        if name not in self._specs:
            self._specs[name] = self._find(name)
        return self._specs[name]

    def _find(self, name: str) -> ModuleSpec | None:
        parent = name.rpartition(".")[0]
        path = None
        if parent:
            around = self._spec(parent)
            if around is None or around.submodule_search_locations is None:
                return None
            path = list(around.submodule_search_locations)
        found = (finder.find_spec(name, path) for finder in sys.meta_path)
        spec = next((each for each in found if each is not None), None)
        return spec or (PathFinder.find_spec(name, [str(self.beside)]) if self.beside and not parent else None)


def reached_by(text: bytes, package: str, beside: Path) -> Reached:
    """Return what a user's text of Python imports, and the files that it says it reads.

    Modules of the user count by their content, with all that they import, and installed libraries by their version. A
    class, or a file with a function, names the files that it reads in a line such as ``files = ("table.csv",)``, from
    the text's folder.

    Args:
        text: Python; nothing is imported by what is none.
        package: that holds it, for relative imports; empty for a file of its own.
        beside: its folder.

    Raises:
        InputError: a module of the user, or a file that it names, cannot be read.
    """
    reader = ImportReader(beside)
    names = (*filter(None, [package]), *imports_in(text, package))
    found = reader.reached(names, lambda top: top != NAMESPACE and not reader.installed(top))
    return Reached(found.own | {f"file {name}": beside / name for name in _files_in(text)}, found.libraries)


def sha256(data: bytes) -> str:
    """Return the SHA-256 in hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest_with_imports(text: bytes, imports: str) -> str:
    """Return a hash of a text and its imports (see `Reached.digest`): the text's SHA-256 if there are none."""
    own = sha256(text)
    return sha256(f"{own} {imports}".encode()) if imports else own


def imports_in(text: bytes, package: str) -> tuple[str, ...]:
    """Return the names of all modules that a text may import; what is imported from a module may be one too."""
    nodes = ast.walk(_parsed(text)) if _PERHAPS_A_NAME.search(text) else _statements(text)
    return tuple(found for node in nodes for found in _named(node, package))


def top_of(name: str) -> str:
    """Return the first part of a module's name."""
    return name.partition(".")[0]


def _statements(text: bytes) -> Iterator[ast.AST]:
    """Yield the statements of a text without their expressions, which are most of it and import nothing."""
    ahead: list[ast.AST] = [_parsed(text)]
    while ahead:
        node = ahead.pop()
        yield node
        ahead += [each for name in _INNER for each in getattr(node, name, ())]


def _parsed(text: bytes) -> ast.Module:
    try:
        with warnings.catch_warnings(action="ignore"):  # whoever runs it is told
            return ast.parse(text)
    except (SyntaxError, ValueError):  # whoever imports it is told where
        return ast.Module([], [])


def _files_in(text: bytes) -> list[str]:
    """Return the texts that classes, and the module, assign to `files`."""
    holders = (node for node in ast.walk(_parsed(text)) if isinstance(node, ast.ClassDef | ast.Module))
    inside = [line for node in holders for line in node.body]
    named = [
        line.value
        for line in inside
        if isinstance(line, ast.Assign)
        and any(isinstance(each, ast.Name) and each.id == "files" for each in line.targets)
    ]
    each = [part for value in named for part in ast.walk(value)]
    return [part.value for part in each if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def _named(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        try:
            source = resolve_name("." * node.level + (node.module or ""), package)
        except ImportError:  # it would be above the top, which fails when it runs
            return
        if source:
            yield from (source, *(f"{source}.{alias.name}" for alias in node.names))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        if found := _NAME_IN_TEXT.fullmatch(node.value):
            yield found[1]


@cache
def _distributions() -> dict[str, list[metadata.Distribution]]:
    """As `metadata.packages_distributions`, which makes a path of every file that is installed: half a second."""
    packages: dict[str, list[metadata.Distribution]] = {}
    for each in metadata.distributions():
        files = (line.rsplit(",", 2)[0] for line in (each.read_text("RECORD") or "").splitlines())
        inferred = {file.split("/")[0].removesuffix(".py") for file in files if file.endswith(".py")}
        for name in (each.read_text("top_level.txt") or "").split() or inferred:
            packages.setdefault(name, []).append(each)
    return packages


def _roots(top: str, folder: Path) -> list[Path]:
    """Return the folders of the distributions of a top-level name; none if the folder has none, which is soon known."""
    if not any(folder.glob("*.dist-info")):
        return []
    found = _distributions().get(top, [])
    return [Path(str(each.locate_file(""))) for each in found if each.read_text("METADATA") is not None]
