"""Many runs in one file, of whatever kind: `grid` says which keys take which values.

    grid:
      networks: {default: ../networks/default.yaml, high-senders: ../networks/high-senders.yaml}
      model.link_interval: [10, 100]

A *point* is one combination, a configuration of its own. Trainings that points share are done once (see
`learning.cache`).
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Generic, TypeVar

from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.folder import default_folder
from lcca.experiments.schemas.kinds import KINDS, of_kind
from lcca.inputs.documents import Document, way_of, with_value
from lcca.inputs.errors import ConfigError, Keys, Problem
from lcca.inputs.names import YAML_ENDINGS
from lcca.inputs.validation import read_with_files

C = TypeVar("C", bound=RunConfig)

GRID = "grid"
"""The key of a file that holds many configurations."""

MOST_POINTS = 1000


@dataclass(frozen=True)
class Grid(Generic[C]):
    """The configurations of a file.

    Attributes:
        name: the file's.
        points: at least one configuration, by its values' names, as in ``high-senders_100``; "" where there is no grid.
    """

    name: str
    points: Mapping[str, C]

    @property
    def single(self) -> bool:
        """Whether it is just one configuration, without a grid."""
        return "" in self.points

    @property
    def hash(self) -> str:
        """Twelve hex digits that name everything in it."""
        content = "\n".join(f"{name} {config.hash}" for name, config in self.points.items())
        return hashlib.sha256(content.encode()).hexdigest()[:12]

    @property
    def folder(self) -> Path:
        """Where it goes unless another folder is named."""
        return Path("results") / self.name / self.hash

    def runs(self, out: str | PathLike[str] | None = None) -> list[tuple[C, Path]]:
        """Return each configuration with the folder of its run: `out` or the usual one, or one in it for each point."""
        own = Path(out) if out else None
        if self.single:
            return [(config, own or default_folder(config)) for config in self.points.values()]
        return [(config, (own or self.folder) / name) for name, config in self.points.items()]


def single(config: C) -> Grid[C]:
    """Return a configuration as the only one of a file."""
    return Grid(config.name, {"": config})


def read_one(path: str | PathLike[str], model: type[C], overrides: Iterable[str] = ()) -> C:
    """Read a YAML file with `--set` overrides that is no grid.

    Raises:
        ConfigError: listing every problem, by file and line; of a grid it says what runs one.
    """
    document = read_with_files(path, model, overrides)
    if GRID in document.data:
        use = next(kind.use.removesuffix(" FILE") for kind in KINDS.values() if kind.model is model)
        raise _problem(document, (GRID,), f"only `{use}` runs a grid; leave it out here")
    return of_kind(document, model)


def read_grid(path: str | PathLike[str], model: type[C], overrides: Iterable[str] = ()) -> Grid[C]:
    """Read a YAML file with `--set` overrides, and the points of its grid.

    Raises:
        ConfigError: listing every problem, by file and line.
    """
    overrides = list(overrides)
    document = read_with_files(path, model, overrides)
    if GRID not in document.data:
        return single(of_kind(document, model))
    axes = _axes(document)
    for key, axis in itertools.product((each.partition("=")[0].strip() for each in overrides), axes):
        if f"{key}.".startswith(f"{axis}."):
            raise _problem(document, (GRID, axis), f"replaces --set {key}; give --set 'grid={{{axis}: […]}}'")
    bare = Document(document.path, {k: v for k, v in document.data.items() if k != GRID}, document.places)
    points: dict[str, C] = {}
    for choice in itertools.product(*axes.values()):
        name = "_".join(name for name, _ in choice)
        if name in points:
            raise _problem(document, (GRID,), f"two points are called {name!r}; name the values: {{name: value, ...}}")
        ways = dict(zip(axes, (way for _, way in choice), strict=True))
        points[name] = of_kind(_point(bare, document, name, ways), model)
    return Grid(str(document.data.get("name")), points)


def _axes(document: Document) -> dict[str, list[tuple[str, Keys]]]:
    """Return, for each key of the grid, its values: a name and the way to it in the document."""
    grid = document.data[GRID]
    if not isinstance(grid, dict) or not grid:
        raise _problem(document, (GRID,), "must be a mapping of keys, each with its values")
    axes = {str(key): list(_values(document, key, values)) for key, values in grid.items()}
    count = len(list(itertools.product(*axes.values())))
    if not 1 <= count <= MOST_POINTS:
        raise _problem(document, (GRID,), f"{count:,} points; between 1 and {MOST_POINTS:,} are possible")
    return axes


def _values(document: Document, key: str, values: Any) -> Iterator[tuple[str, Keys]]:
    if isinstance(values, dict):
        yield from ((_word(name), (GRID, key, name)) for name in values)
    elif isinstance(values, list):
        yield from ((_word(value), (GRID, key, i)) for i, value in enumerate(values))
    else:
        raise _problem(document, (GRID, key), "must be a list of values, or a mapping of names to values")


def _point(bare: Document, whole: Document, name: str, ways: Mapping[str, Keys]) -> Document:
    """Return a point: the document with the values that the keys have at these places of the whole one."""
    document = bare
    for key, way in ways.items():
        value: Any = whole.data
        for step in way:
            value = value[step]
        places = {other[len(way) :]: place for other, place in whole.places.items() if other[: len(way)] == way}
        document = with_value(document, way_of(document, key.split(".")), value, places)
    full = f"{document.data.get('name')}.{name}"
    return with_value(document, ("name",), full, {(): document.place(("name",))})


def _word(value: Any) -> str:
    text = Path(value).stem if isinstance(value, str) and value.endswith(YAML_ENDINGS) else str(value)
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", text).strip("-")[:30] or "x"


def _problem(document: Document, keys: Keys, text: str) -> ConfigError:
    return ConfigError(Problem(document.place(keys), keys, text))
