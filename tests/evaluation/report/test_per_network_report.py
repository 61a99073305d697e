"""The report's sections on where and how: with and without repeated trials, and with several utilities."""

import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcca.evaluation.comparison.per_network import network_significances
from lcca.evaluation.report.figures.saving import inline_svg
from lcca.evaluation.report.figures.significance import draw_significance
from lcca.evaluation.report.report import render
from lcca.evaluation.report.sections.per_network import PER_NETWORK_SECTIONS
from lcca.evaluation.report.sections.section import REPEATED as ON_SEVERAL_SEEDS
from lcca.evaluation.report.sections.section import TRAININGS, Content
from lcca.evaluation.trials.layout import part_names
from lcca.evaluation.trials.store import TrialStore
from lcca.evaluation.trials.stored import read_json, write_json
from lcca.evaluation.trials.tables import RunTables

ALWAYS = ("correlations", "regions", "fairness")
REPEATED = ("significance", "significance-correlations", "outputs", "rivals")


def contents(folder: Path) -> dict[str, Content]:
    """Return the sections of a run by name, less those that it does not have."""
    tables = RunTables.load(folder)
    made = {name: make(tables) for name, _, make in PER_NETWORK_SECTIONS}
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
    made = contents(build_run(seeds=1, count=60))
    assert set(made) == set(ALWAYS)
    assert len(made["regions"].tables) == 1


def test_sections_answer_first_in_one_sentence(found: dict[str, Content]) -> None:
    assert set(found) == {*ALWAYS, *REPEATED}
    for content in found.values():
        assert content.answer[0].isupper() and content.answer.endswith(".") and ". " not in content.answer
        assert "networks" in content.caption and content.figure is not None
        assert content.population in (ON_SEVERAL_SEEDS, TRAININGS)
    assert re.search(r"link does better with more senders \(r = \+0\.\d\d\)", found["correlations"].answer)
    assert found["significance"].answer.startswith("The score is significantly better than e2e's: link on ")
    assert found["regions"].answer.startswith("Against e2e in 6 regions: link is ")
    assert found["fairness"].answer == "Against e2e: link, queue and link+queue are not settled."


def test_captions_name_the_error_and_what_it_means(found: dict[str, Content]) -> None:
    for name in REPEATED:
        caption = found[name].caption.replace("\u00a0", " ")
        assert "Error e: standard deviation over seeds" in caption and "effect-size rule" in caption
        assert "holds by chance on 2.4 %" in caption and "standard error 44 %" in caption
        assert "30 networks, 10 seeds each" in caption
    assert any("variance" in row for row in rows_of(found["significance"]))
    assert any(row.startswith("link against queue") for row in rows_of(found["rivals"]))
    assert any(row.startswith("all networks | link against e2e") for row in rows_of(found["regions"]))


def test_the_page_has_them_in_order(folder: Path) -> None:
    source = render(folder).read_text(encoding="utf-8")
    ids = re.findall(r'<section id="([\w-]+)"', source)
    wanted = [name for name, _, _ in PER_NETWORK_SECTIONS]
    assert [name for name in ids if name in wanted] == wanted
    for name in wanted:
        top = r"<h2>[^<]*</h2>\s*<p class=\"of\">(?:Selected policies|Mean over trainings): [^<]*</p>"
        match = re.search(rf'<section id="{name}"[^>]*>\s*{top}\s*<p class="plain">([^<]*)</p>\s*<figure>', source)
        assert match and unescape(match.group(1)).endswith(".")
        assert (folder / "figures" / f"{name}.svg").stat().st_size > 1000


def test_drawing_gives_the_same_bytes(folder: Path) -> None:
    tables = RunTables.load(folder)
    first, second = (
        inline_svg(draw_significance(network_significances(tables), tables.groups), "significance", "label")
        for _ in range(2)
    )
    assert first == second and "http" not in first


def test_several_utilities_are_told_apart(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("report.html", "figures"))
    _double(copy, "100d")
    made = contents(copy)
    assert made["outputs"].answer.startswith("The secondary metric is significantly better on more networks")
    rows = rows_of(made["outputs"])
    assert any("(100d) | delay (primary)" in row for row in rows) and any("throughput (secondary)" in r for r in rows)
    assert "verdicts by region" in made["regions"].answer and len(made["regions"].tables) == 3
    assert re.search(r"\d to \d+", made["significance"].answer)
    assert "(100d)" in made["correlations"].answer


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
