"""The size of the structure: chains of imports, cycles of folders, crowded folders, options of commands, lines.

Bounds are in `bounds.json`; see `test_bounds.py`.
"""

import argparse
import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from lcca.cli.commands import COMMANDS, load
from lcca.cli.main import parser

from .bounds import bound

ROOT = Path(__file__).resolve().parents[2]
CROWDED = {"tests/remy-plus/fabric": 22}  # goal: none

Edges = Mapping[str, set[str]]
"""By module or folder, those that it imports from."""


@cache
def modules() -> dict[str, Path]:
    """Return the files of all portions by the names that they are imported by."""
    files = sorted(ROOT.glob("*/lcca/**/*.py"))
    names = {".".join(file.relative_to(ROOT).with_suffix("").parts[1:]): file for file in files}
    studies = sorted(ROOT.glob("studies/*/lcca/**/*.py"))
    names |= {".".join(file.relative_to(ROOT).with_suffix("").parts[2:]): file for file in studies}
    return {name.removesuffix(".__init__"): file for name, file in names.items()}


def for_types(node: ast.If) -> bool:
    return ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def statements(nodes: Iterable[ast.AST], lazy: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports that run; those inside of functions only if asked for."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and for_types(node):
            yield from statements(node.orelse, lazy)
        elif lazy or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from statements(ast.iter_child_nodes(node), lazy)


def imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Yield the modules of the project that a statement imports; the compiled ones have no file and are none."""
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names if each.name in modules())
        return
    assert node.level == 0, "imports are absolute"
    for each in node.names:
        name = f"{node.module}.{each.name}"
        if name in modules():
            yield name
        elif node.module in modules() and each.name != "_core":
            yield node.module


@cache
def imports(lazy: bool) -> dict[str, set[str]]:
    """Return what every module imports."""
    return {
        name: {
            target
            for node in statements(ast.parse(file.read_text(encoding="utf-8")).body, lazy)
            for target in imported(node)
        }
        - {name}
        for name, file in modules().items()
    }


@cache
def of_types() -> dict[str, set[str]]:
    """Return what every module imports, wherever, for types too."""
    found = {}
    for name, file in modules().items():
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        own = {target for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for target in imported(node)}
        found[name] = own - {name}
    return found


def longest_chain(edges: Edges) -> list[str]:
    """Return the longest chain, each imported by the one before it."""
    found: dict[str, list[str]] = {}

    def chain(name: str, above: tuple[str, ...]) -> list[str]:
        assert name not in above, f"{' → '.join([*above, name])}: modules import each other"
        if name not in found:
            below = [chain(each, (*above, name)) for each in sorted(edges[name])]
            found[name] = [name, *max(below, key=len, default=[])]
        return found[name]

    return max((chain(name, ()) for name in sorted(edges)), key=len)


def cycles(edges: Edges) -> list[list[str]]:
    """Return the sets of folders that all reach each other."""
    reached = {name: reach(edges, name) for name in edges}
    together = {
        frozenset({name, *(each for each in found if name in reached[each])}) for name, found in reached.items()
    }
    return sorted(sorted(each) for each in together if len(each) > 1)


def reach(edges: Edges, start: str) -> set[str]:
    found, ahead = set[str](), [start]
    while ahead:
        new = edges[ahead.pop()] - found
        found |= new
        ahead += new
    return found


def folder(name: str) -> str:
    return str(modules()[name].parent.relative_to(ROOT))


def folders() -> dict[str, set[str]]:
    """Return from which other folders the modules of each folder import, inside of functions too."""
    edges: dict[str, set[str]] = {folder(name): set() for name in modules()}
    for name, targets in imports(lazy=True).items():
        edges[folder(name)] |= {folder(each) for each in targets} - {folder(name)}
    return edges


def crossings(together: list[str]) -> list[str]:
    """Return the imports that make a cycle of folders."""
    return [
        f"{name} → {target}"
        for name, targets in imports(lazy=True).items()
        for target in sorted(targets)
        if folder(name) != folder(target) and {folder(name), folder(target)} <= set(together)
    ]


def within(*portions: str) -> dict[str, set[str]]:
    inside: Callable[[str], bool] = lambda name: name.split(".")[1] in portions  # noqa: E731
    return {name: set(filter(inside, targets)) for name, targets in imports(lazy=False).items() if inside(name)}


def test_chains_of_imports_are_short() -> None:
    whole, engine = longest_chain(imports(lazy=False)), longest_chain(within("inputs", "remy_plus"))
    assert len(whole) <= bound("chain"), "\n".join(whole)
    assert len(engine) <= bound("chain_of_the_engine"), "\n".join(engine)


def test_chains_of_imports_are_short_with_types_too() -> None:
    """And with imports inside of functions: of the core, where what is in a circle counts once."""
    core = {name: targets for name, targets in of_types().items() if not name.startswith("lcca.studies")}
    knots = cycles(core)
    knot = {name: min(each) for each in knots for name in each}
    whole: dict[str, set[str]] = {}
    for name, targets in core.items():
        whole.setdefault(knot.get(name, name), set()).update(knot.get(each, each) for each in targets)
    chain = longest_chain({name: targets - {name} for name, targets in whole.items()})
    assert len(chain) <= bound("chain_with_types"), "\n".join(chain)


def test_no_modules_import_each_other_for_types_either() -> None:
    found = cycles(of_types())
    assert sum(map(len, found)) <= bound("files_in_cycles"), found


def test_no_folders_import_each_other() -> None:
    found = cycles(folders())
    told = "\n\n".join(", ".join(each) + "\n  " + "\n  ".join(crossings(each)) for each in found)
    assert sum(map(len, found)) <= bound("folders_in_cycles"), told


def sources(*endings: str) -> list[Path]:
    files = [file for file in ROOT.glob("[a-z]*/**/*") if file.suffix in endings]
    return [file for file in files if file.relative_to(ROOT).parts[0] not in ("build", "dist", "site", "results")]


def test_no_folder_is_crowded() -> None:
    count = Counter(str(file.parent.relative_to(ROOT)) for file in sources(".py", ".hpp", ".cpp", ".h", ".cc"))
    assert {where: n for where, n in count.items() if n > max(bound("files"), CROWDED.get(where, 0))} == {}


def parsers(top: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield top
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in {id(below): below for below in action.choices.values()}.values():
                yield from parsers(each)


def test_commands_have_few_options() -> None:
    """--json, which is one option of the program before or behind the command's name, counts once."""
    whole = parser({name: load(name) for name in COMMANDS})
    found = {
        id(action): f"{each.prog} {'/'.join(action.option_strings)}"
        for each in parsers(whole)
        for action in each._actions
        if action.option_strings and "--help" not in action.option_strings
    }
    assert len(found) <= bound("options"), f"{len(found)}:\n" + "\n".join(found.values())


def test_there_are_few_lines() -> None:
    """Of the core: what can be taken out, a study, is not in it."""
    besides = ("tests", "benchmarks", "studies")
    files = [file for file in sources(".py") if file.relative_to(ROOT).parts[0] not in besides]
    assert sum(len(file.read_bytes().splitlines()) for file in files) <= bound("lines")
