"""The files that a campaign's document names: their content, or where they lie."""

from __future__ import annotations

from typing import Any

from lcca.evaluation.fabric.scenario import with_files_placed
from lcca.inputs.documents import Document, beside, with_file, with_value
from lcca.inputs.errors import Keys
from lcca.inputs.packaged import YAML_ENDINGS
from lcca.remy_plus.fabric.transports import with_file_placed


def with_files(document: Document) -> Document:
    """Put the content of files where their names stand."""
    for way in (*_found_first(document), *_spaces(document), ("estimate",)):
        document = _included(document, way)
    for way in _scenarios(document):
        document = with_files_placed(_included(document, way), way)
    return _placed_policies(_placed_sets(document))


def _scenarios(document: Document) -> list[Keys]:
    """Return where fabric scenarios, or the names of their files, may stand."""
    found_first = ((*way, key) for way in _found_first(document) for key in ("fabric", "held_out"))
    ways: list[Keys] = [
        ("fabric",),
        ("held_out",),
        ("scenarios",),
        *found_first,
        *((*way, "fabric") for way in _spaces(document)),
    ]
    for way in tuple(ways):
        several = document.at(way)
        ways += [(*way, i) for i in range(len(several))] if isinstance(several, list) else []
    return ways


def _found_first(document: Document) -> list[Keys]:
    """Return where tunings and trainings of a study's contenders, or the names of their files, may stand."""
    return [("contenders", name, key) for name in _contenders(document) for key in ("tune", "train")]


def _contenders(document: Document) -> list[str]:
    found = document.data.get("contenders")
    return list(found) if isinstance(found, dict) else []


def _spaces(document: Document) -> list[Keys]:
    """Return where spaces, or the names of their files, may stand."""
    conditions = document.data.get("generalisation")
    count = len(conditions) if isinstance(conditions, list) else 0
    return [("networks",), *(("generalisation", i, "networks") for i in range(count))]


def _included(document: Document, keys: Keys) -> Document:
    """Put the mapping of the file that the value at `keys` names in its place; its lines go on pointing into it."""
    name = document.at(keys)
    if not isinstance(name, str):
        return document
    return with_file(document, keys, beside(document, keys, name))


def _placed_sets(document: Document) -> Document:
    """Make the names of signal sets' and headers' files independent of where they were written."""
    data = dict(document.data)
    if isinstance(data.get("headers"), list):
        data["headers"] = [_placed_header(document, ("headers", i), each) for i, each in enumerate(data["headers"])]
    if isinstance(data.get("signal_sets"), list):
        data["signal_sets"] = [
            _placed(document, ("signal_sets", i), each) for i, each in enumerate(data["signal_sets"])
        ]
    if isinstance(data.get("start"), dict):
        files = data["start"].items()
        data["start"] = {
            k: str(beside(document, ("start", k), v).absolute()) if isinstance(v, str) else v for k, v in files
        }
    if "baseline" in data:
        data["baseline"] = _placed(document, ("baseline",), data["baseline"])
    return Document(document.path, data, document.places)


def _placed_policies(document: Document) -> Document:
    """Make the names of policies' and models' files, of contenders and rivals, independent of where they stand."""
    ways: list[Keys] = [("contenders", name, *key) for name in _contenders(document) for key in ((), ("policy",))]
    ways += _rivals(document)
    for way in ways:
        told = document.at(way)
        if isinstance(told, str) and (placed := _placed_policy(document, way, told)) != told:
            document = with_value(document, way, placed, {(): document.place(way)})
    return document


def _rivals(document: Document) -> list[Keys]:
    """Return where rivals in tests of ACC stand, also of the trainings of a study's contenders."""
    ways = [(*way, "test", "against") for way in ((), *_found_first(document))]
    told = [(way, document.at(way)) for way in ways]
    return [(*way, i) for way, found in told if isinstance(found, list) for i in range(len(found))]


def _placed_policy(document: Document, way: Keys, told: str) -> str:
    if beside(document, way, told).is_file():
        return str(beside(document, way, told).absolute())
    return with_file_placed(told, lambda file: str(beside(document, way, file).absolute()))


def _placed_header(document: Document, keys: Keys, entry: Any) -> Any:
    if isinstance(entry, dict) and "header" in entry:
        return {**entry, "header": _placed(document, (*keys, "header"), entry["header"])}
    return _placed(document, keys, entry)


def _placed(document: Document, keys: Keys, value: Any) -> Any:
    is_file = isinstance(value, str) and value.endswith(YAML_ENDINGS)
    return str(beside(document, keys, value).absolute()) if is_file else value
