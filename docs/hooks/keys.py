"""Tables of the keys of the YAML files, from their JSON Schemas: one for each mapping."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from markdown_tables import table

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "docs" / "reference" / "schemas"
CONFIGURATION = "docs/reference/configuration.md"
PLACES = {
    "campaign": f"{CONFIGURATION}#campaigns",
    "networks": f"{CONFIGURATION}#network-spaces",
    "spaces": f"{CONFIGURATION}#several-spaces",
    "network-list": f"{CONFIGURATION}#lists-of-networks",
    "scenario": f"{CONFIGURATION}#fabric-scenarios",
    "flow-sizes": f"{CONFIGURATION}#flow-sizes",
    "signal-set": f"{CONFIGURATION}#signal-sets",
    "header": "docs/reference/headers.md#keys",
    "tune": f"{CONFIGURATION}#tunings",
    "study": f"{CONFIGURATION}#studies",
}
"""The heading above each kind's tables. A mapping that several kinds have is shown with the first of them."""

OF_STUDIES = {
    kind: f"studies/{page.parent.name}/{page.name}#keys"
    for page in sorted(ROOT.glob("studies/*/*.md"))
    for kind in re.findall(r"^<!-- keys (\S+) -->$", page.read_text(encoding="utf-8"), re.MULTILINE)
}
"""The same for the kinds that studies add, each of which shows what the core's tables do not."""

FIRST = ("name", "networks", "fabric", "signal_sets", "headers", "trainer", "training_seeds", "test", "settle")
"""Keys of a file that come before the others."""

Node = Mapping[str, Any]


@cache
def by_kind() -> dict[str, list[str]]:
    """Return the tables of each kind of file."""
    shown: dict[str, str] = {}
    core = {kind: list(tables(kind, place, shown)) for kind, place in PLACES.items()}
    return core | {kind: list(tables(kind, place, dict(shown))) for kind, place in OF_STUDIES.items()}


@cache
def whole_files() -> dict[frozenset[str], str]:
    """Return where each kind of file is described, by its keys; of a kind that a study adds, its schema."""
    schemas = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(SCHEMAS.glob("*.json"))}
    keys = {kind: frozenset(schema.get("items", schema).get("properties", ())) for kind, schema in schemas.items()}
    return {
        named - {"extends", "grid"}: PLACES.get(kind, f"docs/reference/schemas/{kind}.json")
        for kind, named in keys.items()
    }


def tables(kind: str, place: str, shown: dict[str, str]) -> Iterator[str]:
    """Yield the table of a kind's files and those of the mappings in it; `shown` has the place of each, and grows."""
    schema = json.loads((SCHEMAS / f"{kind}.json").read_text(encoding="utf-8"))
    page = place.partition("#")[0]

    def below(node: Node, path: str) -> Iterator[str]:
        mappings, rows = [], []
        for key in sorted(node.get("properties", ()), key=lambda key: path == "" and (*FIRST, key).index(key)):
            value, links = node["properties"][key], []
            for at, name in references(value, f"{path}.{key}" if path else key):
                content, label = schema["$defs"][name], kind_of(schema["$defs"][name])
                known = json.dumps(content, sort_keys=True)
                if whole := whole_files().get(frozenset(content.get("properties", ()))):
                    shown[known] = whole
                elif known not in shown:
                    anchor = "-".join(filter(None, (kind, *at.split("."), label)))
                    shown[known] = f"{page}#{anchor}"
                    mappings.append((at, label, content, anchor))
                links.append(f"[{label or 'keys'}]({link(shown[known], page)})")
            if "const" not in value:
                meaning = " ".join(filter(None, (value.get("description"), ", ".join(dict.fromkeys(links)))))
                required = not path and key in node.get("anyOf", [node])[0].get("required", ())
                rows.append((f"`{key}`", default(value, required), accepted(value), meaning))
        if rows:
            yield table(("key", "default", "accepted", "meaning"), rows)
        for at, label, content, anchor in mappings:
            title = f"`{at}`" + (f", `kind: {label}`" if label else "")
            yield f'<a id="{anchor}"></a>**{title}**: {content.get("description", "")}'.removesuffix(": ")
            yield from below(content, at)

    return below(schema.get("items", schema), "")


def link(place: str, page: str) -> str:
    """Return a link to a place from a page, both by their paths in the repository."""
    file, mark, anchor = place.partition("#")
    return f"{'' if file == page else os.path.relpath(file, os.path.dirname(page))}{mark}{anchor}"


def references(node: Node, path: str) -> Iterator[tuple[str, str]]:
    """Yield the mappings that a value may be or hold, by path and name; 0 stands for a place in a list."""
    if "$ref" in node:
        yield path, node["$ref"].rpartition("/")[2]
    for each in node.get("anyOf", []):
        yield from references(each, path)
    if isinstance(node.get("items"), dict):
        yield from references(node["items"], f"{path}.0")
    named = [*node.get("patternProperties", {}).values(), node.get("additionalProperties")]
    for each in filter(lambda value: isinstance(value, dict), named):
        yield from references(each, f"{path}.NAME")


def kind_of(mapping: Node) -> str:
    """Return the `kind` that tells a mapping from others in its place; empty where there are none."""
    return str(mapping.get("properties", {}).get("kind", {}).get("const", ""))


def default(value: Node, required: bool) -> str:
    """Return what holds where a key is left out, as YAML."""
    if "default" not in value:
        return "required" if required else ""
    return "" if value["default"] in (None, "") else f"`{json.dumps(value['default']).strip(chr(34))}`"


def accepted(value: Node) -> str:
    """Return the words or numbers that a key takes; empty where anything of its type is."""
    each = [accepted(branch) for branch in value.get("anyOf", [])]
    each += [f"`{word}`" for word in value.get("enum", [])]
    if value.get("type") == "boolean":
        each += ["`true`", "`false`"]
    for key, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"), ("exclusiveMaximum", "<")):
        each += [f"{sign} {value[key]:,}"] if key in value else []
    return ", ".join(dict.fromkeys(filter(None, each)))


def text(kind: str) -> str:
    """Return the tables of a kind of file as they stand in its page."""
    return "\n\n".join(by_kind()[kind])


TABLES: Mapping[str, Callable[[], str]] = {f"keys {kind}": partial(text, kind) for kind in PLACES | OF_STUDIES}
"""What stands after each mark."""
