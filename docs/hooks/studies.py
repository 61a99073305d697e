"""Adds the pages of the studies (`studies/*/*.md`) to the site; links to a study that is not there become words."""

import re
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")


def pages() -> dict[str, Path]:
    """Return the studies' pages by where they are on the site."""
    return {f"studies/{file.parent.name}/{file.name}": file for file in sorted(ROOT.glob("studies/*/*.md"))}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give every study an entry in the navigation, with its page's heading."""
    entries: dict[str, list[str]] = {}
    for place, file in pages().items():
        entries.setdefault(file.parent.name, []).append(place)
    listed = [own[0] if len(own) == 1 else {titled(ROOT / own[0]): own} for own in map(first_page, entries.values())]
    if listed:
        config.nav.append({"Studies": listed})  # type: ignore[union-attr]
    return config


def first_page(places: list[str]) -> list[str]:
    """Return the pages of a study, the one that it starts with first."""
    return sorted(places, key=lambda place: (not place.endswith("/page.md"), place))


def titled(page: Path) -> str:
    """Return the heading of a page."""
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages, and the pictures beside them."""
    for place in pages():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / place)))
    for picture in sorted(ROOT.glob("studies/*/*.png")):
        files.append(File.generated(config, f"studies/{picture.parent.name}/{picture.name}", abs_src_path=str(picture)))
    return files


@cache
def fillers() -> list[ModuleType]:
    """Return the modules of studies that fill pages: `pages.py`, with a hook of MkDocs for each page."""
    found = []
    sys.path.append(str(Path(__file__).parent))  # markdown_tables
    for file in sorted(ROOT.glob("studies/*/pages.py")):
        spec = spec_from_file_location(f"pages_of_{file.parent.name}", file)
        assert spec and spec.loader
        found.append(module_from_spec(spec))
        spec.loader.exec_module(found[-1])
    return found


def on_page_markdown(markdown: str, page: Any, **more: Any) -> str:
    """Fill pages of studies, and turn links as they are in the repository into those of the site."""
    for each in fillers():
        markdown = each.on_page_markdown(markdown, page=page, **more)
    place = str(page.file.src_uri)
    here = ROOT / ("" if place.startswith("studies/") else "docs") / place

    def on_site(link: re.Match[str]) -> str:
        target = (here.parent / link[2]).resolve()
        if not target.is_relative_to(ROOT):
            return link[0]
        whole = target.relative_to(ROOT)
        if whole.parts[0] == "studies" and not target.exists():
            return link[1]
        if whole.parts[0] not in ("docs", "studies") or (place.startswith("studies/") == (whole.parts[0] == "studies")):
            return link[0]
        ups = "../" * place.count("/")
        return f"[{link[1]}]({ups}{whole.as_posix().removeprefix('docs/')}{link[3] or ''})"

    return LINK.sub(on_site, markdown)
