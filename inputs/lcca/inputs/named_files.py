"""Files that a configuration names: where they are, and that what they hold belongs to what the configuration is."""

from __future__ import annotations

import hashlib
import os
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from lcca.inputs.class_names import ClassName
from lcca.inputs.documents import Document, beside, with_file, with_value
from lcca.inputs.errors import Keys
from lcca.inputs.files import read_limited
from lcca.inputs.imports import digest_of_imports, digest_with_imports

YAML_ENDINGS = (".yaml", ".yml")

NAMES_A_FILE = "names a file, or something packaged"
"""In the type of a key: a text there may name a file, relative to the file that says it."""

FileOrName = Annotated[str, NAMES_A_FILE]
"""A text that may name a file, a class in one (`control.py:Mine`) or a transport with one (`dcqcn@acc:model.json`)."""

Forms = list[tuple[Any, bool]]
"""The members of a type, and whether a text in place of each names a file."""

_LEARNT = re.compile(r"(?<=@)(?P<tuner>\w+:)\s*(?P<file>[^@,=]+?)\s*(?=[,@]|$)")


def with_files(document: Document, model: Any) -> Document:
    """Resolve the names of files in a document that is to become a model: the types of its keys tell where they are.

    A text that stands for a model `from_file` is replaced by the content of the file. Where a `FileOrName` is, the name
    of a file beside the file that says it, or in an override in the working folder, becomes absolute. Any other text
    stays as it is: the name of something packaged, or of a file seen from the working folder.

    Raises:
        ConfigError: what is wrong with the file of a model.
    """
    return _resolved(document, (), _forms(model))


def _resolved(document: Document, at: Keys, forms: Forms) -> Document:
    for keys, named, text in list(_texts(document.at(at), at, forms)):
        if any(marked for _, marked in named):
            if (found := _placed(document, keys, text)) != text:
                document = with_value(document, keys, found, {(): document.place(keys)})
        elif any(getattr(form, "from_file", False) for form, _ in named):
            document = _resolved(with_file(document, keys, beside(document, keys, text)), keys, named)
    return document


def _texts(value: Any, keys: Keys, forms: Forms) -> Iterator[tuple[Keys, Forms, str]]:
    """Yield each text in a value, where it is and what may be there."""
    if isinstance(value, str):
        by_name = [_below(form, form.text_key) for form, _ in forms if getattr(form, "text_key", "")]
        yield keys, sum(by_name, forms), value
    elif isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if below := [each for form, _ in forms for each in _below(form, step)]:
                yield from _texts(inner, (*keys, step), below)


def _forms(shape: Any, marked: bool = False) -> Forms:
    """Return the members of a type: of a union several."""
    if get_origin(shape) is Annotated:
        return _forms(get_args(shape)[0], marked or NAMES_A_FILE in get_args(shape)[1:])
    if get_origin(shape) in (Union, types.UnionType):
        return [form for member in get_args(shape) for form in _forms(member, marked)]
    return [(shape, marked)]


def _below(shape: Any, step: str | int) -> Forms:
    """Return what may be at a step in a value of a type."""
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        field = shape.model_fields.get(str(step))
        return _forms(field.annotation, NAMES_A_FILE in field.metadata) if field else []
    origin, inner = get_origin(shape), get_args(shape)
    if not inner or not isinstance(origin, type) or not issubclass(origin, Iterable):
        return []
    keyed = issubclass(origin, Mapping)
    return _forms(inner[keyed]) if keyed == isinstance(step, str) else []


def _placed(document: Document, keys: Keys, text: str) -> str:
    """Return a text with the file that it names, if any, by its absolute path."""

    def absolute(name: str) -> str:
        path = beside(document, keys, name)
        known = name.endswith(YAML_ENDINGS) or (("." in name or os.sep in name) and path.is_file())
        return str(path.absolute()) if known else name

    if (whole := absolute(text)) != text:
        return whole
    if (named := ClassName.of(text)) and named.is_file:
        return absolute(named.where) + text[len(named.where) :]
    return _LEARNT.sub(lambda found: found["tuner"] + absolute(found["file"]), text)


def digests_of_named_files(config: BaseModel) -> dict[str, str]:
    """Return a hash of every file that a `FileOrName` of a configuration names, by its dotted key.

    It is the SHA-256 of the content; of a class in Python also of what the file imports (see `files_named`).

    Raises:
        InputError: a file cannot be read.
    """
    return dict(_digests(config, ""))


def files_named(name: str) -> dict[str, str]:
    """Return a hash of the file that a name depends on, by the file's path; nothing where it names none.

    Args:
        name: a file, a class in Python, or a transport with a tuner whose model is in a file, as in
            ``dcqcn@acc:model.json,interval_us=50``.

    Raises:
        InputError: the file cannot be read.
    """
    named = None if Path(name).is_file() else ClassName.of(name)
    if named:
        path = named.file()
        if path is None or not path.is_file():
            return {}
        text = read_limited(path)
        return {str(path): digest_with_imports(text, digest_of_imports(text, named.package, path.parent))}
    models = [part.partition(":")[2].partition(",")[0].strip() for part in name.split("@")[1:]]
    return {file: hashlib.sha256(read_limited(file)).hexdigest() for file in (name, *models) if Path(file).is_file()}


def _digests(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Yield the key and the hash of each file that is named in a value of a configuration."""
    if isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            inner = getattr(value, name)
            inside = (getattr(item, "__metadata__", ()) for item in get_args(field.annotation))
            if any(NAMES_A_FILE in metadata for metadata in (field.metadata, *inside)):
                several = isinstance(inner, tuple)
                for i, text in enumerate(inner if several else [inner] if inner else []):
                    if not isinstance(text, str):
                        continue  # what the file held is in its place
                    found = files_named(text).values()
                    yield from ((f"{key}{name}.{i}" if several else f"{key}{name}", digest) for digest in found)
            yield from _digests(inner, f"{key}{name}.")
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            yield from _digests(inner, f"{key}{i}.")
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _digests(inner, f"{key}{name}.")
