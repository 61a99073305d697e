"""Small YAML files checked against a model; every error as ``file:line: key: problem``, all at once."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from lcca.inputs.errors import InputError, about, did_you_mean

M = TypeVar("M", bound=BaseModel)
Keys = tuple[str | int, ...]

_MOST_ERRORS = 10


def read_model(data: bytes, name: str, model: type[M], expected: str) -> M:
    """Check the text of a YAML file against a model.

    Args:
        data: the file's bytes.
        name: what errors call the file.
        model: what it must be.
        expected: the sentence for a document that is no mapping.

    Raises:
        InputError: one line for each problem, with file, line, key and the nearest name.
    """
    with about(name):
        document = _yaml(data, expected)
    try:
        return model.model_validate(document)
    except ValidationError as error:
        problems = [_problem(document, model, dict(e)) for e in error.errors(include_url=False)[:_MOST_ERRORS]]
        told = (f"{name}:{line}: {text}" for line, text in sorted(problems, key=lambda problem: problem[0]))
        raise InputError("\n".join(told)) from error


def problem_at(keys: Keys, text: str, found: Any = None) -> InitErrorDetails:
    """Return one problem of a model's own check, at the keys below that model."""
    return InitErrorDetails(type=PydanticCustomError("value_error", "{error}", {"error": text}), loc=keys, input=found)


def raise_problems(title: str, problems: list[InitErrorDetails]) -> None:
    """Raise what a model's own check found, if anything; the keys of each problem reach the user.

    Raises:
        pydantic.ValidationError: if there are problems.
    """
    if problems:
        raise ValidationError.from_exception_data(title, problems)


def _yaml(data: bytes, expected: str) -> Any:
    try:
        document = YAML().load(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text (byte {error.start})") from error
    except (YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"not YAML: {_yaml_reason(error)}") from error
    if not isinstance(document, dict):
        raise InputError(expected)
    return document


def _yaml_reason(error: Exception) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is not None and problem:
        return f"line {mark.line + 1}: {problem}"
    return "nested too deep" if isinstance(error, RecursionError) else str(error).partition("\n")[0]


def _problem(document: Any, model: type[BaseModel], error: Mapping[str, Any]) -> tuple[int, str]:
    """Return the line of one error of the model and ``key: problem``."""
    keys, siblings = _written(model, error["loc"])
    text = _text(error, keys, siblings)
    return _line(document, keys), f"{'.'.join(map(str, keys))}: {text}" if keys else text


def _text(error: Mapping[str, Any], keys: Keys, siblings: list[str]) -> str:
    """Return what is wrong, and what the vocabulary lacks or has in its place."""
    kind, context = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        return f"unknown key{did_you_mean(str(keys[-1]), siblings)}"
    if kind == "literal_error":
        return f"there is no {keys[-1]} {_shown(error['input'])}{_nearest(error['input'], context['expected'])}"
    if kind == "union_tag_invalid":
        tag = str(context["tag"])
        return f"there is no {keys[-1]} of kind {_shown(tag)}{_nearest(tag, context['expected_tags'])}"
    if kind == "union_tag_not_found":
        return "the key kind is missing"
    return str(error["msg"]).removeprefix("Value error, ")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _nearest(value: Any, expected: str) -> str:
    """Return the hint for `expected`, which pydantic writes as ``'a', 'b' or 'c'``."""
    known = [part.strip() for part in expected.replace(" or ", ", ").split(",")]
    return did_you_mean(str(value), [part.strip("'") for part in known])


def _written(model: type[BaseModel], loc: Keys) -> tuple[Keys, list[str]]:
    """Return the keys of `loc` without the members of unions that pydantic puts between.

    The second part is the names that the model knows beside the last key.
    """
    keys: list[str | int] = []
    siblings: list[str] = []
    shape: Any = model
    for step in loc:
        members = list(_members(shape))
        if len(members) > 1:
            chosen = next((member for member in members if step in _tags(member)), None)
            if chosen is not None:
                shape = chosen
                continue
        siblings = [name for member in members for name in _names(member)]
        keys.append(step)
        shape = _below(members[0] if len(members) == 1 else None, step)
    return tuple(keys), siblings


def _members(shape: Any) -> Iterator[Any]:
    """Yield the members of a union but None, without annotations; the type itself if it is no union."""
    while hasattr(shape, "__metadata__"):
        shape = get_args(shape)[0]
    if get_origin(shape) in (Union, types.UnionType):
        for member in get_args(shape):
            yield from _members(member)
    elif shape is not types.NoneType:
        yield shape


def _names(shape: Any) -> list[str]:
    return list(shape.model_fields) if isinstance(shape, type) and issubclass(shape, BaseModel) else []


def _tags(member: Any) -> set[str]:
    """Return what pydantic may call a member of a union: its type, or its `kind`."""
    tags = {str(getattr(member, "__name__", member))}
    if "kind" in _names(member):
        annotation = member.model_fields["kind"].annotation
        tags |= set(get_args(annotation)) if get_origin(annotation) is Literal else set()
    return tags


def _below(shape: Any, step: str | int) -> Any:
    """Return the type of what is at `step` in a value of type `shape`; None if that cannot be told."""
    if _names(shape):
        info = shape.model_fields.get(step)
        return None if info is None else info.annotation
    arguments = get_args(shape)
    return arguments[0] if arguments and get_origin(shape) is tuple else None


def _line(document: Any, where: Keys) -> int:
    """Return the line of a key, or of the innermost thing around it that the document has."""
    node: Any = document
    line = 1
    for key in where:
        try:
            position = node.lc.item(key) if isinstance(key, int) else node.lc.key(key)
            node = node[key]
        except (AttributeError, KeyError, IndexError, TypeError):
            break
        line = position[0] + 1
    return line
