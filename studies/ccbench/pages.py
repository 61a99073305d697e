"""Fills the page on CC-Bench with tables of the rankings in `studies/ccbench/results`."""

import json
from pathlib import Path
from typing import Any

from markdown_tables import table

MARK = "<!-- cc-bench {} -->"
FOLDER = Path(__file__).parent / "results"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put a ranking where a page has its mark (MkDocs, for each page)."""
    for file in sorted(FOLDER.glob("*.json")):
        mark = MARK.format(file.stem)
        told = published if file.stem == "published" else ranking
        markdown = markdown.replace(mark, told(file)) if mark in markdown else markdown
    return markdown


def ranking(file: Path) -> str:
    """Return the table of a ranking, best first, with the published rates (per cent) of its benchmark."""
    found = json.loads(file.read_text())
    benchmark = found["benchmark"]
    published = json.loads((FOLDER / "published.json").read_text())["rates"].get(benchmark, {})
    what = f"{found['networks']} scenarios of each control, {found['simulator']}; winning rates in per cent"
    rows = [row(each, published.get(each["policy"])) for each in found["standings"]]
    heads = ("", "rank", "ours [95 %]", "ties", "published")
    return f"**{benchmark}**, {what}.\n\n{table(heads, rows)}\n\n{open_pairs(found)}"


def published(file: Path) -> str:
    """Return the published rates, a row per benchmark."""
    found = json.loads(file.read_text())
    names = list(next(iter(found["rates"].values())))
    rows = [(benchmark, *(f"{rates[name]:.1f}" for name in names)) for benchmark, rates in found["rates"].items()]
    return table((found["source"], *names), rows)


def row(standing: dict[str, Any], published: float | None) -> tuple[str, ...]:
    """Return the cells of a control."""
    best, worst = standing["best_rank"], standing["worst_rank"]
    rate, low, high = (f"{100 * standing[name]:.1f}" for name in ("score_bits", "low", "high"))
    told = "" if published is None else f"{published:.1f}"
    place = f"{best}" if best == worst else f"{best}–{worst}"
    return standing["policy"], place, f"{rate} [{low}, {high}]", standing["ties"], told


def open_pairs(found: dict[str, Any]) -> str:
    """Return which pairs are not settled."""
    pairs = [f"{pair['A']} and {pair['B']}" for pair in found["comparisons"] if not settled(pair)]
    return f"Not settled: {', '.join(pairs)}." if pairs else "All pairs are settled."


def settled(pair: dict[str, Any]) -> bool:
    """Tell whether a comparison of a ranking is settled at the level of all together."""
    return bool(pair["adjusted_verdict"] != "not settled")
