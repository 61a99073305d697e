"""What the documentation names exists: links, headings, files, modules, pages of the site."""

import argparse
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import lcca.api
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, NETWORK_TRIALS
from lcca.remy_plus.policies.families import FAMILIES
from lcca.remy_plus.switches.markers import MARKERS
from lcca.remy_plus.switches.transports import TRANSPORTS
from lcca.signal_sets.headers.header import packaged_headers
from lcca.signal_sets.headers.sources import SOURCES

from ..hooks import hook
from .bounds import bound

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FOLDERS = (
    "inputs remy-plus signal-sets workers gym-envs evaluation trainers experiments cli studies configs benchmarks tests"
).split()
OF_STUDIES = sorted(ROOT.glob("studies/*/*.md"))
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "benchmarks").glob("*.md"), *OF_STUDIES])
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
NAMED_PAGE = re.compile(r"\bdocs/[\w/-]+\.md\b")
NAMED_FILE = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./+-]+)`")
IMPORT = re.compile(r"^from (lcca[\w.]+) import (.+)$", re.MULTILINE)
CONFIG = re.compile(r"(?<![\w/])configs/[\w/+-]+\.(?:yaml|json)\b")
COMMAND = re.compile(r"^lcca ([a-z]+)((?:\\\n|[^\n#])*)", re.MULTILINE)
QUOTED = re.compile(r"`lcca ([a-z]+)([^`]*)`")
MODULE = re.compile(r"\blcca(?:\.[a-z_0-9]+)+(?:\.[A-Za-z_]\w*)?")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """Return the headings of a page as the site names them, and the places that it names itself."""
    headings = re.findall(r"^#+ (.+)$", text_of(page), re.MULTILINE)
    named = set(re.findall(r'<a id="([^"]+)"></a>', text_of(page)))
    return named | {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in headings}


def test_links_resolve() -> None:
    assert [
        (name(page), *link) for page in PAGES for link in LINK.findall(text_of(page)) if not leads(page, *link)
    ] == []


BUILT = DOCS / "gallery" / "headers.html"
"""Made as the site is built, by docs/hooks/gallery.py."""


def without() -> set[str]:
    """Return the studies that `pyproject.toml` names and whose folders are not there."""
    named = re.findall(r'^"lcca/studies/(\w+)"', text_of(ROOT / "pyproject.toml"), re.MULTILINE)
    return {study for study in named if not (ROOT / "studies" / study).exists()}


def taken_out(file: Path) -> bool:
    """Return whether a file is of a study whose folder is not there."""
    return file.is_relative_to(ROOT / "studies") and file.relative_to(ROOT).parts[1] in without()


def leads(page: Path, target: str, anchor: str) -> bool:
    file = (page.parent / target).resolve() if target else page
    if taken_out(file):
        return True
    return "://" in target or file == BUILT or (file.exists() and (not anchor or anchor in anchors(file)))


def test_named_files_and_modules_exist() -> None:
    assert [(name(page), each) for page in PAGES for each in lost(text_of(page))] == []


def lost(text: str) -> list[str]:
    imported = [f"{module}.{each.strip()}" for module, names in IMPORT.findall(text) for each in names.split(",")]
    named = [*NAMED_FILE.findall(text), *CONFIG.findall(text)]
    files = [file for file in named if not (ROOT / file).exists() and not taken_out(ROOT / file)]
    return files + [dotted for dotted in [*MODULE.findall(text), *imported] if not defined(dotted)]


def defined(dotted: str) -> bool:
    """Return whether a module has a file, or its module's file defines or imports the last name."""
    parts = dotted.split(".")
    if len(parts) == 2 and parts[1] in (*lcca.api.__all__, "studies"):  # import lcca.api as lcca; their namespace
        return True
    folder = {"api": "experiments"}.get(parts[1], parts[1].replace("_", "-"))
    base = ROOT.joinpath(*parts[1:3] if folder == "studies" else [folder], "lcca")
    if (base / Path(*parts[1:])).is_dir() or (base / Path(*parts[1:])).with_suffix(".py").exists():
        return True
    module = base / Path(*parts[1:-1])
    files = [file for file in (module / "__init__.py", module.with_suffix(".py")) if file.exists()]
    definition = re.compile(
        rf"^(?:def|class|async def) {parts[-1]}\b|^{parts[-1]}\b.*=|import .*\b{parts[-1]}\b", re.MULTILINE
    )
    return any(definition.search(text_of(file)) for file in files)


def test_contributors_are_told_all_files_of_an_addition() -> None:
    """The paths of the table exist (`test_named_files_and_modules_exist`); here: no row lacks them."""
    _, _, table = text_of(ROOT / "CONTRIBUTING.md").partition("## Add your own")
    _, *rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", table, re.MULTILINE)
    assert len(rows) == table.count("\n|") - 2 >= 12
    assert [what for what, files, tests, _ in rows if not NAMED_FILE.search(files) or "`tests/" not in tests] == []


def test_pages_named_in_the_sources_exist() -> None:
    kinds = {".py", ".hpp", ".cpp", ".md", ".yaml", ".toml", ".j2"}
    sources = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in kinds]
    named = {(name(path), page) for path in [*sources, *PAGES] for page in NAMED_PAGE.findall(text_of(path))}
    assert len(named) > 20
    assert sorted(pair for pair in named if not (ROOT / pair[1]).exists()) == []


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def test_every_page_is_in_the_site() -> None:
    named = re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert sorted(named) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def page_on_commands() -> Any:
    """Return the module that fills the page on the command line."""
    return hook(DOCS / "hooks" / "commands.py")


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    own = {option for action in parser._actions for option in action.option_strings}
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return own.union(*(options_of(each) for action in below for each in action.choices.values()))


def test_commands_in_the_pages_are_those_of_the_parser() -> None:
    options = {command: options_of(parser) for command, parser in page_on_commands().subcommands().items()}
    used = [(name(page), *each) for page in PAGES for kind in (COMMAND, QUOTED) for each in kind.findall(text_of(page))]
    assert len(used) > 50
    unknown = [
        (page, command, option)
        for page, command, rest in used
        for option in re.findall(r"(?<=\s)--[a-z0-9-]+", rest) or [""]
        if command not in options or (option and option not in options[command])
    ]
    assert unknown == [] or without()  # commands and options are taken out with studies


def test_the_page_on_the_command_line_has_every_command() -> None:
    pages = page_on_commands()
    text = pages.on_page_markdown(text_of(DOCS / "reference" / "cli.md"))
    assert all(f"## lcca {command}\n" in text for command in pages.subcommands()) and "--trainings" in text


def writer() -> Any:
    """Return the module that writes tables into pages."""
    return hook(DOCS / "hooks" / "write.py")


def test_tables_in_pages_are_those_of_the_code_and_the_results() -> None:
    write = writer()
    texts = {name(page): text_of(page) for page in write.pages()}
    marked = {page: {found[2] for found in write.BLOCK.finditer(text)} for page, text in texts.items()}
    assert set(write.TABLES) <= set().union(*marked.values())
    unknown = {page: names - set(write.TABLES) for page, names in marked.items() if page.startswith("docs/")}
    assert {page: names for page, names in unknown.items() if names} == {}
    assert [page for page, text in texts.items() if write.written(text) != text] == [], "run make pages"


def test_the_page_on_transports_has_every_transport_and_marker() -> None:
    text = text_of(DOCS / "reference" / "transports.md")
    for name, kind in {**TRANSPORTS, **MARKERS}.items():
        assert f"**{name}**" in text and all(f"| `{knob}` |" in text for knob in kind.knobs)


def test_the_page_on_hand_designed_controls_has_every_one_of_ns3() -> None:
    text = text_of(DOCS / "reference" / "baselines.md")
    for name, family in FAMILIES.items():
        assert f"**{name}**" in text and all(f"| `{each.name}` |" in text for each in family.parameters)


def test_the_page_on_headers_has_the_catalogue_and_every_source() -> None:
    text = text_of(DOCS / "reference" / "headers.md")
    assert "| `rank` | 2 B | 3040 | 42 |" in text and "| `int-md` | 16 B + 16 B/hop | 96 | 22 |" in text
    names = [*packaged_headers(), *SOURCES]
    assert [name for name in names if not re.search(rf"^\| `{name}` \|", text, re.MULTILINE)] == []


def test_the_page_on_formats_has_every_column_of_trials() -> None:
    text = text_of(DOCS / "reference" / "formats.md")
    assert [name for name in (*NETWORK_TRIALS, *FABRIC_TRIALS) if f"| `{name}` |" not in text] == []


def test_every_key_of_every_file_is_on_a_page() -> None:
    """A mapping is found by its keys: there is a table with a row for each, less the `kind` that names it."""
    keys = hook(DOCS / "hooks" / "keys.py")
    if without():
        pytest.skip("keys of a study that is not there are on no page")
    assert {*keys.PLACES, *keys.OF_STUDIES} == {file.stem for file in keys.SCHEMAS.glob("*.json")}
    pages = {place.partition("#")[0] for place in (keys.PLACES | keys.OF_STUDIES).values()}
    text = "\n".join(text_of(ROOT / page) for page in sorted(pages))
    tables = {frozenset(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) for table in text.split("\n\n")}
    for file in keys.SCHEMAS.glob("*.json"):
        schema = json.loads(text_of(file))
        for mapping in [schema.get("items", schema), *schema["$defs"].values()]:
            properties = mapping.get("properties", {})
            needed = frozenset(key for key in properties if "const" not in properties[key])
            of_files = (needed | {"extends"}, needed | {"extends", "grid"})
            assert {needed, *of_files} & tables or not needed, needed


def test_the_example_in_python_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    example = re.search(r"```python\n(.*?)```", text_of(ROOT / "README.md"), re.DOTALL)
    assert example and len(example[1].splitlines()) <= 6
    exec(example[1], {})
    assert re.match(r"aimd against fixed-window:20: worse, −?-?\d", capsys.readouterr().out)


def test_code_has_120_columns_at_most() -> None:
    """So much fits between the menus of the site at 1400 px; what a program prints may be wider."""
    blocks = (
        (name(page), *block)
        for page in PAGES
        for block in re.findall(r"^```(\w+)\n(.*?)^```", text_of(page), re.M | re.S)
    )
    written = [(page, line) for page, language, text in blocks if language != "text" for line in text.splitlines()]
    assert len(written) > 400 and [(page, line) for page, line in written if len(line) > 120] == []


HOW_TOS = [*(DOCS / "how-to").glob("*.md"), *ROOT.glob("studies/*/page.md")]
WORDS = {"README.md": bound("words_of_readme"), **{name(page): bound("words_of_how_to") for page in HOW_TOS}}
"""At most."""


def test_every_page_starts_with_what_it_is_for() -> None:
    """The first paragraph is of words: no heading, list, table, image or command comes before it."""
    pages = [page for page in DOCS.rglob("*.md") if page.parent.name != "api"]
    starts = {name(page): text_of(page).split("\n\n")[1] for page in pages}
    assert {
        page: start for page, start in starts.items() if not re.match(r'[A-Z`"]|\[\w', start) or len(start) < 40
    } == {}


def test_pages_stay_short() -> None:
    """README, how-tos, and all that is no reproduction: words as `wc -w` counts them, but for tables between marks."""
    by_hand = writer().by_hand
    counts = {name(page): len(by_hand(text_of(page)).split()) for page in PAGES}
    assert {page: (counts[page], most) for page, most in WORDS.items() if counts[page] > most} == {}
    reader = [page for page in counts if page.startswith("docs/") and not page.startswith("docs/reproductions/")]
    reader += [name(page) for page in HOW_TOS if page.is_relative_to(ROOT / "studies")]
    assert sum(counts[page] for page in reader) <= bound("words")


def test_no_heading_has_nothing_beneath() -> None:
    """For those who read the repository, to whom a comment shows nothing."""
    marked = {}
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "code", text_of(page), flags=re.MULTILINE | re.DOTALL)
        parts = re.split(r"^(#+) (.+)$", re.sub("<!-- .*? -->", "", text), flags=re.MULTILINE)
        levels, titles, bodies = parts[1::3], parts[2::3], parts[3::3]
        deeper = [len(b) > len(a) for a, b in pairwise([*levels, ""])]
        empty = [head for head, body, more in zip(titles, bodies, deeper, strict=True) if not body.strip() and not more]
        marked |= {name(page): empty} if empty else {}
    assert marked == {}
