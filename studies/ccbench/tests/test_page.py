"""The page on CC-Bench has what the rankings have found."""

import json
from pathlib import Path

from tests.hooks import hook

STUDY = Path(__file__).resolve().parents[1]


def test_the_page_on_cc_bench_has_every_ranking() -> None:
    pages, page = hook(STUDY / "pages.py"), (STUDY / "results.md").read_text(encoding="utf-8")
    text = pages.on_page_markdown(page)
    assert "<!-- cc-bench" not in text
    for file in pages.FOLDER.glob("*.json"):
        found = json.loads(file.read_text())
        if file.stem == "published":
            assert all(f"| {rate:.1f} |" in text for rate in found["rates"]["cc-bench-1"].values())
            continue
        for each in found["standings"]:
            told = f"{100 * each['score_bits']:.1f} [{100 * each['low']:.1f}, {100 * each['high']:.1f}]"
            assert f"| {each['policy']} | " in text and told.replace("-", "−") in text
