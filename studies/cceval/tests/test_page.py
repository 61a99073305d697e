"""The page on CCEval has what the runs have found."""

from pathlib import Path

from lcca.inputs.studies import moved
from tests.hooks import hook

STUDY = Path(__file__).resolve().parents[1]


def test_the_page_on_cceval_has_every_summary() -> None:
    pages, page = hook(STUDY / "pages.py"), (STUDY / "results.md").read_text(encoding="utf-8")
    text = pages.on_page_markdown(page)
    assert "<!--" not in text
    for run in pages.summaries("estimate"):
        assert f"{run['policy']}, {run['trials']:,} trials" in text
        assert all(pages.interval(metric) in text for metric in run["metrics"])
    for found in pages.summaries("pairs"):
        assert all(f"| {row['metric']} |" in text for row in found["metrics"])


def test_files_are_found_where_they_were_before() -> None:
    configs = STUDY.parents[1] / "configs"
    assert all(moved(str(configs / name)) for name in ("cceval/websearch-p99.yaml", "fabric/rare-queue.yaml"))
