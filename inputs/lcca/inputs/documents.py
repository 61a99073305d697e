"""Configuration documents: a YAML file, the file that it extends, and overrides from the command line.

Every value remembers the file and line (or the `--set`) that it came from, so that
`lcca.inputs.validation` can point at it.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lcca.inputs.errors import ConfigError, InputError, Keys, Place, Problem, shown
from lcca.inputs.files import read_limited
from lcca.inputs.yaml_text import Places, parse

LARGEST_DOCUMENT = 1024 * 1024
"""Bytes; ten thousand networks."""

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
        found = self.data
        for key in keys:
            if isinstance(found, list):
                found = found[key] if isinstance(key, int) and key < len(found) else None
            else:
                found = found.get(key) if isinstance(found, dict) else None
        return found

    def place(self, keys: Sequence[str | int]) -> Place:
        """Where the value at `keys` was written; for one that is missing, where its parent was."""
        way = tuple(keys)
        while way not in self.places:
            way = way[:-1]
        return self.places[way]


def read_document(
    path: str | os.PathLike[str],
    overrides: Iterable[str] = (),
    *,
    root: Literal["mapping", "list", "either"] = "mapping",
) -> Document:
    """Read a YAML 1.2 file, what it extends, and overrides.

    A mapping may have one `extends: other.yaml`, relative to the file that says it. The two are merged
    deeply: mappings key by key, anything else replaced by the extending file. A mapping whose `kind` differs
    from its base's replaces it, since the base's other keys belong to another kind.

    Args:
        path: the file.
        overrides: `a.b=value` each, the value being YAML and a number in the way an index into a list.
        root: what the document must be.

    Raises:
        InputError: if it cannot be read, is empty or something else than `root`, extends itself, or an
            override does not fit; names file and line.
    """
    document = document_of(read_limited(path, LARGEST_DOCUMENT), Path(path), root)
    return apply_overrides(document, overrides)


def document_of(data: bytes, path: Path, root: str = "mapping", seen: tuple[Path, ...] = ()) -> Document:
    """Return the document in the bytes of a file, with what it extends; see `read_document`."""
    found, places = parse(_text(data, path), str(path))
    _require_root(path, found, root, places[()])
    document = Document(path, found, places)
    if not isinstance(found, dict) or "extends" not in found:
        return document
    return _extended(document, (*seen, path.resolve()))


def with_file(document: Document, keys: Keys, path: Path) -> Document:
    """Return `document` with the mapping of the file that its value at `keys` names in place of the name.

    Raises:
        ConfigError: what is wrong with the file; that it cannot be read is told of the value that names it.
    """
    inner = document_of(_named_file(document, keys, path), path)
    return with_value(document, keys, inner.data, inner.places)


def apply_overrides(document: Document, overrides: Iterable[str]) -> Document:
    """Return `document` with each `a.b=value` set, in order; mappings in the way are made as needed.

    Raises:
        ConfigError: naming every override that does not fit.
    """
    problems: list[Problem] = []
    for text in overrides:
        try:
            document = _override(document, text)
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    return document


# Reading one file and its bases.


def _text(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = Place(str(path), data[: error.start].count(b"\n") + 1)
        raise ConfigError(Problem(place, (), "not UTF-8 text; save the file as UTF-8")) from None


def _named_file(document: Document, keys: Keys, path: Path) -> bytes:
    """Return the bytes of the file that the value at `keys` names."""
    try:
        return read_limited(path, LARGEST_DOCUMENT)
    except InputError as error:
        raise ConfigError(Problem(document.place(keys), keys, str(error))) from None


def _require_root(path: Path, data: Any, root: str, place: Place) -> None:
    mapping, items = "keys with values (`key: value`)", "a list (`- item`)"
    expected = {"mapping": mapping, "list": items, "either": f"{mapping} or {items}"}[root]
    if data is None:
        raise ConfigError(Problem(Place(str(path)), (), f"is empty; expected {expected}"))
    if not isinstance(data, {"mapping": dict, "list": list, "either": dict | list}[root]):
        raise ConfigError(Problem(place, (), f"expected {expected}, found {kind_name(data)}"))


def kind_name(value: Any) -> str:
    """What a plain value is called in an error."""
    names = {dict: "a mapping", list: "a list", str: "text", bool: "a truth value", type(None): "nothing"}
    return names.get(type(value), "a number")


def _extended(document: Document, seen: tuple[Path, ...]) -> Document:
    place = document.places[("extends",)]
    name = document.data["extends"]
    if not isinstance(name, str) or not name:
        text = f"must name one file, relative to this one; found {kind_name(name)}"
        raise ConfigError(Problem(place, ("extends",), text))
    path = Path(os.path.normpath(document.path.parent / name))
    data = _named_file(document, ("extends",), path)
    if path.resolve() in seen:
        raise ConfigError(Problem(place, ("extends",), f"{name} extends this file again (a cycle)"))
    return _merged(document_of(data, path, "mapping", seen), _without(document, "extends"))


def _without(document: Document, key: str) -> Document:
    data = {k: v for k, v in document.data.items() if k != key}
    return Document(document.path, data, {k: p for k, p in document.places.items() if k[:1] != (key,)})


def _merged(base: Document, top: Document) -> Document:
    places: Places = {}
    data = _merge(base, top, (), (base.data, top.data), places)
    return Document(top.path, data, places)


def _merge(base: Document, top: Document, keys: Keys, values: tuple[Any, Any], places: Places) -> Any:
    """Merges the two values at `keys`, noting in `places` which document each part came from."""
    below, above = values
    if not (isinstance(below, dict) and isinstance(above, dict)) or _other_kind(below, above):
        places |= _places_under(top, keys)
        return above
    places[keys] = top.places[keys]
    merged: dict[str, Any] = {}
    for key in [*below, *(key for key in above if key not in below)]:
        way = (*keys, key)
        if key in below and key in above:
            merged[key] = _merge(base, top, way, (below[key], above[key]), places)
        else:
            source, value = (top, above[key]) if key in above else (base, below[key])
            merged[key] = value
            places |= _places_under(source, way)
    return merged


def _other_kind(below: dict[str, Any], above: dict[str, Any]) -> bool:
    return "kind" in below and "kind" in above and below["kind"] != above["kind"]


def _places_under(document: Document, keys: Keys) -> Places:
    return {way: place for way, place in document.places.items() if way[: len(keys)] == keys}


# Overrides.


def _override(document: Document, text: str) -> Document:
    names, value = _split_override(text)
    keys = _way(document.data, names)
    try:
        data, places = parse(value, OVERRIDE, numbered=False)
    except ConfigError as error:
        raise ConfigError(Problem(p.place, (*keys, *p.keys), p.text) for p in error.problems) from None
    return with_value(document, keys, data, places)


def _split_override(text: str) -> tuple[list[str], str]:
    dotted, equals, value = text.partition("=")
    names = [name.strip() for name in dotted.split(".")]
    if not equals or not all(names):
        raise ConfigError(Problem(Place(OVERRIDE), (), f"{shown(text)} must look like key.key=value"))
    if names == ["extends"]:
        raise ConfigError(Problem(Place(OVERRIDE), ("extends",), "cannot be set here; write it into the file"))
    return names, value


def _way(node: Any, names: list[str]) -> Keys:
    """The way that `names` tell from `node`: indices where there are lists, keys elsewhere."""
    way: Keys = ()
    for name in names:
        if isinstance(node, list):
            if not _INDEX.fullmatch(name) or int(name) >= len(node):
                text = f"no item {name}; the list has {len(node)}, counted from 0"
                raise ConfigError(Problem(Place(OVERRIDE), (*way, name), text))
            way, node = (*way, int(name)), node[int(name)]
        elif isinstance(node, dict) or node is None:
            way, node = (*way, name), (node or {}).get(name)
        else:
            text = f"{'.'.join(map(str, way))} is {kind_name(node)} and has no keys"
            raise ConfigError(Problem(Place(OVERRIDE), (*way, name), text))
    return way


def with_value(document: Document, keys: Keys, value: Any, places: Places) -> Document:
    """Return `document` with `value` at `keys`, whose own places are given from its root."""
    kept = {way: place for way, place in document.places.items() if way[: len(keys)] != keys}
    made = {keys[:n]: places[()] for n in range(len(keys)) if keys[:n] not in kept}
    own = {(*keys, *way): place for way, place in places.items()}
    return Document(document.path, _put(document.data, keys, value), kept | made | own)


def beside(document: Document, keys: Keys, name: str) -> Path:
    """Return the path of a file that the value at `keys` names: relative to the file that says it.

    A name in an override is relative to the working folder.
    """
    source = document.place(keys).source
    folder = Path() if source == OVERRIDE else Path(source).parent
    return Path(os.path.normpath(folder / name))


def way_of(document: Document, names: list[str]) -> Keys:
    """The way that dotted names tell in a document: indices where there are lists, keys elsewhere.

    Raises:
        ConfigError: a list without that item, or a value without keys.
    """
    return _way(document.data, names)


def _put(node: Any, keys: Keys, value: Any) -> Any:
    """A copy of `node` with `value` at `keys`."""
    if not keys:
        return value
    head, rest = keys[0], keys[1:]
    if isinstance(node, list):
        return [_put(item, rest, value) if i == head else item for i, item in enumerate(node)]
    mapping = node or {}
    return {**mapping, head: _put(mapping.get(head), rest, value)}
