"""JSON Schemas of the YAML files that users write, for editors, and of what functions of `lcca.api` take.

A schema of files is wider than their reader, which has the last word: where a mapping stands there may be a name or a
file, and with `extends` or a grid, keys may come from elsewhere. So only what a file must have at its root is required.
"""

from __future__ import annotations

import re
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from lcca.experiments.schemas.kinds import KINDS, FileKind
from lcca.inputs.options import options_of

SPECIFICATION = "https://json-schema.org/draft/2020-12/schema"

_ATTRIBUTES = re.compile(r"\n\s*Attributes:\n(.*?)(?=\n\s*[A-Z]\w+:\n|\Z)", re.DOTALL)
_NOISE = ("title", "discriminator")


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind of file, one of `KINDS`."""
    kind = KINDS[name]
    content = _written(kind.model.model_json_schema(schema_generator=_Explained))
    definitions = content.pop("$defs", {})
    for definition in definitions.values():
        definition.pop("required", None)
    root = {"type": "array", "items": content, "minItems": 1} if kind.several else _extendable(content, kind)
    return {"$schema": SPECIFICATION, "title": f"lcca: {kind.what}", **root, "$defs": definitions}


def schema_of_arguments(function: Any) -> dict[str, Any]:
    """Return the JSON Schema of what a function of `lcca.api` takes, one of `FUNCTIONS`, by the names of parameters."""
    found = _written(TypeAdapter(function.verb).json_schema())
    for each in options_of(function.verb):
        listed = {"enum": [*each.choices]} if each.choices else {}
        found["properties"][each.key] |= listed | {"description": each.help}
    about = {"title": f"lcca.api.{function.__name__}", "description": function.__doc__.partition("\n")[0]}
    return {"$schema": SPECIFICATION, **found, **about, "additionalProperties": False}


class _Explained(GenerateJsonSchema):
    """Gives keys the words that the docstrings of their class and of its bases have on them."""

    def model_schema(self, schema: core_schema.ModelSchema) -> dict[str, Any]:
        """Return the schema of a class."""
        found = super().model_schema(schema)
        for base in schema["cls"].__mro__:
            _explain(found.get("properties", {}), base.__doc__ or "")
        return found


def _extendable(content: dict[str, Any], kind: FileKind) -> dict[str, Any]:
    """Let a file extend another one, and one that describes a run be a grid."""
    extra: dict[str, Any] = {"extends": {"type": "string", "description": "a file whose keys this one changes"}}
    if hasattr(kind.model, "run_kind"):
        extra["grid"] = {"type": "object", "description": "keys, each with its values: a run for every combination"}
    required = content.pop("required", [])
    content["properties"] |= extra
    return content | {"anyOf": [{"required": required}, *({"required": [key]} for key in extra)]}


def _written(node: Any) -> Any:
    """Return a schema as files are written: names for mappings, one of several forms without a key that tells which."""
    if isinstance(node, list):
        return [_written(each) for each in node]
    if not isinstance(node, dict):
        return node
    found = {key: _inner(key, value) for key, value in node.items() if key not in _NOISE}
    if isinstance(found.get("default"), dict | list):
        del found["default"]
    if "oneOf" in found:
        found["anyOf"] = found.pop("oneOf")
    if "$ref" in found:
        found["anyOf"] = [{"$ref": found.pop("$ref")}, {"type": ["string", "number"]}]
    return _described(found)


def _inner(key: str, value: Any) -> Any:
    if key in ("properties", "$defs"):
        return {name: _written(each) for name, each in value.items()}
    return value if key in ("default", "enum", "const") else _written(value)


def _described(node: dict[str, Any]) -> dict[str, Any]:
    """Give properties the words that the docstring of their class has on them; leave its first paragraph."""
    text = node.get("description", "")
    if "properties" not in node or not isinstance(text, str):
        return node
    _explain(node["properties"], text)
    return node | {"description": " ".join(text.split("\n\n")[0].split())}


def _explain(properties: dict[str, Any], docstring: str) -> None:
    for name, words in attributes(docstring).items():
        if name in properties:
            properties[name].setdefault("description", words)


def attributes(docstring: str) -> dict[str, str]:
    """Return what the section "Attributes" of a docstring says on each name."""
    section = _ATTRIBUTES.search(docstring)
    if section is None:
        return {}
    indent = " " * (len(section[1]) - len(section[1].lstrip(" ")))
    found = re.findall(rf"^{indent}(\w[\w, ]*): (.*?)(?=^{indent}\w|\Z)", section[1], re.MULTILINE | re.DOTALL)
    return {name: " ".join(words.split()) for names, words in found for name in names.split(", ")}
