"""YAML files that become models: a file, the files that it extends and names, overrides; all problems at once.

Every problem has its file, line and key, and a suggestion where a name is mistyped.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, get_origin

from pydantic import TypeAdapter, ValidationError

from lcca.inputs.documents import OVERRIDE, Document, beside, merged, type_name, way_of, with_value
from lcca.inputs.errors import ConfigError, InputError, Keys, Place, Problem, did_you_mean, nearest, shown
from lcca.inputs.files import packaged_files, read_limited
from lcca.inputs.names import NAMES_A_FILE, YAML_ENDINGS, ClassName
from lcca.inputs.problems import below, members, problem_texts
from lcca.inputs.studies import moved
from lcca.inputs.yaml_text import parse

T = TypeVar("T")

LARGEST_DOCUMENT = 1024 * 1024
"""Bytes; ten thousand networks."""

_LEARNT = re.compile(r"(?<=@)(?P<tuner>\w+:)\s*(?P<file>[^@,=]+?)\s*(?=[,@]|$)")

_Forms = list[tuple[Any, bool]]
"""The members of a type, and whether a text in place of each names a file."""


def read_config(path: str | os.PathLike[str], model: type[T], overrides: Iterable[str] = ()) -> T:
    """Read the YAML mapping at `path` with `overrides` as a `model`.

    Raises:
        ConfigError: listing every problem found.
    """
    return validate(read_document(path, overrides), model)


def packaged(package: str, folder: str, model: type[T]) -> dict[str, T]:
    """Return the models in a package's folder of YAML files by the files' names, in their order."""
    files = packaged_files(package, folder)
    return {name: config_of(file.read_bytes(), file.name, model) for name, file in files.items()}


def named(
    what: str,
    name_or_path: str | os.PathLike[str],
    model: type[T],
    known: Callable[[], Mapping[str, T]],
    elsewhere: Callable[[str], str] = lambda name: "",
) -> T:
    """Return what is known by a name, or what a YAML file holds (a path or ``….yaml``).

    Args:
        what: it is, for the error.
        name_or_path: of it.
        model: of the file.
        known: returns all by name.
        elsewhere: returns what else a name near to none of them may mean, for the error.

    Raises:
        InputError: an unknown name (with a suggestion), or a file that cannot be read or is wrong: the message names
            file, line and key.
    """
    name = os.fspath(name_or_path)
    if os.sep in name or name.endswith(YAML_ENDINGS):
        return read_config(name, model)
    if name not in known():
        hint = nearest(name, known()) or elsewhere(name) or did_you_mean(name, known())
        raise InputError(f"unknown {what} {name[:60]!r}{hint}; a file ends in .yaml")
    return known()[name]


def config_of(data: bytes, name: str, model: type[T]) -> T:
    """Return the YAML mapping in the bytes of a file as a `model`.

    Raises:
        ConfigError: listing every problem found.
    """
    return validate(_document_of(data, Path(name)), model)


def validate(document: Document, model: type[T]) -> T:
    """Check a document against a model class.

    Whole floats (`1e6`) serve as integers; otherwise the model says how strict it is. Names of files are relative to
    the file that says them, in an override to the working folder; see `with_files`.

    Raises:
        ConfigError: listing every problem found, by file and line.
    """
    document = with_files(document, model)
    return _validated(document, _with_integers(document.data), model)


def validate_list(document: Document, item: type[T]) -> list[T]:
    """Check a document that is a list of `item`; see `validate`."""
    return validate(document, list[item])  # type: ignore[valid-type]


def validate_json(content: Any, model: type[T]) -> T:
    """Check the values of a JSON file against a model class; problems have keys, but no file and line.

    Raises:
        ConfigError: listing every problem found.
    """
    return _validated(Document(Path(), content, {(): Place("")}), content, model)


def _validated(document: Document, data: Any, model: type[T]) -> T:
    adapter: TypeAdapter[T] = TypeAdapter(model)
    try:
        return adapter.validate_python(data)
    except ValidationError as error:
        texts = problem_texts(error.errors(include_url=False), model, document.data)
        problems = [Problem(document.place(keys), keys, text) for keys, text in texts.items()]
        raise ConfigError(sorted(problems, key=lambda each: (each.place.source, each.place.line or 0))) from None


def _with_integers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_integers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_integers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


# --- a file, what it extends, and overrides


def read_document(
    path: str | os.PathLike[str],
    overrides: Iterable[str] = (),
    *,
    root: Literal["mapping", "list", "either"] = "mapping",
) -> Document:
    """Read a YAML 1.2 file, what it extends, and overrides.

    A mapping may have one `extends: other.yaml`, relative to the file that says it; see `merged`.

    Args:
        path: the file.
        overrides: `a.b=value` each, the value being YAML and a number in the way an index into a list.
        root: what the document must be.

    Raises:
        InputError: if it cannot be read, is empty or something else than `root`, extends itself, or an
            override does not fit; names file and line.
    """
    document = _document_of(read_limited(path, LARGEST_DOCUMENT), Path(path), root)
    return apply_overrides(document, overrides)


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


def _override(document: Document, text: str) -> Document:
    dotted, equals, value = text.partition("=")
    names = [name.strip() for name in dotted.split(".")]
    if not equals or not all(names):
        raise ConfigError(Problem(Place(OVERRIDE), (), f"{shown(text)} must look like key.key=value"))
    if names == ["extends"]:
        raise ConfigError(Problem(Place(OVERRIDE), ("extends",), "cannot be set here; write it into the file"))
    keys = way_of(document, names)
    try:
        data, places = parse(value, OVERRIDE, numbered=False)
    except ConfigError as error:
        raise ConfigError(Problem(p.place, (*keys, *p.keys), p.text) for p in error.problems) from None
    return with_value(document, keys, data, places)


def _document_of(data: bytes, path: Path, root: str = "mapping", extending: tuple[Path, ...] = ()) -> Document:
    """Return the document in the bytes of a file, with what it extends; `extending` are the files that extend it."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = Place(str(path), data[: error.start].count(b"\n") + 1)
        raise ConfigError(Problem(place, (), "not UTF-8 text; save the file as UTF-8")) from None
    content, places = parse(text, str(path))
    _require_root(path, content, root, places[()])
    document = Document(path, content, places)
    if not isinstance(content, dict) or "extends" not in content:
        return document
    return _extended(document, (*extending, path.resolve()))


def _require_root(path: Path, data: Any, root: str, place: Place) -> None:
    mapping, items = "keys with values (`key: value`)", "a list (`- item`)"
    expected = {"mapping": mapping, "list": items, "either": f"{mapping} or {items}"}[root]
    if data is None:
        raise ConfigError(Problem(Place(str(path)), (), f"is empty; expected {expected}"))
    if not isinstance(data, {"mapping": dict, "list": list, "either": dict | list}[root]):
        raise ConfigError(Problem(place, (), f"expected {expected}, found {type_name(data)}"))


def _extended(document: Document, extending: tuple[Path, ...]) -> Document:
    place, name = document.places[("extends",)], document.data["extends"]
    if not isinstance(name, str) or not name:
        text = f"must name one file, relative to this one; found {type_name(name)}"
        raise ConfigError(Problem(place, ("extends",), text))
    path = Path(os.path.normpath(document.path.parent / name))
    data = _named_file(document, ("extends",), path)
    if path.resolve() in extending:
        raise ConfigError(Problem(place, ("extends",), f"{name} extends this file again (a cycle)"))
    rest = {key: value for key, value in document.data.items() if key != "extends"}
    places = {keys: place for keys, place in document.places.items() if keys[:1] != ("extends",)}
    return merged(_document_of(data, path, "mapping", extending), Document(document.path, rest, places))


def _named_file(document: Document, keys: Keys, path: Path) -> bytes:
    """Return the bytes of the file that the value at `keys` names."""
    try:
        return read_limited(path, LARGEST_DOCUMENT)
    except InputError as error:
        raise ConfigError(Problem(document.place(keys), keys, str(error))) from None


# --- files that a document names


def with_files(document: Document, model: Any) -> Document:
    """Resolve the names of files in a document that is to become a model: the types of its keys tell where they are.

    A text that stands for a model `from_file` is replaced by the content of the file, which may be a list where one may
    be written in its place. Where a `FileOrName` is, the name
    of a file beside the file that says it, or in an override in the working folder, becomes absolute. Any other text
    stays as it is: the name of something packaged, or of a file seen from the working folder.

    Raises:
        ConfigError: what is wrong with the file of a model.
    """
    return _resolved(document, (), _forms(model))


def read_with_files(path: str | os.PathLike[str], model: Any, overrides: Iterable[str] = ()) -> Document:
    """Read a YAML file of a model with overrides, and the files that its keys name."""
    return with_overrides(read_document(path), model, overrides)


def with_overrides(document: Document, model: Any, overrides: Iterable[str]) -> Document:
    """Return a document of a model with overrides, and the files that its keys name."""
    document = with_files(document, model)
    for override in overrides:  # one may name a file, and the next change what is in it
        document = with_files(apply_overrides(document, [override]), model)
    return document


def _resolved(document: Document, at: Keys, forms: _Forms) -> Document:
    for keys, there, text in list(_texts(document.at(at), at, forms)):
        if any(marked for _, marked in there):
            if (placed := _placed(document, keys, text)) != text:
                document = with_value(document, keys, placed, {(): document.place(keys)})
        elif any(getattr(form, "from_file", False) for form, _ in there):
            path = beside(document, keys, text)
            origins: list[Any] = [get_origin(form) for form, _ in there]
            inner = _document_of(_named_file(document, keys, path), path, "either" if tuple in origins else "mapping")
            document = _resolved(with_value(document, keys, inner.data, inner.places), keys, there)
    return document


def _texts(value: Any, keys: Keys, forms: _Forms) -> Iterator[tuple[Keys, _Forms, str]]:
    """Yield each text in a value, where it is and what may be there."""
    if isinstance(value, str):
        by_name = [_forms(below(form, form.text_key)) for form, _ in forms if getattr(form, "text_key", "")]
        yield keys, sum(by_name, forms), value
    elif isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if forms_below := [each for form, _ in forms for each in _forms(below(form, step))]:
                yield from _texts(inner, (*keys, step), forms_below)


def _forms(shape: Any) -> _Forms:
    return [(form, NAMES_A_FILE in metadata) for form, metadata in members(shape) if form is not None]


def _placed(document: Document, keys: Keys, text: str) -> str:
    """Return a text with the file that it names, if any, by its absolute path.

    Raises:
        ConfigError: the file has become part of a study, and is elsewhere.
    """

    def absolute(name: str) -> str:
        path = beside(document, keys, name)
        if os.sep in name and (now := moved(str(path))):
            raise ConfigError(Problem(document.place(keys), keys, f"{path}: no such file; it is {now} now"))
        known = name.endswith(YAML_ENDINGS) or (("." in name or os.sep in name) and path.is_file())
        return str(path.absolute()) if known else name

    if (whole := absolute(text)) != text:
        return whole
    if (cls := ClassName.of(text)) and cls.is_file:
        return absolute(cls.where) + text[len(cls.where) :]
    return _LEARNT.sub(lambda match: match["tuner"] + absolute(match["file"]), text)
