"""YAML 1.2 text to plain Python values, remembering the line of each."""

import datetime
import itertools
from typing import Any, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode

from lcca.inputs.problems import ConfigError, Keys, Place, Problem

MAX_DEPTH = 64
MAX_VALUES = 200_000
"""Bounds on a document with its aliases expanded: beyond them it is a mistake or an attack."""

Places = dict[Keys, Place]


def parse(text: str, source: str, *, numbered: bool = True) -> tuple[Any, Places]:
    """Reads one YAML document.

    Args:
        text: the document.
        source: its name in errors, a file or `--set`.
        numbered: whether places carry line numbers.

    Returns:
        The value, made of dict, list, str, int, float, bool, None and dates, and the place of each value in
        it (the root's is under the empty path).

    Raises:
        ConfigError: if the text is not YAML 1.2 or has duplicate keys, keys that are not text, or tags.
    """
    try:
        if "*" in text:
            _refuse_cycles(YAML(typ="rt", pure=True).compose(text), source, set(), set())
        tree = YAML(typ="rt", pure=True).load(text)
    except YAMLError as error:
        raise ConfigError(_syntax_problem(error, source, numbered)) from None
    except RecursionError:
        raise ConfigError(Problem(Place(source), (), "nested too deeply")) from None
    except ValueError as error:  # such as a date that does not exist
        raise ConfigError(Problem(Place(source), (), f"not a YAML value: {error}")) from None
    reader = _Reader(source, numbered)
    return reader.plain(tree, (), reader.first_line(tree)), reader.places


def _refuse_cycles(node: Node | None, source: str, above: set[int], done: set[int]) -> None:
    """Refuses an alias inside of its own anchor, which the loader would read as nothing."""
    if node is None or isinstance(node, ScalarNode) or id(node) in done:
        return
    if id(node) in above:
        raise ConfigError(Problem(Place(source, node.start_mark.line + 1), (), "an alias (*) contains itself"))
    above.add(id(node))
    pairs = node.value if isinstance(node, MappingNode) else [(item,) for item in node.value]
    for child in itertools.chain.from_iterable(pairs):
        _refuse_cycles(child, source, above, done)
    above.remove(id(node))
    done.add(id(node))


def _syntax_problem(error: YAMLError, source: str, numbered: bool) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = mark.line + 1 if mark is not None and numbered else None
    return Problem(Place(source, line), (), _syntax_text(error))


def _syntax_text(error: YAMLError) -> str:
    problem = str(getattr(error, "problem", None) or str(error).splitlines()[0])
    if isinstance(error, DuplicateKeyError):
        return problem.split(" with ")[0].removeprefix("found ") + "; keep one of the two"
    if "\\t" in problem:
        return "a tab where YAML wants spaces; indent with spaces"
    context = getattr(error, "context", None) if isinstance(error, MarkedYAMLError) else None
    return "not YAML: " + ", ".join(str(part).strip() for part in (problem, context) if part)


class _Reader:
    """Turns ruamel's tree into plain values and notes their places."""

    def __init__(self, source: str, numbered: bool) -> None:
        self.places: Places = {}
        self._source = source
        self._numbered = numbered

    def first_line(self, tree: Any) -> int:
        """Line (from 0) at which the root starts."""
        return int(tree.lc.line) if isinstance(tree, CommentedMap | CommentedSeq) else 0

    def plain(self, node: Any, keys: Keys, line: int) -> Any:
        """The plain value of `node`, found at `keys` on `line` (from 0)."""
        self.places[keys] = Place(self._source, line + 1 if self._numbered else None)
        if len(keys) > MAX_DEPTH or len(self.places) > MAX_VALUES:
            self._fail(keys, "nested too deeply" if len(keys) > MAX_DEPTH else "too many values")
        if isinstance(node, CommentedMap):
            return self._mapping(node, keys, line)
        if isinstance(node, CommentedSeq):
            return [self.plain(item, (*keys, i), _line_of(node, i, line)) for i, item in enumerate(node)]
        return self._scalar(node, keys)

    def _mapping(self, node: CommentedMap, keys: Keys, line: int) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for key, value in node.items():
            if not isinstance(key, str):
                self._fail(keys, f"key {key!s} must be text; put it in quotes", _line_of(node, key, line))
            plain[str(key)] = self.plain(value, (*keys, str(key)), _line_of(node, key, line))
        return plain

    def _scalar(self, node: Any, keys: Keys) -> Any:
        if node is None or isinstance(node, bool | datetime.date):
            return node
        for kind in (str, int, float):
            if isinstance(node, kind):
                return bool(node) if type(node).__name__ == "ScalarBoolean" else kind(node)
        self._fail(keys, "YAML tags and sets are not supported here")

    def _fail(self, keys: Keys, text: str, line: int | None = None) -> NoReturn:
        place = self.places[keys]
        if line is not None and self._numbered:
            place = Place(self._source, line + 1)
        raise ConfigError(Problem(place, keys, text))


def _line_of(node: CommentedMap | CommentedSeq, key: Any, fallback: int) -> int:
    """Line (from 0) of a key or an item; that of the whole node for what a merge key brought in."""
    try:
        found = node.lc.key(key) if isinstance(node, CommentedMap) else node.lc.item(key)
        return int(found[0])
    except (AttributeError, KeyError, IndexError, TypeError):
        return fallback
