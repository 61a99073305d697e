"""YAML 1.2 text to plain Python values with the line of each, and back.

Values are made from the parser's nodes and not by its constructor: whatever tags, dates or keys a file holds, nothing
becomes of it but text, numbers, truth values, lists and mappings with text as keys.
"""

import io
import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from lcca.inputs.errors import LONGEST_NUMBER, ConfigError, Keys, Place, Places, Problem, shown

MAX_DEPTH = 64
MAX_VALUES = 200_000
"""Bounds on a document with its aliases expanded: beyond them it is a mistake or an attack."""

_Pairs = dict[str, tuple[Node, Node]]

_TAG = "tag:yaml.org,2002:"
_MERGE = _TAG + "merge"
_TEXTS = ("str", "timestamp")
_KNOWN = {
    ScalarNode: (*_TEXTS, "null", "int", "float", "bool"),
    SequenceNode: ("seq",),
    MappingNode: ("map",),
}
_DIRECTIVE = re.compile(r"(?:[ \t]*(?:#.*)?\n)*%.*")
"""Before a document: lines that say how it is to be read, behind empty ones and comments."""

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def parse(text: str, source: str, *, numbered: bool = True) -> tuple[Any, Places]:
    """Read one YAML document.

    Args:
        text: the document.
        source: its name in errors, a file or `--set`.
        numbered: whether places carry line numbers.

    Returns:
        The value, made of dict, list, str, int, float, bool and None (dates are text), and the place of each value in
        it (the root's is under the empty path). Merge keys (`<<`) are resolved.

    Raises:
        ConfigError: with every problem, if the text is not YAML 1.2 or has duplicate keys, keys that are not text,
            tags, control characters, or too many or too deep values with its aliases expanded.
    """
    yaml = YAML(typ="safe", pure=True)
    if (found := _DIRECTIVE.match(text)) and found[0].split()[-2:] != ["%YAML", "1.2"]:
        place = Place(source, found[0].count("\n") + 1 if numbered else None)
        raise ConfigError(Problem(place, (), "files are YAML 1.2, without directives (%); leave this line out"))
    try:
        root = yaml.compose(text)
    except ReaderError as error:
        place = Place(source, text.count("\n", 0, error.position) + 1 if numbered else None)
        raise ConfigError(Problem(place, (), f"holds the control character {chr(error.character)!r}")) from None
    except YAMLError as error:
        raise ConfigError(_syntax_problem(error, source, numbered)) from None
    except RecursionError:
        raise ConfigError(Problem(Place(source), (), "nested too deeply")) from None
    reader = _Reader(source, numbered, yaml.constructor)
    if root is None:
        return None, {(): Place(source)}
    reader.check_size(root)
    value = reader.plain(root, (), root.start_mark.line)
    if reader.problems:
        raise ConfigError(reader.problems)
    return value, reader.places


def dump(content: Any) -> str:
    """Return plain values as YAML text that `parse` reads again."""
    stream = io.StringIO()
    yaml = YAML()
    yaml.default_flow_style = False
    yaml.dump(content, stream)
    return stream.getvalue()


def _syntax_problem(error: YAMLError, source: str, numbered: bool) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = mark.line + 1 if mark is not None and numbered else None
    problem = str(getattr(error, "problem", None) or str(error).splitlines()[0])
    if "\\t" in problem:
        return Problem(Place(source, line), (), "a tab where YAML wants spaces; indent with spaces")
    context = getattr(error, "context", None) if isinstance(error, MarkedYAMLError) else None
    parts = ", ".join(str(part).strip() for part in (problem, context) if part)
    return Problem(Place(source, line), (), f"not YAML: {parts}")


class _Reader:
    """Turns nodes into plain values and notes their places and what is wrong with them."""

    def __init__(self, source: str, numbered: bool, constructor: Any) -> None:
        self.places: Places = {}
        self.problems: list[Problem] = []
        self._source = source
        self._numbered = numbered
        self._constructor = constructor  # knows how YAML 1.2 writes numbers
        self._sizes: dict[int, tuple[int, int]] = {}
        self._above: set[int] = set()

    def check_size(self, root: Node) -> None:
        """Refuse a document that is too large or too deep with its aliases expanded, without expanding them."""
        values, depth = self._size(root)
        if values > MAX_VALUES or depth > MAX_DEPTH:
            text = "nested too deeply" if depth > MAX_DEPTH else "too many values, with its aliases (*) expanded"
            raise ConfigError(Problem(Place(self._source), (), text))

    def _size(self, node: Node) -> tuple[int, int]:
        """Return the number of values in a node and its depth; refuse an alias inside of its own anchor."""
        if isinstance(node, ScalarNode):
            return 1, 0
        if id(node) in self._above:
            raise ConfigError(Problem(self._place(node.start_mark.line), (), "an alias (*) contains itself"))
        if id(node) not in self._sizes:
            self._above.add(id(node))
            children = [each for child in node.value for each in (child if isinstance(child, tuple) else (child,))]
            inner = [self._size(child) for child in children]
            self._above.remove(id(node))
            self._sizes[id(node)] = 1 + sum(n for n, _ in inner), 1 + max((depth for _, depth in inner), default=0)
        return self._sizes[id(node)]

    def plain(self, node: Node, keys: Keys, line: int) -> Any:
        """Return the plain value of `node`, found at `keys` on `line` (from 0)."""
        self.places[keys] = self._place(line)
        if str(node.tag).removeprefix(_TAG) not in _KNOWN[type(node)]:
            return self._problem(keys, line, "YAML tags and sets are not supported here")
        if isinstance(node, ScalarNode):
            return self._scalar(node, keys, line)
        if isinstance(node, MappingNode):
            pairs = self._merged(node, keys) | self._own(node, keys)
            for name, (key, value) in pairs.items() if node.flow_style else ():
                if isinstance(value, ScalarNode) and not value.value and not value.style:  # as in `{at_us: 200, link}`
                    self._problem((*keys, name), key.start_mark.line, "has no value; write one behind a colon")
            return {name: self.plain(value, (*keys, name), key.start_mark.line) for name, (key, value) in pairs.items()}
        return [self.plain(item, (*keys, i), item.start_mark.line) for i, item in enumerate(node.value)]

    def _own(self, node: MappingNode, keys: Keys) -> _Pairs:
        """Return the nodes of a mapping's own keys and values, by name."""
        found: _Pairs = {}
        for key, value in node.value:
            name = None if key.tag == _MERGE else self._key(key, keys)
            if name in found:
                self._problem(keys, key.start_mark.line, f'duplicate key "{name[:60]}"; keep one of the two')
            elif name is not None:
                found[name] = key, value
        return found

    def _merged(self, node: MappingNode, keys: Keys) -> _Pairs:
        """Return what merge keys (`<<`) bring in; of several mappings with a key the first counts."""
        found: _Pairs = {}
        for key, value in node.value:
            if key.tag != _MERGE:
                continue
            for each in reversed(value.value if isinstance(value, SequenceNode) else [value]):
                if isinstance(each, MappingNode):
                    found |= self._merged(each, keys) | self._own(each, keys)
                else:
                    self._problem(keys, key.start_mark.line, "<< needs a mapping, or a list of them")
        return found

    def _key(self, key: Node, keys: Keys) -> str | None:
        line = key.start_mark.line
        if not isinstance(key, ScalarNode):
            self._problem(keys, line, "a list or a mapping stands where a key must be; write `key: value`")
            return None
        if str(key.tag).removeprefix(_TAG) not in _TEXTS:
            self._problem(keys, line, f"key {key.value[:60] or 'nothing'} must be text; put it in quotes")
            return None
        return str(self._text(key.value, keys, line))

    def _scalar(self, node: ScalarNode, keys: Keys, line: int) -> Any:
        kind = str(node.tag).removeprefix(_TAG)
        if kind in _TEXTS:
            return self._text(node.value, keys, line)
        if kind == "null":
            return None
        if kind == "int" and len(node.value) > LONGEST_NUMBER:
            return self._problem(keys, line, f"a number of {len(node.value):,} digits is too large")
        try:
            return getattr(self._constructor, f"construct_yaml_{kind}")(node)
        except (ValueError, LookupError):
            names = {"bool": "a truth value"}
            return self._problem(keys, line, f"{shown(node.value)} is not {names.get(kind, 'a number')}")

    def _text(self, text: str, keys: Keys, line: int) -> str:
        found = _UNPRINTABLE.search(text)
        if found:
            self._problem(keys, line, f"holds the control character {found[0]!r}; leave it out")
        return text

    def _place(self, line: int) -> Place:
        return Place(self._source, line + 1 if self._numbered else None)

    def _problem(self, keys: Keys, line: int, text: str) -> None:
        self.problems.append(Problem(self._place(line), keys, text))
