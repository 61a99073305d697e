"""Check a document against a pydantic model: all errors at once, with file, line, key and suggestion."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from lcca.inputs.documents import Document, document_of, read_document
from lcca.inputs.errors import ConfigError, Place, Problem
from lcca.inputs.locations import Location, locate
from lcca.inputs.named_files import with_files
from lcca.inputs.wording import describe

T = TypeVar("T")


def read_config(path: str | os.PathLike[str], model: type[T], overrides: Iterable[str] = ()) -> T:
    """Read the YAML mapping at `path` with `overrides` as a `model`.

    Raises:
        ConfigError: listing every problem found.
    """
    return validate(read_document(path, overrides), model)


def config_of(data: bytes, name: str, model: type[T]) -> T:
    """Return the YAML mapping in the bytes of a file as a `model`.

    Raises:
        ConfigError: listing every problem found.
    """
    return validate(document_of(data, Path(name)), model)


def validate(document: Document, model: type[T]) -> T:
    """Check a document against a model class.

    Whole floats (`1e6`) serve as integers; otherwise the model says how strict it is. Names of files are relative to
    the file that says them, in an override to the working folder; see `lcca.inputs.named_files.with_files`.

    Raises:
        ConfigError: listing every problem found, by file and line.
    """
    document = with_files(document, model)
    return _validated(document, _prepared(document.data), model)


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
        raise ConfigError(_problems(document, model, error)) from None


def validate_list(document: Document, item: type[T]) -> list[T]:
    """Check a document that is a list of `item`; see `validate`."""
    return validate(document, list[item])  # type: ignore[valid-type]


def _prepared(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _prepared(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_prepared(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _problems(document: Document, shape: Any, error: ValidationError) -> list[Problem]:
    texts: dict[Location, list[str]] = {}
    for details in error.errors(include_url=False):
        if _is_echo(details):
            continue
        location = _location(document, shape, details)
        text = describe(details, location)
        if text not in texts.setdefault(location, []):
            texts[location].append(text)
    # Several errors at one place are the alternatives of a union.
    problems = [
        Problem(document.place(at.keys), at.keys, ", or ".join(alternatives)) for at, alternatives in texts.items()
    ]
    return sorted(problems, key=lambda problem: (problem.place.source, problem.place.line or 0))


def _is_echo(details: ErrorDetails) -> bool:
    """Whether a list is only "too short" because some of its items are wrong, which is told by itself."""
    return details["type"] == "too_short" and len(details["input"]) >= details["ctx"]["min_length"]


def _location(document: Document, shape: Any, details: ErrorDetails) -> Location:
    keys = details["loc"]
    missing = details["type"] == "missing"
    if details["type"] in ("union_tag_invalid", "union_tag_not_found"):
        keys = (*keys, details["ctx"]["discriminator"].strip("'"))
        missing = True
    return locate(shape, document.data, keys, missing=missing)
