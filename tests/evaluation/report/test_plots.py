"""Figures for papers: every one has its data, fits its page, and does without colours."""

import re
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import matplotlib.font_manager
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from lcca.evaluation.report.figures.saving import save_as
from lcca.evaluation.report.figures.style import (
    DASHES,
    HUES,
    MARKERS,
    VERDICT_HUES,
    VERDICT_MARKERS,
    Page,
    drawing,
    drawn_for,
    mark_of,
    new_figure,
)
from lcca.evaluation.report.plots import FIGURES
from lcca.evaluation.report.sections.section import data_table
from lcca.evaluation.report.sections.trainings import draw_learning
from lcca.evaluation.trials.tables import RunTables

COLUMN = Page(3.33, 7)

# Of linear sRGB: Machado, Oliveira & Fernandes, "A Physiologically-based Model for Simulation of Color Vision
# Deficiency", 2009, severity 1.
VISIONS = {
    "full": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
# Oklab (Ottosson 2020): distances are equally visible everywhere; 2 hundredths are just noticed.
TO_LMS = [[0.412221, 0.536333, 0.051446], [0.211903, 0.680700, 0.107397], [0.088302, 0.281719, 0.629979]]
TO_LAB = [[0.210454, 0.793618, -0.004072], [1.977998, -2.428592, 0.450594], [0.025904, 0.782772, -0.808676]]


def seen(hue: str, vision: str) -> Any:
    """Return how a colour looks to somebody, in hundredths of Oklab."""
    light = np.array([int(hue[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4)
    return 100 * np.array(TO_LAB) @ np.cbrt(np.array(TO_LMS) @ np.clip(np.array(VISIONS[vision]) @ linear, 0, 1))


def apart(hues: Any, vision: str) -> float:
    return min(float(np.linalg.norm(seen(a, vision) - seen(b, vision))) for a, b in combinations(hues, 2))


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_stay_apart_where_somebody_sees_fewer(vision: str) -> None:
    assert apart(HUES, vision) >= 8
    assert apart(["#7b8794", "#c25fa3"], "deuteranopia") < 2  # what once were the baseline's and the fifth


def test_the_simulation_is_that_of_the_papers_example() -> None:
    """Grey stays grey; red and green of equal lightness come together without red or green, not without blue."""
    for vision in VISIONS:
        assert np.linalg.norm(seen("#808080", vision) - seen("#808080", "full")) < 0.1
    red_green = ["#c05050", "#4f8a3c"]
    assert apart(red_green, "deuteranopia") < apart(red_green, "full") / 2 < apart(red_green, "tritanopia")


def test_what_differs_by_colour_differs_by_marker_and_dashes() -> None:
    assert len(set(MARKERS)) == len(MARKERS) == len(set(map(str, DASHES))) == len(HUES)
    assert len(set(VERDICT_MARKERS.values())) == len(VERDICT_HUES)


@pytest.fixture(scope="module")
def drawn(build_run: Any, add_per_network: Any) -> dict[str, tuple[Figure, pd.DataFrame]]:
    """Return the figures of a run, drawn for a column of a paper, with their data."""
    folder: Path = build_run(seeds=2, count=80)
    add_per_network(folder)
    with drawn_for(COLUMN):
        made = {name: make(RunTables.load(folder)) for name, (_, make) in FIGURES.items()}
    return {name: (found.figure, found.data) for name, found in made.items() if found and found.figure}  # type: ignore[misc]


@pytest.mark.slow
def test_every_figure_has_its_data(drawn: dict[str, tuple[Figure, pd.DataFrame]]) -> None:
    assert {"forest", "scores", "tradeoff", "learning", "per-network"} < set(drawn)
    for name, (_, data) in drawn.items():
        assert data is not None and len(data), name
        assert not any(isinstance(value, list | dict | tuple | np.ndarray) for value in data.iloc[0]), name
    assert len(drawn["per-network"][1]) == 3 * 3


def _inside(box: Any, low: float, high: float, axis: str) -> bool:
    return low - 1 <= (getattr(box, f"{axis}0") + getattr(box, f"{axis}1")) / 2 <= high + 1


def texts(figure: Figure) -> Iterator[Any]:
    for ax in figure.axes:
        yield from (ax.xaxis.label, ax.yaxis.label, *ax.texts)
        ends = ax.get_window_extent()  # ticks beyond the axis are not drawn
        yield from (each for each in ax.get_xticklabels() if _inside(each.get_window_extent(), ends.x0, ends.x1, "x"))
        yield from (each for each in ax.get_yticklabels() if _inside(each.get_window_extent(), ends.y0, ends.y1, "y"))
        yield from (each for each in (ax.title, ax._left_title) if each.get_text())  # type: ignore[attr-defined]
    yield from (text for legend in figure.legends for text in legend.get_texts())


@pytest.mark.slow
def test_nothing_leaves_a_column(drawn: dict[str, tuple[Figure, pd.DataFrame]]) -> None:
    for name, (figure, _) in drawn.items():
        assert figure.get_figwidth() == pytest.approx(3.33), name
        figure.draw_without_rendering()
        page = figure.bbox
        for text in texts(figure):
            box = text.get_window_extent()
            if text.get_text() and text.get_visible() and box.width:
                assert box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1, (name, text.get_text())


@pytest.mark.parametrize("width", [2.6, 3.8, 6.6])
def test_numbers_below_a_panel_do_not_touch(width: float) -> None:
    @drawing
    def draw() -> Figure:
        figure = new_figure(2.0)
        figure.subplots().set_xlim(-0.0925, 0.0925)
        return figure

    with drawn_for(Page(width)):
        figure = draw()
    figure.draw_without_rendering()
    boxes = [each.get_window_extent() for each in figure.axes[0].get_xticklabels() if each.get_text()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert sum(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes) > 1


def test_lines_that_a_legend_names_have_marks_of_their_own() -> None:
    of = {"utility": "u", "training_seed": 1, "packets": np.arange(3.0), "score": np.arange(3.0)}
    curves = [pd.DataFrame(of | {"group": name}) for name in ("a", "b", "c")]
    lines = draw_learning(curves, ["a", "b", "c"]).axes[0].get_lines()
    assert [line.get_marker() for line in lines] == list(MARKERS[:3])
    assert len({str(line._dash_pattern) for line in lines}) == 3  # type: ignore[attr-defined]
    assert mark_of("unknown", ["a"]) == mark_of("a", ["a"])


@pytest.mark.parametrize("form", ["pdf", "svg", "png"])
def test_files_are_the_same_each_time_and_have_their_letters(
    drawn: dict[str, tuple[Figure, pd.DataFrame]], tmp_path: Path, form: str
) -> None:
    for name in ("one", "two"):
        save_as(drawn["scores"][0], tmp_path / f"{name}.{form}")
    data = (tmp_path / f"one.{form}").read_bytes()
    assert data == (tmp_path / f"two.{form}").read_bytes()
    if form == "pdf":
        assert b"/FontFile2" in data and b"/Type3" not in data  # TrueType, embedded
        box = re.search(rb"/MediaBox \[ *0 0 ([\d.]+)", data)
        assert box and float(box[1]) / 72 == pytest.approx(3.33, abs=0.01)
    if form == "svg":
        assert b"<text" not in data and b"font-family" not in data  # outlines


def test_the_letters_are_there() -> None:
    assert "DejaVu Sans" in matplotlib.font_manager.get_font_names()


def test_records_become_tables() -> None:
    table = data_table([{"a": {"low": 1}, "b": (1.0, 2.0), "c": 1}, {"a": {"low": 2}, "b": (3.0,), "c": 2}])
    assert list(table) == ["a_low", "b_1", "b_2", "c"] and table["c"].tolist() == [1, 2]
    assert data_table([]).empty
