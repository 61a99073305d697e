"""Many campaigns in one file: `grid` says which keys take which values.

    grid:
      networks: {default: ../networks/default.yaml, high-senders: ../networks/high-senders.yaml}
      model.link_interval: [10, 100]

A *point* is one combination, a campaign of its own. Trainings that points share are done once (see `learning.cache`).
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from lcca.experiments.campaign.config import GRID, CampaignConfig
from lcca.experiments.schemas.kinds import of_kind
from lcca.inputs.documents import Document, way_of, with_value
from lcca.inputs.errors import ConfigError, Keys, Problem
from lcca.inputs.names import YAML_ENDINGS
from lcca.inputs.validation import read_with_files, validate

MOST_POINTS = 1000


@dataclass(frozen=True)
class Grid:
    """The campaigns of a file.

    Attributes:
        name: the file's.
        points: at least one campaign, by its values' names, as in ``high-senders_100``; "" where there is no grid.
    """

    name: str
    points: Mapping[str, CampaignConfig]

    @property
    def single(self) -> bool:
        """Whether it is just one campaign, without a grid."""
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


def read_grid(path: str | PathLike[str], overrides: Iterable[str] = ()) -> Grid:
    """Read a campaign's YAML file and the points of its grid; see `read_campaign`.

    Raises:
        ConfigError: listing every problem, by file and line.
    """
    document = read_with_files(path, CampaignConfig, overrides)
    if GRID not in document.data:
        config = of_kind(document, CampaignConfig)
        return Grid(config.name, {"": config})
    axes = _axes(document)
    bare = Document(document.path, {k: v for k, v in document.data.items() if k != GRID}, document.places)
    points: dict[str, CampaignConfig] = {}
    for choice in itertools.product(*axes.values()):
        name = "_".join(name for name, _ in choice)
        if name in points:
            raise _problem(document, (GRID,), f"two points are called {name!r}; name the values: {{name: value, ...}}")
        points[name] = _point(bare, document, name, dict(zip(axes, (way for _, way in choice), strict=True)))
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


def _point(bare: Document, whole: Document, name: str, ways: Mapping[str, Keys]) -> CampaignConfig:
    """Return the campaign with the values that the keys have at these places of the whole document."""
    document = bare
    for key, way in ways.items():
        value: Any = whole.data
        for step in way:
            value = value[step]
        places = {other[len(way) :]: place for other, place in whole.places.items() if other[: len(way)] == way}
        document = with_value(document, way_of(document, key.split(".")), value, places)
    full = f"{document.data.get('name')}.{name}"
    return validate(with_value(document, ("name",), full, {(): document.place(("name",))}), CampaignConfig)


def _word(value: Any) -> str:
    text = Path(value).stem if isinstance(value, str) and value.endswith(YAML_ENDINGS) else str(value)
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", text).strip("-")[:30] or "x"


def _problem(document: Document, keys: Keys, text: str) -> ConfigError:
    return ConfigError(Problem(document.place(keys), keys, text))
