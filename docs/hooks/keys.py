"""Tables of the keys of the YAML files, from their JSON Schemas: one for each mapping."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from markdown_tables import table

SCHEMAS = Path(__file__).resolve().parents[1] / "reference" / "schemas"
PLACES = {
    "campaign": "configuration.md#campaigns",
    "networks": "configuration.md#network-spaces",
    "spaces": "configuration.md#several-spaces",
    "network-list": "configuration.md#lists-of-networks",
    "scenario": "configuration.md#fabric-scenarios",
    "flow-sizes": "configuration.md#flow-sizes",
    "signal-set": "configuration.md#signal-sets",
    "header": "headers.md#keys",
    "tune": "configuration.md#tunings",
    "study": "configuration.md#studies",
    "map": "configuration.md#maps",
    "estimate": "configuration.md#estimations",
    "acc-fabric": "configuration.md#acc-on-a-fabric",
    "benchmark": "configuration.md#benchmarks",
}
"""The heading above each kind's tables. A mapping that several kinds have is shown with the first of them."""

ROOTS = {
    "NetworkSpace": "networks",
    "NetworkSpaces": "spaces",
    "FabricScenario": "scenario",
    "SignalSet": "signal-set",
    "Header": "header",
    "TuningConfig": "tune",
    "FabricAcc": "acc-fabric",
}
"""Mappings that are kinds of files too."""

FIRST = ("name", "networks", "fabric", "signal_sets", "headers", "trainer", "training_seeds", "test", "settle")
"""Keys of a file that come before the others."""

Node = Mapping[str, Any]


@cache
def by_kind() -> dict[str, list[str]]:
    """Return the tables of each kind of file."""
    shown = {root: PLACES[kind] for root, kind in ROOTS.items()}
    return {kind: list(tables(kind, shown)) for kind in PLACES}


def tables(kind: str, shown: dict[str, str]) -> Iterator[str]:
    """Yield the table of a kind's files and those of the mappings in it; `shown` has the place of each, and grows."""
    schema = json.loads((SCHEMAS / f"{kind}.json").read_text(encoding="utf-8"))
    page = PLACES[kind].partition("#")[0]

    def below(node: Node, path: str) -> Iterator[str]:
        mappings, rows = [], []
        for key in sorted(node.get("properties", ()), key=lambda key: path == "" and (*FIRST, key).index(key)):
            value, links = node["properties"][key], []
            for at, name in references(value, f"{path}.{key}" if path else key):
                content, label = schema["$defs"][name], kind_of(schema["$defs"][name])
                known = name if name in ROOTS else json.dumps(content, sort_keys=True)
                if known not in shown:
                    anchor = "-".join(filter(None, (kind, *at.split("."), label)))
                    shown[known] = f"{page}#{anchor}"
                    mappings.append((at, label, content, anchor))
                links.append(f"[{label or 'keys'}]({shown[known].removeprefix(page)})")
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


TABLES: Mapping[str, Callable[[], str]] = {f"keys {kind}": partial(text, kind) for kind in PLACES}
"""What stands after each mark."""
