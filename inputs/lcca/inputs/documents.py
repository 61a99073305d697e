"""Documents: plain values of which each remembers the file and line, or the `--set`, that it came from.

`lcca.inputs.validation` reads them and makes models of them, and points at what is wrong.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcca.inputs.errors import ConfigError, Keys, Place, Places, Problem

OVERRIDE = "--set"
"""The source of overrides in errors."""

_INDEX = re.compile("[0-9]{1,9}")


@dataclass(frozen=True)
class Document:
    """Plain values and where each was written.

    Attributes:
        path: the file, as the user named it.
        data: dict or list of plain values, with `extends` resolved and overrides applied.
        places: the place of each value by its way from the root; the root's is under `()`.
    """

    path: Path
    data: Any
    places: Places

    def at(self, keys: Sequence[str | int]) -> Any:
        """The value at `keys`; None where there is none."""
        value = self.data
        for key in keys:
            if isinstance(value, list):
                value = value[key] if isinstance(key, int) and key < len(value) else None
            else:
                value = value.get(key) if isinstance(value, dict) else None
        return value

    def place(self, keys: Sequence[str | int]) -> Place:
        """Where the value at `keys` was written; for one that is missing, where its parent was."""
        way = tuple(keys)
        while way not in self.places:
            way = way[:-1]
        return self.places[way]


def with_value(document: Document, keys: Keys, value: Any, places: Places) -> Document:
    """Return `document` with `value` at `keys`, whose own places are given from its root."""
    kept = {way: place for way, place in document.places.items() if way[: len(keys)] != keys}
    made = {keys[:n]: places[()] for n in range(len(keys)) if keys[:n] not in kept}
    own = {(*keys, *way): place for way, place in places.items()}
    return Document(document.path, _put(document.data, keys, value), kept | made | own)


def _put(node: Any, keys: Keys, value: Any) -> Any:
    """Return a copy of `node` with `value` at `keys`."""
    if not keys:
        return value
    head, rest = keys[0], keys[1:]
    if isinstance(node, list):
        return [_put(item, rest, value) if i == head else item for i, item in enumerate(node)]
    mapping = node or {}
    return {**mapping, head: _put(mapping.get(head), rest, value)}


def way_of(document: Document, names: Sequence[str]) -> Keys:
    """Return the way that dotted names mean in a document: indices where there are lists, keys elsewhere.

    Raises:
        ConfigError: a list without that item, or a value without keys.
    """
    way: Keys = ()
    node = document.data
    for name in names:
        if isinstance(node, list):
            if not _INDEX.fullmatch(name) or int(name) >= len(node):
                text = f"no item {name}; the list has {len(node)}, counted from 0"
                raise ConfigError(Problem(Place(OVERRIDE), (*way, name), text))
            way, node = (*way, int(name)), node[int(name)]
        elif isinstance(node, dict) or node is None:
            way, node = (*way, name), (node or {}).get(name)
        else:
            text = f"{'.'.join(map(str, way))} is {type_name(node)} and has no keys"
            raise ConfigError(Problem(Place(OVERRIDE), (*way, name), text))
    return way


def beside(document: Document, keys: Keys, name: str) -> Path:
    """Return the path of a file that the value at `keys` names: relative to the file that says it.

    A name in an override is relative to the working folder.
    """
    source = document.place(keys).source
    folder = Path() if source == OVERRIDE else Path(source).parent
    return Path(os.path.normpath(folder / name))


def type_name(value: Any) -> str:
    """Return what a plain value is called in an error."""
    names = {dict: "a mapping", list: "a list", str: "text", bool: "a truth value", type(None): "nothing"}
    return names.get(type(value), "a number")


def merged(base: Document, top: Document) -> Document:
    """Return `top` over `base`: mappings are merged key by key, anything else is that of `top`.

    A mapping whose `kind` differs from its base's replaces it, since the base's other keys belong to another kind.
    """
    places: Places = {}
    data = _merge(base, top, (), (base.data, top.data), places)
    return Document(top.path, data, places)


def _merge(base: Document, top: Document, keys: Keys, values: tuple[Any, Any], places: Places) -> Any:
    """Merge the two values at `keys`, noting in `places` which document each part came from."""
    below, above = values
    mappings = isinstance(below, dict) and isinstance(above, dict)
    if not mappings or ("kind" in below and "kind" in above and below["kind"] != above["kind"]):
        places |= _places_under(top, keys)
        return above
    places[keys] = top.places[keys]
    result: dict[str, Any] = {}
    for key in [*below, *(key for key in above if key not in below)]:
        way = (*keys, key)
        if key in below and key in above:
            result[key] = _merge(base, top, way, (below[key], above[key]), places)
        else:
            source, value = (top, above[key]) if key in above else (base, below[key])
            result[key] = value
            places |= _places_under(source, way)
    return result


def _places_under(document: Document, keys: Keys) -> Places:
    return {way: place for way, place in document.places.items() if way[: len(keys)] == keys}
