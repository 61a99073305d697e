"""The report's sections on where and how: with and without repeated trials, and with several utilities."""

import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcca.evaluation.comparison.network_shares import shares_of_run
from lcca.evaluation.report.figures.saving import inline_svg
from lcca.evaluation.report.report import render
from lcca.evaluation.report.sections.groups import fairness
from lcca.evaluation.report.sections.network_shares import draw_shares, per_network
from lcca.evaluation.report.sections.section import REPEATED as ON_SEVERAL_SEEDS
from lcca.evaluation.report.sections.section import TRAININGS, Content
from lcca.evaluation.trials.layout import part_names
from lcca.evaluation.trials.store import TrialStore
from lcca.evaluation.trials.stored import read_json, write_json
from lcca.evaluation.trials.tables import RunTables

SECTIONS = {"per-network": per_network, "fairness": fairness}


def contents(folder: Path) -> dict[str, Content]:
    """Return the sections of a run by name, less those that it does not have."""
    tables = RunTables.load(folder)
    made = {name: make(tables) for name, make in SECTIONS.items()}
    return {name: content for name, content in made.items() if content}


def rows_of(content: Content) -> list[str]:
    """Return all rows of all tables as text."""
    return [" | ".join(row) for table in content.tables for row in table.rows]


@pytest.fixture(scope="module", autouse=True)
def without_layout() -> Iterator[None]:
    """Leave out what makes room for labels, which is half of the drawing: `test_plots.py` looks at that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lcca.evaluation.report.figures.style._lay_out", lambda figure: None)
        yield


@pytest.fixture(scope="module")
def folder(build_run: Any, add_per_network: Any) -> Path:
    path: Path = build_run(seeds=2, count=80)
    add_per_network(path)
    return path


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, Content]:
    return contents(folder)


def test_without_repeated_trials(build_run: Any) -> None:
    assert set(contents(build_run(seeds=1, count=60))) == {"fairness"}


def test_sections_answer_first_in_one_sentence(found: dict[str, Content]) -> None:
    assert list(found) == list(SECTIONS)
    for content in found.values():
        assert content.answer[0].isupper() and content.answer.endswith(".") and ". " not in content.answer
        assert "networks" in content.caption and content.figure is not None
        assert content.population in (ON_SEVERAL_SEEDS, TRAININGS)
    assert found["per-network"].answer.startswith("The score is significantly better than e2e's: link on ")
    assert found["fairness"].answer == "Against e2e: link, queue and link+queue are not settled."


def test_the_caption_says_what_significant_means(found: dict[str, Content]) -> None:
    caption = found["per-network"].caption
    assert "an effect size and not a test" in caption and "30 networks with 10 seeds each" in caption
    assert any(row.startswith("link against queue") for row in rows_of(found["per-network"]))


@pytest.mark.slow
def test_the_page_has_them_in_order(folder: Path) -> None:
    source = render(folder).read_text(encoding="utf-8")
    ids = re.findall(r'<section id="([\w-]+)"', source)
    wanted = list(SECTIONS)
    assert [name for name in ids if name in wanted] == wanted
    for name in wanted:
        whose = "This section is about selected policies|Values are means over all trainings"
        top = rf'<h2>[^<]*</h2>\s*<p class="of">(?:{whose})[^<]*</p>'
        match = re.search(rf'<section id="{name}"[^>]*>\s*{top}\s*<p class="plain">([^<]*)</p>\s*<figure>', source)
        assert match and unescape(match.group(1)).endswith(".")
        assert (folder / "figures" / f"{name}.svg").stat().st_size > 1000


def test_drawing_gives_the_same_bytes(folder: Path) -> None:
    tables = RunTables.load(folder)
    first, second = (inline_svg(draw_shares(shares_of_run(tables), tables.groups), "shares", "x") for _ in range(2))
    assert first == second and "http" not in first


def test_several_utilities_are_told_apart(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("report.html", "figures"))
    _double(copy, "100d")
    made = contents(copy)
    assert any("(100d) | mean delay" in row for row in rows_of(made["per-network"]))
    assert re.search(r"\d to \d+", made["per-network"].answer)
    assert "(100d)" in made["fairness"].answer


def _double(folder: Path, utility: str) -> None:
    """Repeat everything in a run under another utility."""
    for name in ("summary.json", "verdicts.json"):
        content = read_json(folder / name, "")
        for policy in content.get("policies", [])[:]:
            content["policies"].append(policy | {"id": f"{policy['id']}.{utility}", "utility": utility})
        for each in content["comparisons"][:]:
            sides = {side: each[side] + (f".{utility}" if each["level"] == "policy" else "") for side in "AB"}
            content["comparisons"].append(each | sides | {"utility": utility})
        write_json(folder / name, content)
    store = TrialStore(folder / "trials")
    for part in part_names(store.folder):
        trials = store.read(part)
        again = trials.assign(policy=trials["policy"] + f".{utility}", utility=utility)
        store.add(part, pd.concat([trials, again]))
