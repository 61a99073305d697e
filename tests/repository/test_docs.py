"""What the documentation names exists: links, headings, files, modules, pages of the site."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FOLDERS = ("inputs remy-plus signal-sets gym-envs evaluation trainers experiments cli configs benchmarks tests").split()
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")])
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
NAMED_PAGE = re.compile(r"\bdocs/[\w/-]+\.md\b")
NAMED_FILE = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./+-]+)`")
IMPORT = re.compile(r"^from (lcca[\w.]+) import (.+)$", re.MULTILINE)
MODULE = re.compile(r"\blcca(?:\.[a-z_0-9]+)+(?:\.[A-Za-z_]\w*)?")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """Return the headings of a page as the site names them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_resolve(page: Path) -> None:
    broken = []
    for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        file = (page.parent / target).resolve() if target else page
        if "://" not in target and not (file.exists() and (not anchor or anchor in anchors(file))):
            broken.append(f"{target}#{anchor}")
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_named_files_and_modules_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    lost = [file for file in NAMED_FILE.findall(text) if not (ROOT / file).exists()]
    imported = [f"{module}.{each.strip()}" for module, names in IMPORT.findall(text) for each in names.split(",")]
    assert lost + [dotted for dotted in [*MODULE.findall(text), *imported] if not defined(dotted)] == []


def defined(dotted: str) -> bool:
    """Return whether a module has a file, or its module's file mentions the last name."""
    parts = dotted.split(".")
    base = ROOT / parts[1].replace("_", "-") / "lcca"
    if (base / Path(*parts[1:])).is_dir() or (base / Path(*parts[1:])).with_suffix(".py").exists():
        return True
    module = base / Path(*parts[1:-1])
    files = [file for file in (module / "__init__.py", module.with_suffix(".py")) if file.exists()]
    return any(re.search(rf"\b{parts[-1]}\b", file.read_text(encoding="utf-8")) for file in files)


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
