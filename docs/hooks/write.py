"""Writes the tables that the code and the results say into pages: `python docs/hooks/write.py`, or `make pages`.

A table stands between `<!-- NAME -->` and `<!-- end -->`, so that those who read the repository see it too; a test
compares.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import catalogues
import keys
import results

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(<!-- ([^<>]+) -->\n)((?:(?!<!--).)*?)(<!-- end -->)", re.DOTALL)
TABLES: Mapping[str, Callable[[], str]] = {
    **catalogues.TABLES,
    **keys.TABLES,
    **{f"results {name}": table for name, table in results.TABLES.items()},
}


def written(text: str) -> str:
    """Return a page with its tables written anew."""
    return BLOCK.sub(lambda found: found[1] + block(found[2], found[3]) + found[4], text)


def block(name: str, old: str) -> str:
    """Return what stands in a block; what was there where this program does not know it."""
    return f"{TABLES[name]()}\n" if name in TABLES else old


def by_hand(text: str) -> str:
    """Return what people wrote of a page: all but its tables between marks."""
    return BLOCK.sub("", text)


def pages() -> list[Path]:
    """Return the pages that may have such tables."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("studies/*/*.md"))]


if __name__ == "__main__":
    for page in pages():
        before = page.read_text(encoding="utf-8")
        if (after := written(before)) != before:
            page.write_text(after, encoding="utf-8")
            print(f"wrote {page.relative_to(ROOT)}")
